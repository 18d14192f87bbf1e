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
	i := strings.IndexAny(text, "\r\n")
	if i < 0 {
		return text, ""
	}
	if strings.HasPrefix(text[i:], "\r\n") {
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}

const byteOrderMark = "\ufeff"

// byteOffset is the offset of a place that a parser counts in bytes, its lines ended by line feeds.
func byteOffset(text string, line, col int) int {
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

// clip quotes foreign text for a message, shortened to what fits on a line.
func clip(text string) string {
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

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
