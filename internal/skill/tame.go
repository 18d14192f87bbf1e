package skill

import (
	"bytes"

	"github.com/mettle-eval/mettle/internal/code"
)

// Bounds under which the Markdown parser takes time in proportion to its input. No real document comes near them.
const (
	maxContainers = 24  // nested quotes and lists on one line
	maxIndent     = 96  // columns in front of a line
	maxStray      = 64  // brackets in one paragraph that nothing closes
	maxReferences = 400 // link definitions in one paragraph
	closeWithin   = 1000
)

// tame returns the body in a form the Markdown parser can take, byte for byte at the same places: code blocks and comments
// become blanks, line ends become "\n", and whatever would make the parser slow loses the characters that do.
//
// Code blocks are taken out because [code.Blocks] has already found them by rules of its own; the two must not disagree
// about where the code is.
func (d *Document) tame(blocks []code.Block) []byte {
	source := []byte(d.Body())
	for _, b := range blocks {
		blank(source[b.Start:b.End])
	}
	if d.Facts.CRLF+d.Facts.CR > 0 || len(d.Facts.Controls) > 0 {
		plainEnds(source)
	}
	blankComments(source)
	for start := 0; start < len(source); {
		end := paragraphEnd(source, start)
		if d.tameParagraph(source[start:end]) && len(d.Facts.Irregular) < mostFacts {
			d.Facts.Irregular = append(d.Facts.Irregular, d.LineAt(d.BodyStart+start))
		}
		start = end
	}
	return source
}

// plainEnds ends all lines with "\n" and takes out the zeros that the parser would replace.
func plainEnds(source []byte) {
	for i, c := range source {
		switch {
		case c == '\r' && i+1 < len(source) && source[i+1] == '\n':
			source[i] = ' '
		case c == '\r':
			source[i] = '\n'
		case c == 0:
			source[i] = ' '
		}
	}
}

// blank overwrites everything but line ends.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
}

// blankComments takes out the comments that begin a line and are closed.
func blankComments(source []byte) {
	for from := 0; ; {
		i := bytes.Index(source[from:], []byte("<!--"))
		if i < 0 {
			return
		}
		i += from
		end := bytes.Index(source[i+4:], []byte("-->"))
		if end < 0 {
			return
		}
		from = i + 4 + end + 3
		line := bytes.LastIndexByte(source[:i], '\n') + 1
		if len(bytes.TrimSpace(source[line:i])) == 0 {
			blank(source[i:from])
		}
	}
}

// paragraphEnd is the end of the run of lines that are blank, or of those that are not, that begins at start.
func paragraphEnd(source []byte, start int) int {
	wantBlank, first := false, true
	for pos := start; pos < len(source); {
		next := len(source)
		if i := bytes.IndexByte(source[pos:], '\n'); i >= 0 {
			next = pos + i + 1
		}
		isBlank := isBlankLine(source[pos:next])
		if first {
			wantBlank, first = isBlank, false
		} else if isBlank != wantBlank {
			return pos
		}
		pos = next
	}
	return len(source)
}

func isBlankLine(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\n' {
			return false
		}
	}
	return true
}

// tameParagraph changes a run of lines that the parser would take long for and reports whether links may be lost by it.
func (d *Document) tameParagraph(p []byte) (irregular bool) {
	references := 0
	for rest := p; len(rest) > 0; {
		l := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			l = rest[:i+1]
		}
		rest = rest[len(l):]
		if isLetterASCII(l[0]) {
			continue // neither nested nor a definition
		}
		if tooDeep(l) {
			blank(l)
			irregular = true
		}
		if trimmed := bytes.TrimLeft(l, " "); len(trimmed) > 0 && trimmed[0] == '[' {
			references++
		}
	}
	if references > maxReferences || strays(p) > maxStray {
		for i, c := range p {
			if c == '[' || c == ']' || c == '<' {
				p[i] = ' '
			}
		}
		irregular = true
	}
	return irregular
}

// tooDeep reports whether a line opens more containers or is indented further than people write.
func tooDeep(line []byte) bool {
	containers, columns := 0, 0
	for i := 0; i < len(line) && containers <= maxContainers && columns <= maxIndent; i++ {
		switch c := line[i]; {
		case c == ' ':
			columns++
		case c == '\t':
			columns += 4
		case c == '>':
			containers++
		case c == '-', c == '+', c == '*', c == '.', c == ')':
			if i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t' || line[i+1] == '\n' {
				containers++ // a mark of a list; the dashes of a rule or a table are none
			}
		case c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return containers > maxContainers || columns > maxIndent && !isBlankLine(line)
}

// strays counts the brackets that are not closed soon after, up to just above the bound.
func strays(p []byte) int {
	n := 0
	if bytes.IndexByte(p, '[') < 0 && bytes.IndexByte(p, '<') < 0 {
		return 0
	}
	for i := 0; i < len(p) && n <= maxStray; i++ {
		switch p[i] {
		case '[':
			n += strayLink(p, i)
		case '<':
			if !closes(p[i+1:], '>', '<') {
				n++
			}
		}
	}
	return n
}

// strayLink is 1 when the bracket at i is not the beginning of a simple label, or of a link without its end.
func strayLink(p []byte, i int) int {
	if !closes(p[i+1:], ']', '[') {
		return 1
	}
	end := i + 1 + bytes.IndexByte(p[i+1:], ']') + 1
	if end < len(p) && p[end] == '(' && !closes(p[end+1:], ')', '[') {
		return 1
	}
	return 0
}

// closes reports whether the end character comes soon, and before another beginning.
func closes(p []byte, end, begin byte) bool {
	for i := 0; i < min(len(p), closeWithin); i++ {
		switch p[i] {
		case end:
			return true
		case begin:
			return false
		}
	}
	return false
}
