package code

import (
	"fmt"
	"strings"
)

// descent is the common part of the parsers by recursive descent for languages of the C family: tokens with their
// brackets paired, one position, and the first problem. After a problem every look ahead sees the end of the source, so
// all loops end.
type descent struct {
	src     string
	tokens  []lexeme
	pos     int
	depth   int
	deep    bool // nesting went beyond the bound: no verdict
	problem *sourceProblem
}

// sourceProblem is the first thing that is wrong with a source.
type sourceProblem struct {
	offset  int
	message string
}

type lexemeKind uint8

const (
	lexEOF lexemeKind = iota
	lexName
	lexLifetime
	lexNumber
	lexString // any quoted literal
	lexPunct  // one character
)

// lexeme is a token of such a language.
type lexeme struct {
	kind       lexemeKind
	glued      bool // the next token follows without space
	documented bool // a documentation comment stands before it
	start, end int
	mate       int // for a bracket, the index of its partner
}

// maxDescent bounds the nesting of what these parsers read.
const maxDescent = 250

// verdict is the outcome in the form [Syntax] gives it.
func (d *descent) verdict() ([]Problem, bool) {
	switch {
	case d.deep:
		return nil, false
	case d.problem != nil:
		return []Problem{problemAt(d.src, d.problem.offset, d.problem.message, ownChecker)}, true
	}
	return nil, true
}

// fail records the first problem and moves to the end.
func (d *descent) fail(offset int, format string, args ...any) {
	if d.problem == nil && !d.deep {
		d.problem = &sourceProblem{offset, fmt.Sprintf(format, args...)}
	}
	d.pos = len(d.tokens) - 1
}

func (d *descent) enter() {
	if d.depth++; d.depth > maxDescent && d.problem == nil {
		d.deep = true
		d.pos = len(d.tokens) - 1
	}
}

func (d *descent) leave() { d.depth-- }

// at is the token n ahead.
func (d *descent) at(n int) lexeme { return d.tokens[min(d.pos+n, len(d.tokens)-1)] }

func (d *descent) textAt(n int) string {
	t := d.at(n)
	return d.src[t.start:t.end]
}

func (d *descent) text() string { return d.textAt(0) }

func (d *descent) kind() lexemeKind { return d.tokens[d.pos].kind }

func (d *descent) end() bool { return d.kind() == lexEOF }

func (d *descent) next() {
	if d.pos < len(d.tokens)-1 {
		d.pos++
	}
}

// is reports whether the tokens from n on are this punctuation, its characters side by side.
func (d *descent) isAt(n int, punct string) bool {
	for i := range len(punct) {
		t := d.at(n + i)
		if t.kind != lexPunct || d.src[t.start] != punct[i] || i < len(punct)-1 && !t.glued {
			return false
		}
	}
	return true
}

func (d *descent) is(punct string) bool { return d.isAt(0, punct) }

func (d *descent) take(punct string) bool {
	if !d.is(punct) {
		return false
	}
	for range len(punct) {
		d.next()
	}
	return true
}

// word reports whether the current token is this name.
func (d *descent) word(name string) bool { return d.kind() == lexName && d.text() == name }

// oneOf reports whether the current token is one of these names.
func (d *descent) oneOf(list string) bool { return d.kind() == lexName && hasWord(list, d.text()) }

func (d *descent) wordAt(n int, name string) bool {
	return d.at(n).kind == lexName && d.textAt(n) == name
}

func (d *descent) takeWord(name string) bool {
	if !d.word(name) {
		return false
	}
	d.next()
	return true
}

func (d *descent) want(punct string) {
	if !d.take(punct) {
		d.unexpected("'" + punct + "'")
	}
}

func (d *descent) wantWord(name string) {
	if !d.takeWord(name) {
		d.unexpected("'" + name + "'")
	}
}

// unexpected says that the current token is not what can stand here.
func (d *descent) unexpected(want string) {
	t := d.tokens[d.pos]
	if t.kind == lexEOF {
		d.fail(t.start, "want %s, found the end", want)
		return
	}
	found := d.text()
	if d.is("...") {
		found = "..."
	}
	d.fail(t.start, "want %s, found %s", want, clip(found))
}

// skipGroup moves behind the bracket that closes the current one.
func (d *descent) skipGroup() {
	if mate := d.at(0).mate; mate > d.pos {
		d.pos = mate
	}
	d.next()
}

// list reads elements separated by commas, the last one optional, up to the closing bracket and over it.
func (d *descent) list(closing string, element func()) {
	for !d.is(closing) && !d.end() {
		element()
		if !d.take(",") {
			break
		}
	}
	d.want(closing)
}

// lexemes is a lexer for these languages. What differs between them is how names and literals begin.
type lexemes struct {
	descent
	off      int
	brackets []int
	literal  func(*lexemes, string) (lexemeKind, int) // kind and length of a literal or name that the rest begins with
	puncts   string                                   // characters that are tokens
	nested   bool                                     // comments nest
}

// add appends a token of a length and moves behind it.
func (l *lexemes) add(kind lexemeKind, length int) {
	l.tokens = append(l.tokens, lexeme{kind: kind, start: l.off, end: l.off + length, mate: -1})
	l.off += length
}

// lexAll cuts the whole source, pairs brackets, and records the first thing that is no token.
func (l *lexemes) lexAll() {
	documented := false
	for l.problem == nil && l.off < len(l.src) {
		rest := l.src[l.off:]
		switch c := rest[0]; {
		case isSpace(c):
			l.off++
			continue
		case strings.HasPrefix(rest, "\u00a0"):
			l.off += len("\u00a0")
			continue
		case strings.HasPrefix(rest, "//"):
			text, _ := cutLine(rest)
			l.off += len(text)
			documented = documented || strings.HasPrefix(text, "///") && !strings.HasPrefix(text, "////")
			continue
		case strings.HasPrefix(rest, "/*"):
			l.blockComment()
			continue
		}
		if n := len(l.tokens); n > 0 {
			l.tokens[n-1].glued = l.tokens[n-1].end == l.off
		}
		first := len(l.tokens)
		if kind, n := l.literal(l, rest); n > 0 {
			l.add(kind, n)
		} else if l.problem == nil {
			l.punct(rest)
		}
		if len(l.tokens) > first {
			l.tokens[first].documented, documented = documented, false
		}
	}
	if n := len(l.brackets); n > 0 && l.problem == nil {
		open := l.tokens[l.brackets[n-1]]
		l.problem = &sourceProblem{open.start, fmt.Sprintf("'%s' is never closed", l.src[open.start:open.end])}
	}
	l.tokens = append(l.tokens, lexeme{kind: lexEOF, start: len(l.src), end: len(l.src), mate: -1, documented: documented})
}

func (l *lexemes) stop(offset int, format string, args ...any) {
	if l.problem == nil {
		l.problem = &sourceProblem{offset, fmt.Sprintf(format, args...)}
	}
}

func (l *lexemes) blockComment() {
	start, depth := l.off, 0
	for l.off < len(l.src) {
		rest := l.src[l.off:]
		switch {
		case strings.HasPrefix(rest, "/*") && (l.nested || depth == 0):
			depth++
			l.off += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.off += 2
			if depth == 0 {
				return
			}
		default:
			l.off++
		}
	}
	l.stop(start, "comment is not closed")
}

func (l *lexemes) punct(rest string) {
	c := rest[0]
	if strings.IndexByte(l.puncts, c) < 0 {
		l.stop(l.off, "unexpected character %s", clip(firstRune(rest)))
		return
	}
	l.add(lexPunct, 1)
	index := len(l.tokens) - 1
	if strings.IndexByte("([{", c) >= 0 {
		l.brackets = append(l.brackets, index)
		return
	}
	at := strings.IndexByte(")]}", c)
	if at < 0 {
		return
	}
	n := len(l.brackets)
	if n == 0 {
		l.stop(l.off-1, "'%c' closes nothing", c)
		return
	}
	open := l.brackets[n-1]
	if l.src[l.tokens[open].start] != "([{"[at] {
		l.stop(l.off-1, "'%c' does not close '%c'", c, l.src[l.tokens[open].start])
		return
	}
	l.tokens[open].mate, l.tokens[index].mate = index, open
	l.brackets = l.brackets[:n-1]
}

// quotedLength is the length of a quoted literal with escapes; 0, and a problem, when it is not closed.
func (l *lexemes) quotedLength(rest string, from int, lines bool) int {
	quote := rest[from]
	for n := from + 1; n < len(rest); n++ {
		switch c := rest[n]; {
		case c == quote:
			return n + 1
		case c == '\\':
			n++
		case (c == '\n' || c == '\r') && !lines:
			l.stop(l.off, "string is not closed on its line")
			return 0
		}
	}
	l.stop(l.off, "string is not closed")
	return 0
}
