// Package term is text for terminals: foreign text made safe to show, widths in
// columns, wrapping, and colours. Nothing in it depends on the machine: neither
// its locale nor its terminal is asked.
package term

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Sanitize makes foreign text safe to show on one line. Control characters,
// those that reorder text and those that hide in it become visible marks;
// line breaks and tabs become spaces; bytes that are not UTF-8 become U+FFFD.
// Joiners stay where writing needs them: inside emoji and joining scripts.
//
// Marks rather than nothing: a word that a check did not find because of a
// zero-width space in it should not look as if it were there.
func Sanitize(s string) string { return sanitize(s, false) }

// SanitizeBlock is [Sanitize] for text that keeps its lines and tabs.
func SanitizeBlock(s string) string { return sanitize(s, true) }

func sanitize(s string, lines bool) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var last rune // as written
	put := func(r rune) { b.WriteRune(r); last = r }
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case isBreak(r):
			if r == '\r' && strings.HasPrefix(s[i:], "\n") {
				i++
			}
			put(breakRune(lines))
		case r == '\t' && lines:
			put('\t')
		case r == '\t':
			put(' ')
		case r < ' ':
			put('␀' + r) // the control pictures stand in the order of the controls
		case r == 0x7f:
			put('␡')
		case isJoiner(r) && joins(last) && joins(firstRune(s[i:])):
			put(r)
		case isVariation(r) && !isVariation(last) && last >= ' ':
			put(r)
		case isHidden(r) || isJoiner(r) || isVariation(r):
			writeEscaped(&b, r)
			last = '0' // an escape ends in a digit
		default:
			put(r)
		}
	}
	return b.String()
}

func breakRune(lines bool) rune {
	if lines {
		return '\n'
	}
	return ' '
}

func writeEscaped(b *strings.Builder, r rune) {
	if r > 0xffff {
		fmt.Fprintf(b, `\U%08x`, r)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// isPlain tells text that is printable ASCII throughout, as most is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isBreak tells what any reader of text may take for the end of a line.
func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

func isJoiner(r rune) bool    { return r == 0x200c || r == 0x200d }
func isVariation(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f }

// joins tells runes that a joiner may stand beside: those past the scripts
// whose letters never join, so that no Latin, Greek or Cyrillic word can be
// split by one unseen.
func joins(r rune) bool {
	return r >= 0x600 && r != utf8.RuneError && !isJoiner(r) && !isHidden(r) && !isBreak(r)
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// isHidden tells runes that are not seen themselves: the C1 controls, the
// format characters (bidirectional overrides and isolates, zero-width spaces,
// tags), fillers and noncharacters.
func isHidden(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r < 0xa0, r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
		return true
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags and variation selectors, a way to smuggle text
		return true
	case isJoiner(r), isSeenFormat(r):
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

// isSeenFormat tells the format characters that have a glyph: number and verse
// signs that enclose what follows them.
func isSeenFormat(r rune) bool {
	return r >= 0x600 && r <= 0x605 || r == 0x6dd || r == 0x70f || r == 0x890 || r == 0x891 || r == 0x8e2 ||
		r == 0x110bd || r == 0x110cd
}

// Clip cuts s to about n bytes, never inside a character, and says so with an
// ellipsis. Foreign text is clipped before it is sanitized: an answer may have
// a megabyte of which a line is shown.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// OneLine is foreign text, clipped and sanitized, as part of a line.
func OneLine(s string, n int) string { return Sanitize(Clip(s, n)) }

// Excerpt is foreign text for the inside of a message, which [Sanitize] would
// make too long: control characters and terminal sequences go, runs of blanks
// become one, at most limit bytes stay.
func Excerpt(text string, limit int) string {
	var b strings.Builder
	blank := false
	for _, r := range stripEscapes(text) {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			blank = b.Len() > 0
			continue
		}
		if !unicode.IsPrint(r) {
			r = utf8.RuneError
		}
		size := utf8.RuneLen(r)
		if blank {
			size++
		}
		if b.Len()+size > limit {
			b.WriteString("…")
			break
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ExcerptLines is [Excerpt] for text of several lines, which stay apart.
func ExcerptLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, Excerpt(line, 1000))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// stripEscapes removes the terminal's CSI sequences (colours, cursor moves).
func stripEscapes(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return b.String()
		}
		text = after[end+1:]
	}
}

// EscapeJSON writes the characters in JSON that a terminal would obey or not
// show as escapes.
func EscapeJSON(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
