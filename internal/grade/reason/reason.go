// Package reason has the words that the reasons of scores are made of: foreign
// texts quoted on one line and cut, numbers, counts.
package reason

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Shown is the most characters of a value that a reason quotes.
const Shown = 80

// Cut shortens a text.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n, last := 0, 0
	for i := range s {
		if n++; n == most {
			last = i
		}
		if n > most {
			return strings.ToValidUTF8(s[:last], "\uFFFD") + "…"
		}
	}
	return s
}

// Quote shows a text on one line, cut.
func Quote(s string) string { return strconv.Quote(Cut(s, Shown)) }

// QuoteAll lists texts, as many as fit a line.
func QuoteAll(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		q := Quote(t)
		if i > 0 && b.Len()+len(q) > 2*Shown {
			return fmt.Sprintf("%s and %d more", b.String(), len(texts)-i)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(q)
	}
	return b.String()
}

// OneLine puts foreign words on one line, control characters taken out.
func OneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return Cut(strings.Join(strings.Fields(s), " "), most)
}

// Count says "1 word", "3 words".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Decimal writes a number without an exponent.
func Decimal[T int | float64](v T) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }

// Syntax is what a compiler of regular expressions says, without its preamble and the pattern.
func Syntax(err error) string {
	text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if i := strings.LastIndex(text, " in `"); i > 0 {
		text = text[:i]
	}
	return "not a regular expression: " + OneLine(text, 200)
}
