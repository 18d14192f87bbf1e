package report

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/term"
)

// noLink stands behind a character that would otherwise start a mention, a
// reference or a link. GitHub looks for those in the rendered text, where no
// backslash helps; a zero-width space does, and is written as an entity so
// that it can be seen in the source.
const noLink = "&#8203;"

// mdText is foreign text as running Markdown text or a table cell: it renders
// as it reads, and neither formats, nor links, nor calls anybody.
func mdText(s string) string {
	s = strings.TrimSpace(term.Sanitize(s)) // leading spaces would make a block of code
	var b strings.Builder
	for i, r := range s {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '@', '#':
			b.WriteRune(r)
			b.WriteString(noLink)
		case '\\', '`', '*', '_', '{', '}', '[', ']', '(', ')', '!', '|', '~', '$', '^':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '+', '-', '=', '.', ':':
			b.WriteString(mdMaybe(s, i, r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mdMaybe escapes signs that mean something only in some places: list bullets
// and rules at the start, the point of a numbered list, and addresses.
func mdMaybe(s string, i int, r rune) string {
	before := s[:i]
	switch {
	case r == ':' && strings.HasPrefix(s[i:], "://"), r == '.' && endsWithFold(before, "www"):
		return string(r) + noLink
	case r == '.' && before != "" && strings.Trim(before, "0123456789") == "",
		r != '.' && r != ':' && before == "":
		return `\` + string(r)
	}
	return string(r)
}

func endsWithFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// mdCode is foreign text as a code span, where nothing is read as Markdown. It
// is not for table cells, in which a bar ends even code.
func mdCode(s string) string {
	s = strings.TrimSpace(term.Sanitize(s))
	if s == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// mdFence is foreign text as a block of code, behind a fence longer than any
// inside.
func mdFence(s string) string {
	s = term.SanitizeBlock(s)
	fence := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return fence + "text\n" + strings.TrimRight(s, "\n") + "\n" + fence
}

func longestRun(s string, c byte) (longest int) {
	n := 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}
