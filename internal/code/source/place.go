// Package source holds what all readers of code share: places in a text, problems with it, and what the characters of
// names are. It imports nothing of ours, so that each language can have its own package.
package source

import (
	"strings"
	"unicode/utf8"
)

// Places turns byte offsets of a text into lines and columns. Offsets are asked for in rising order nearly always, so it
// walks on from the last answer: a text with many statements on one long line still costs one pass.
type Places struct {
	text      string
	offset    int // the place reached
	line, col int
}

// NewPlaces starts at the beginning of a text.
func NewPlaces(text string) *Places {
	return &Places{text: text, line: 1, col: 1}
}

// At gives the line and column of a byte offset. A line ends with LF, CRLF or a lone CR, as in CommonMark and JavaScript.
func (p *Places) At(offset int) (line, col int) {
	offset = min(max(offset, 0), len(p.text))
	if offset < p.offset {
		p.offset, p.line, p.col = 0, 1, 1
	}
	for p.offset < offset {
		c := p.text[p.offset]
		switch {
		case c == '\n', c == '\r' && !strings.HasPrefix(p.text[p.offset+1:], "\n"):
			p.line, p.col = p.line+1, 1
		case c < utf8.RuneSelf || utf8.RuneStart(c):
			p.col++
		}
		p.offset++
	}
	return p.line, p.col
}

// CutLine splits the first line, without its ending, from the rest of a text.
func CutLine(text string) (line, rest string) {
	for i := range len(text) {
		switch text[i] {
		case '\n':
			return text[:i], text[i+1:]
		case '\r':
			return text[:i], strings.TrimPrefix(text[i+1:], "\n")
		}
	}
	return text, ""
}

// ByteOrderMark is what some editors put in front of a text.
const ByteOrderMark = "\ufeff"

// ByteOffset is the offset of a place that a parser counts in bytes, its lines ended by line feeds.
func ByteOffset(text string, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return min(at+max(col, 1)-1, len(text))
}

// Clip quotes foreign text for a message, shortened to what fits on a line.
func Clip(text string) string {
	const most = 40
	if len(text) <= most {
		return `"` + text + `"`
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return `"` + text[:cut] + `…"`
}

// FirstRune is the first character of a text.
func FirstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
