package kind

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one thing wrong with a file a person wrote.
type Problem struct {
	File      string
	Line, Col int // from 1; Col counts characters
	Message   string
	Near      string // what was probably meant
	Source    string // the line
}

// String is the problem on one line, without the excerpt.
func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s += fmt.Sprintf(":%d:%d", p.Line, max(1, p.Col))
	}
	s += ": " + p.Message
	if p.Near != "" {
		s += fmt.Sprintf(" (did you mean %q?)", p.Near)
	}
	return s
}

// excerptWidth is the most characters of a source line that are shown.
const excerptWidth = 120

// Excerpt is the source line and a caret under the place, or "" when the line
// is not known. Control characters in it are made visible.
func (p Problem) Excerpt() string {
	if p.Source == "" || p.Line == 0 {
		return ""
	}
	runes := []rune(strings.TrimRight(p.Source, "\r\n"))
	at := min(max(0, p.Col-1), len(runes))
	from := 0
	if at > excerptWidth-20 {
		from = at - excerptWidth/2
	}
	shown := runes[from:min(len(runes), from+excerptWidth)]
	var line, under strings.Builder
	for i, r := range shown {
		switch {
		case r == '\t':
			line.WriteRune('\t')
		case unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Cf, r):
			r = '\uFFFD'
			line.WriteRune(r)
		default:
			line.WriteRune(r)
		}
		if i < at-from {
			if r == '\t' {
				under.WriteRune('\t')
			} else {
				under.WriteRune(' ')
			}
		}
	}
	gutter := fmt.Sprintf("%5d | ", p.Line)
	return gutter + line.String() + "\n" + strings.Repeat(" ", len(gutter)-2) + "| " + under.String() + "^"
}

// Problems is everything wrong with the files of one load, as an error.
type Problems []Problem

// Error lists every problem with its place, excerpt and caret.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
		if e := p.Excerpt(); e != "" {
			b.WriteString("\n" + e)
		}
	}
	return b.String()
}

// Sort puts problems in file and line order and drops repeats.
func (ps Problems) Sort() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool { return a == b })
}
