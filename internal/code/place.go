package code

import (
	"strings"
	"unicode/utf8"
)

// places turns byte offsets of a text into lines and columns. Offsets are asked for in rising order nearly always, so it
// walks on from the last answer: a text with many statements on one long line still costs one pass.
type places struct {
	text      string
	offset    int // the place reached
	line, col int
}

func newPlaces(text string) *places {
	return &places{text: text, line: 1, col: 1}
}

// at gives the line and column of a byte offset. A line ends with LF, CRLF or a lone CR, as in CommonMark and JavaScript.
func (p *places) at(offset int) (line, col int) {
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

// cutLine splits the first line, without its ending, from the rest of a text.
func cutLine(text string) (line, rest string) {
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

const byteOrderMark = "\ufeff"
