package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maskText  = "[key]"
	fragment  = 8    // characters of a key in a row that are too many to show
	lineRunes = 300  // of a vendor's message
	lineBytes = 8192 // that are looked at
)

// Line makes one line of what a vendor says, short, printable, and without the
// key or a part of it: vendors echo keys, whole or shortened.
func Line(s, key string) string {
	if len(s) > lineBytes {
		s = s[:lineBytes]
	}
	s = mask(strings.ToValidUTF8(s, ""), key)
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	// What was dropped between two halves of a key may have made it whole.
	s = mask(s, key)
	if utf8.RuneCountInString(s) > lineRunes {
		s = string([]rune(s)[:lineRunes-1]) + "…"
	}
	return s
}

// mask replaces what is in the key. Short keys are placeholders such as
// "ollama" or "EMPTY" that local servers are given; only the whole word goes.
func mask(s, key string) string {
	if key == "" {
		return s
	}
	if len(key) < fragment {
		return maskWord(s, key)
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 0
		if i+fragment <= len(s) && strings.Contains(key, s[i:i+fragment]) {
			n = fragment
			for i+n < len(s) && strings.Contains(key, s[i:i+n+1]) {
				n++
			}
		}
		if n == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(maskText)
		i += n
	}
	return b.String()
}

func maskWord(s, word string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, word)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		before, after := s[:i], s[i+len(word):]
		b.WriteString(before)
		if endsInWord(before) || startsWithWord(after) {
			b.WriteString(word)
		} else {
			b.WriteString(maskText)
		}
		s = after
	}
}

func endsInWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func startsWithWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
