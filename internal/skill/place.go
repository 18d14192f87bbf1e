package skill

import (
	"sort"
	"strings"
)

// checkpoint is the distance between the places where characters are counted beforehand, so that asking for the columns
// of many findings on one endless line stays cheap.
const checkpoint = 4096

// lineIndex turns byte offsets into lines and columns.
type lineIndex struct {
	starts []int // offset of each line
	chars  []int // characters before each multiple of checkpoint; nil when no line is longer than that
	bom    int   // bytes of the byte order mark: editors do not count it
}

func indexLines(text string) lineIndex {
	x := lineIndex{starts: make([]int, 1, 1+strings.Count(text, "\n"))}
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
	if x.longest(len(text)) > checkpoint {
		x.indexChars(text)
	}
	return x
}

// longest is the length of the longest line.
func (x *lineIndex) longest(size int) int {
	most, end := 0, size
	for i := len(x.starts) - 1; i >= 0; i-- {
		most, end = max(most, end-x.starts[i]), x.starts[i]
	}
	return most
}

func (x *lineIndex) indexChars(text string) {
	x.chars = make([]int, 0, len(text)/checkpoint+1)
	chars := 0
	for from := 0; from < len(text); from += checkpoint {
		x.chars = append(x.chars, chars)
		chars += countChars(text[from:min(from+checkpoint, len(text))])
	}
}

func (x *lineIndex) count() int {
	return len(x.starts)
}

// line is the line of an offset.
func (x *lineIndex) line(offset int) int {
	return sort.SearchInts(x.starts, offset+1)
}

func (x *lineIndex) place(text string, offset int) (line, col int) {
	offset = min(max(offset, 0), len(text))
	line = max(x.line(offset), 1)
	start := x.starts[line-1]
	if line == 1 {
		start = min(x.bom, offset)
	}
	if offset-start <= checkpoint {
		return line, countChars(text[start:offset]) + 1
	}
	return line, x.before(text, offset) - x.before(text, start) + 1
}

// before counts the characters in front of an offset.
func (x *lineIndex) before(text string, offset int) int {
	n := min(offset/checkpoint, len(x.chars)-1)
	return x.chars[n] + countChars(text[min(n*checkpoint, offset):offset])
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

// bounds is the byte range of a line without its end.
func (x *lineIndex) bounds(text string, line int) (from, to int) {
	from, to = x.starts[line-1], len(text)
	if line < len(x.starts) {
		to = x.starts[line]
	}
	if to > from && text[to-1] == '\n' {
		to--
	}
	if to > from && text[to-1] == '\r' {
		to--
	}
	if line == 1 {
		from = min(x.bom, to)
	}
	return from, to
}

func (x *lineIndex) offset(text string, line, col int) int {
	if line < 1 {
		return 0
	}
	if line > len(x.starts) {
		return len(text)
	}
	from, to := x.bounds(text, line)
	for i := from; i < to; i++ {
		if text[i]&0xC0 == 0x80 {
			continue
		}
		if col--; col < 1 {
			return i
		}
	}
	return to
}
