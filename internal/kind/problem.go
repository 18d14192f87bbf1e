package kind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
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
	return strings.Map(visible, s)
}

// visible makes what could move a cursor or hide text visible: names in a
// message come from files.
func visible(r rune) rune {
	if r == '\n' {
		return ' '
	}
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
		return '\uFFFD'
	}
	return r
}

// An excerpt shows this much of a source line, and of a longer one as much
// before the place.
const (
	excerptWidth  = 120
	excerptBefore = 60
)

// Excerpt is the source line and a caret under the place, or "" when the line
// is not known. Control characters in it are made visible; a tab stays, under
// a tab, so that the caret is right whatever its width.
func (p Problem) Excerpt() string {
	if p.Source == "" || p.Line == 0 {
		return ""
	}
	before, after := cut(p.Source, max(0, p.Col-1))
	var line, under strings.Builder
	if n := len(before); n+len(after) > excerptWidth && n > excerptBefore {
		before = before[n-excerptBefore:]
		line.WriteRune('…')
		under.WriteByte(' ')
	}
	for _, r := range before {
		if r == '\t' {
			line.WriteByte('\t')
			under.WriteByte('\t')
			continue
		}
		r = visible(r)
		line.WriteRune(r)
		under.WriteString(strings.Repeat(" ", columns(r)))
	}
	for i, r := range after {
		if len(before)+i == excerptWidth {
			line.WriteRune('…')
			break
		}
		if r != '\t' {
			r = visible(r)
		}
		line.WriteRune(r)
	}
	gutter := fmt.Sprintf("%5d | ", p.Line)
	return gutter + line.String() + "\n" + strings.Repeat(" ", len(gutter)-2) + "| " + under.String() + "^"
}

// cut gives the characters of a line around a place, no more on either side
// than an excerpt could show: a line may be as long as a file.
func cut(line string, at int) (before, after []rune) {
	i := 0
	for _, r := range line {
		switch {
		case i < at:
			if before = append(before, r); len(before) > 4*excerptWidth {
				before = append(before[:0], before[3*excerptWidth:]...)
			}
		case len(after) <= excerptWidth:
			after = append(after, r)
		default:
			return before, after
		}
		i++
	}
	return before, after
}

// columns is how many cells of a terminal a character takes.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		r >= 0x2E80 && r <= 0x303E,
		r >= 0xFF01 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6,
		r >= 0x1F300 && r <= 0x1F64F, r >= 0x1F680 && r <= 0x1F6FF, r >= 0x1F900 && r <= 0x1FAFF:
		if r >= 0xFF61 && r <= 0xFFDC { // half-width forms of the same scripts
			return 1
		}
		return 2
	}
	return 1
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

// Sort puts problems in file and line order and drops repeats, which an
// anchor used twice makes.
func (ps Problems) Sort() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	seen := make(map[Problem]bool, len(ps))
	return slices.DeleteFunc(ps, func(p Problem) bool {
		repeat := seen[p]
		seen[p] = true
		return repeat
	})
}
