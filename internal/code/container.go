package code

import "strings"

// maxContainers bounds how deep quotes and list items are followed. Blank lines pass through every open list item, so
// without a bound a hostile text would cost its depth times its length; no reader can tell 64 levels apart anyway.
const maxContainers = 64

// container is an open block quote or list item.
type container struct {
	item   bool // list item; otherwise a block quote
	indent int  // columns a line must be indented by to belong to the item
	empty  bool // the item has no content yet; a blank line ends it
}

// line is one line of a document, read from the left. Tabs count as spaces up to the next multiple of four, and a tab
// may be used up in part.
type line struct {
	text string
	pos  int // next byte
	col  int // columns used so far

	looked        bool
	next, nextCol int // first byte from pos that is neither space nor tab, and its column

	breakFailed int // a thematic break was looked for and failed at this byte
}

// look finds the next character that is not white space. What it found stays true while only white space is consumed.
func (l *line) look() {
	if l.looked && l.next >= l.pos {
		return
	}
	l.next, l.nextCol, l.looked = l.pos, l.col, true
	for l.next < len(l.text) {
		switch l.text[l.next] {
		case ' ':
			l.nextCol++
		case '\t':
			l.nextCol += 4 - l.nextCol%4
		default:
			return
		}
		l.next++
	}
}

// indent is the width of the white space in front of the next character.
func (l *line) indent() int {
	l.look()
	return l.nextCol - l.col
}

func (l *line) blank() bool {
	l.look()
	return l.next == len(l.text)
}

// rest is the line from its next character that is not white space.
func (l *line) rest() string {
	l.look()
	return l.text[l.next:]
}

// skipIndent consumes the white space in front of the next character, then n bytes.
func (l *line) skipIndent(n int) {
	l.look()
	l.pos, l.col = l.next+n, l.nextCol+n
}

// skipColumns consumes white space, at most n columns of it.
func (l *line) skipColumns(n int) {
	for n > 0 && l.pos < len(l.text) {
		width := 1
		switch l.text[l.pos] {
		case ' ':
		case '\t':
			width = 4 - l.col%4
		default:
			return
		}
		if width > n {
			l.col += n // part of a tab; the byte stays
			return
		}
		l.pos, l.col, n = l.pos+1, l.col+width, n-width
	}
}

// padding is what is left, in columns, of a tab at pos that was consumed in part; 0 when none was.
func (l *line) padding() int {
	if l.pos >= len(l.text) || l.text[l.pos] != '\t' {
		return 0
	}
	start := 0
	for _, c := range []byte(l.text[:l.pos]) {
		if c == '\t' {
			start += 4 - start%4
		} else {
			start++
		}
	}
	if start == l.col {
		return 0
	}
	return 4 - l.col%4
}

// isBreak reports whether the line is a thematic break: three or more of one of * - _ and nothing else but spaces.
func (l *line) isBreak() bool {
	l.look()
	if l.next >= len(l.text) || l.next < l.breakFailed {
		return false
	}
	marker, count := l.text[l.next], 0
	if marker != '*' && marker != '-' && marker != '_' {
		return false
	}
	for i := l.next; i < len(l.text); i++ {
		switch l.text[i] {
		case marker:
			count++
		case ' ', '\t':
		default:
			l.breakFailed = i // "- - - - x": the nested items need not look again
			return false
		}
	}
	return count >= 3
}

// matchContainers consumes the prefixes of the open containers and says how many of them the line continues.
func (s *blockScanner) matchContainers(l *line) int {
	for i := range s.containers {
		c := &s.containers[i]
		switch {
		case c.item && l.blank() && !c.empty:
			l.skipIndent(0)
		case c.item && l.indent() >= c.indent && !l.blank():
			l.skipColumns(c.indent)
		case !c.item && l.indent() < 4 && strings.HasPrefix(l.rest(), ">"):
			l.skipIndent(1)
			l.skipColumns(1)
		default:
			return i
		}
	}
	return len(s.containers)
}

// openContainers starts the quotes and list items that begin on this line, inside the first matched of the open ones.
func (s *blockScanner) openContainers(l *line, matched int) (opened int) {
	for len(s.containers) < maxContainers || opened == 0 && matched < maxContainers {
		if l.indent() >= 4 || l.blank() {
			return opened
		}
		interrupts := s.paragraph && opened == 0 && matched == len(s.containers)
		var c container
		if l.text[l.next] == '>' {
			l.skipIndent(1)
			l.skipColumns(1)
		} else if item, ok := s.listItem(l, interrupts); ok {
			c = item
		} else {
			return opened
		}
		if opened == 0 {
			s.closeContainers(matched)
		}
		if n := len(s.containers); n > 0 {
			s.containers[n-1].empty = false
		}
		s.containers = append(s.containers, c)
		s.paragraph = false
		opened++
	}
	return opened
}

// closeContainers leaves only the first n containers open.
func (s *blockScanner) closeContainers(n int) {
	if n < len(s.containers) {
		s.containers = s.containers[:n]
		s.paragraph = false
	}
}

// listItem consumes a list marker and says what the item's lines must look like. An item that interrupts a paragraph
// must not be empty and must not start counting anywhere but at 1, or every line beginning with a year were a list.
func (s *blockScanner) listItem(l *line, interrupts bool) (container, bool) {
	rest := l.rest()
	width := markerWidth(rest, interrupts)
	if width == 0 || l.isBreak() {
		return container{}, false
	}
	after := line{text: l.text, pos: l.next + width, col: l.nextCol + width}
	if after.blank() {
		if interrupts {
			return container{}, false
		}
		c := container{item: true, indent: l.indent() + width + 1, empty: true}
		l.skipIndent(width)
		return c, true
	}
	spaces := after.indent()
	if spaces == 0 {
		return container{}, false
	}
	if spaces > 4 {
		spaces = 1 // the rest is indented code inside the item
	}
	c := container{item: true, indent: l.indent() + width + spaces}
	l.skipIndent(width)
	l.skipColumns(spaces)
	return c, true
}

// markerWidth is the length of the list marker a line starts with, 0 when there is none.
func markerWidth(rest string, interrupts bool) int {
	if rest == "" {
		return 0
	}
	if strings.IndexByte("-+*", rest[0]) >= 0 {
		return 1
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == 0 || n > 9 || n == len(rest) || rest[n] != '.' && rest[n] != ')' {
		return 0
	}
	if interrupts && strings.TrimLeft(rest[:n-1], "0") != "" || interrupts && rest[n-1] != '1' {
		return 0
	}
	return n + 1
}
