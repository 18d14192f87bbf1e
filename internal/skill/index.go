package skill

import (
	"sort"
	"strings"
)

// checkpoint is the distance between the places where characters are counted beforehand, so that asking for the columns
// of many findings on one endless line stays cheap.
const checkpoint = 4096

// Index turns byte offsets of a text into lines and columns, and back.
type Index struct {
	text   string
	starts []int // offset of each line
	chars  []int // characters before each multiple of checkpoint; nil when no line is longer than that
	bom    int   // bytes of the byte order mark: editors do not count it
}

// NewIndex reads the line ends of a text.
func NewIndex(text string) Index {
	x := Index{text: text, starts: make([]int, 1, 1+strings.Count(text, "\n"))}
	if strings.HasPrefix(text, byteOrderMark) {
		x.bom = len(byteOrderMark)
	}
	if strings.IndexByte(text, '\r') >= 0 {
		for i := range len(text) {
			if c := text[i]; c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
				x.starts = append(x.starts, i+1)
			}
		}
	} else {
		for from := 0; ; {
			i := strings.IndexByte(text[from:], '\n')
			if i < 0 {
				break
			}
			from += i + 1
			x.starts = append(x.starts, from)
		}
	}
	if x.longest() > checkpoint {
		x.countChars()
	}
	return x
}

// longest is the length of the longest line.
func (x *Index) longest() int {
	most, end := 0, len(x.text)
	for i := len(x.starts) - 1; i >= 0; i-- {
		most, end = max(most, end-x.starts[i]), x.starts[i]
	}
	return most
}

func (x *Index) countChars() {
	x.chars = make([]int, 0, len(x.text)/checkpoint+1)
	chars := 0
	for from := 0; from < len(x.text); from += checkpoint {
		x.chars = append(x.chars, chars)
		chars += countChars(x.text[from:min(from+checkpoint, len(x.text))])
	}
}

// Lines is the number of lines.
func (x *Index) Lines() int { return len(x.starts) }

// Line gives the text of a line without its end; empty when there is no such line.
func (x *Index) Line(line int) string {
	if line < 1 || line > x.Lines() {
		return ""
	}
	from, to := x.Bounds(line)
	return x.text[from:to]
}

// LineAt is the line of a byte offset.
func (x *Index) LineAt(offset int) int {
	return sort.SearchInts(x.starts, offset+1)
}

// Place gives line and column of a byte offset.
func (x *Index) Place(offset int) (line, col int) {
	offset = min(max(offset, 0), len(x.text))
	line = max(x.LineAt(offset), 1)
	start := x.starts[line-1]
	if line == 1 {
		start = min(x.bom, offset)
	}
	if offset-start <= checkpoint {
		return line, countChars(x.text[start:offset]) + 1
	}
	return line, x.before(offset) - x.before(start) + 1
}

// before counts the characters in front of an offset.
func (x *Index) before(offset int) int {
	n := min(offset/checkpoint, len(x.chars)-1)
	return x.chars[n] + countChars(x.text[min(n*checkpoint, offset):offset])
}

// countChars counts characters as places do: every byte that does not continue a character begins one.
func countChars(s string) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// Bounds is the byte range of a line without its end. The line must exist.
func (x *Index) Bounds(line int) (from, to int) {
	from, to = x.starts[line-1], len(x.text)
	if line < len(x.starts) {
		to = x.starts[line]
	}
	if to > from && x.text[to-1] == '\n' {
		to--
	}
	if to > from && x.text[to-1] == '\r' {
		to--
	}
	if line == 1 {
		from = min(x.bom, to)
	}
	return from, to
}

// Offset gives the byte offset of a place; a place outside of the text gives its nearest end.
func (x *Index) Offset(line, col int) int {
	if line < 1 {
		return 0
	}
	if line > len(x.starts) {
		return len(x.text)
	}
	from, to := x.Bounds(line)
	for i := from; i < to; i++ {
		if x.text[i]&0xC0 == 0x80 {
			continue
		}
		if col--; col < 1 {
			return i
		}
	}
	return to
}
