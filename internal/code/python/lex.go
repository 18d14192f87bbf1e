package python

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// tokenKind is what a token of Python is.
type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokName
	tokKeyword
	tokNumber
	tokString  // a whole literal with its prefix, formatted ones apart
	tokFStart  // prefix and opening quotes of a formatted string
	tokFMiddle // its text between fields
	tokFEnd    // its closing quotes
	tokOp
	tokNewline // the end of a statement
	tokIndent
	tokDedent
)

// token is a piece of a Python source.
type token struct {
	kind       tokenKind
	start, end int
	mate       int // for a bracket, the index of its partner
}

const keywords = "False None True and as assert async await break class continue def del elif else except finally for from " +
	"global if import in is lambda nonlocal not or pass raise return try while with yield"

// bracket is an open bracket.
type bracket struct {
	open  byte
	index int // of its token
}

// fString is a formatted string whose end has not been reached.
type fString struct {
	quote  string
	raw    bool
	start  int
	fields []field // open replacement fields, each in the format of the one before it
}

// field is an open {…} of a formatted string: an expression, then after a colon its format, which is text again.
type field struct {
	depth  int // brackets open when it began, its own counted
	format bool
}

// lexer cuts Python into tokens, those of indentation included. It stops at the first thing that is no Python: what
// follows would only be guessed at.
type lexer struct {
	src      string
	pos      int
	tokens   []token
	brackets []bracket
	indents  []indentation
	strings  []fString
	problem  *syntaxError
}

// indentation is the width of an indentation, with tabs up to multiples of eight and with tabs as one: only if both
// agree is it the same for every reader.
type indentation struct{ wide, narrow int }

// syntaxError is the first thing that is wrong.
type syntaxError struct {
	offset  int
	message string
}

// maxIndent is CPython's own bound.
const maxIndent = 100

func lex(src string) *lexer {
	l := &lexer{src: src, indents: []indentation{{}}, tokens: make([]token, 0, len(src)/4+8)}
	for l.problem == nil && l.pos < len(l.src) {
		if l.lineStarts() {
			l.indentation()
			continue
		}
		l.token()
	}
	l.finish()
	return l
}

// lineStarts reports whether the next token begins a statement's line.
func (l *lexer) lineStarts() bool {
	if len(l.brackets) > 0 || len(l.strings) > 0 {
		return false
	}
	if len(l.tokens) == 0 {
		return true
	}
	return l.tokens[len(l.tokens)-1].kind == tokNewline
}

func (l *lexer) fail(offset int, format string, args ...any) {
	if l.problem == nil {
		l.problem = &syntaxError{offset, fmt.Sprintf(format, args...)}
	}
	l.pos = len(l.src)
}

func (l *lexer) add(kind tokenKind, start int) {
	l.tokens = append(l.tokens, token{kind: kind, start: start, end: l.pos, mate: -1})
}

// finish closes what the end of the source closes, and reports what it may not close.
func (l *lexer) finish() {
	if l.problem == nil {
		if n := len(l.strings); n > 0 {
			l.fail(l.strings[n-1].start, "string is not closed")
		} else if n := len(l.brackets); n > 0 {
			b := l.brackets[n-1]
			l.fail(l.tokens[b.index].start, "'%c' is never closed", b.open)
		}
	}
	if n := len(l.tokens); n > 0 && l.tokens[n-1].kind != tokNewline {
		l.add(tokNewline, l.pos)
	}
	for range l.indents[1:] {
		l.add(tokDedent, l.pos)
	}
	l.add(tokEOF, l.pos)
}

// indentation reads the white space a line begins with. Lines with nothing but a comment have none that counts.
func (l *lexer) indentation() {
	var in indentation
	for ; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case ' ':
			in.wide, in.narrow = in.wide+1, in.narrow+1
			continue
		case '\t':
			in.wide, in.narrow = in.wide/8*8+8, in.narrow+1
			continue
		case '\f':
			in = indentation{}
			continue
		}
		break
	}
	rest := l.src[l.pos:]
	switch {
	case rest == "":
		return
	case rest[0] == '#':
		l.comment()
		l.pos += source.LineEnd(l.src[l.pos:])
	case source.LineEnd(rest) > 0:
		l.pos += source.LineEnd(rest)
	case rest[0] == '\\' && source.LineEnd(rest[1:]) > 0 && len(l.tokens) == 0:
		l.pos += 1 + source.LineEnd(rest[1:])
	default:
		l.indent(in)
		l.token()
	}
}

func (l *lexer) indent(in indentation) {
	last := l.indents[len(l.indents)-1]
	if in.wide == last.wide {
		if in.narrow != last.narrow {
			l.fail(l.pos, "tabs and spaces are mixed in the indentation")
		}
		return
	}
	if in.wide > last.wide {
		switch {
		case in.narrow <= last.narrow:
			l.fail(l.pos, "tabs and spaces are mixed in the indentation")
		case len(l.indents) == maxIndent:
			l.fail(l.pos, "too many levels of indentation")
		default:
			l.indents = append(l.indents, in)
			l.add(tokIndent, l.pos)
		}
		return
	}
	for in.wide < l.indents[len(l.indents)-1].wide {
		l.indents = l.indents[:len(l.indents)-1]
		l.add(tokDedent, l.pos)
	}
	switch top := l.indents[len(l.indents)-1]; {
	case in.wide != top.wide:
		l.fail(l.pos, "the indentation matches no line above")
	case in.narrow != top.narrow:
		l.fail(l.pos, "tabs and spaces are mixed in the indentation")
	}
}

func (l *lexer) comment() {
	text, _ := source.CutLine(l.src[l.pos:])
	l.pos += len(text)
}

// token reads the next token, or the white space or comment in front of it.
func (l *lexer) token() {
	if l.inFormatText() {
		l.formatText()
		return
	}
	if l.problem != nil || l.pos == len(l.src) {
		return
	}
	rest := l.src[l.pos:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\f':
		l.pos++
	case source.LineEnd(rest) > 0:
		l.newline(source.LineEnd(rest))
	case c == '#':
		l.comment()
	case c == '\\':
		l.continuation(rest)
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		l.number()
	case c == '"' || c == '\'':
		l.str("")
	case c == '_' || c < utf8.RuneSelf && source.IsIdentStart(c) && c != '$' || c >= utf8.RuneSelf:
		l.name()
	default:
		l.operator(rest)
	}
}

func (l *lexer) newline(width int) {
	start := l.pos
	l.pos += width
	if len(l.brackets) == 0 && len(l.strings) == 0 {
		l.add(tokNewline, start)
	}
}

func (l *lexer) continuation(rest string) {
	n := source.LineEnd(rest[1:])
	switch {
	case n == 0:
		l.fail(l.pos, "unexpected character after the backslash that continues a line")
	case len(rest) == 1+n:
		l.fail(l.pos, "unexpected end after the backslash that continues a line")
	default:
		l.pos += 1 + n
	}
}

// name reads an identifier or keyword, or the prefix of a string.
func (l *lexer) name() {
	start := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c < utf8.RuneSelf {
			if !source.IsIdentPart(c) || c == '$' {
				break
			}
			l.pos++
			continue
		}
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if !isLetter(r, l.pos == start) {
			if l.pos == start {
				l.fail(start, "invalid character %s (U+%04X)", string(r), r)
				return
			}
			break
		}
		l.pos += size
	}
	word := l.src[start:l.pos]
	if l.pos < len(l.src) && (l.src[l.pos] == '"' || l.src[l.pos] == '\'') && isStringPrefix(word) {
		l.pos = start
		l.str(word)
		return
	}
	kind := tokName
	if len(word) < 9 && source.HasWord(keywords, word) {
		kind = tokKeyword
	}
	l.add(kind, start)
}

func isLetter(r rune, first bool) bool {
	if unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_ID_Start, r) {
		return true
	}
	return !first && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

func isStringPrefix(word string) bool {
	return len(word) <= 2 && source.HasWord("r u b f t br rb fr rf tr rt", strings.ToLower(word))
}

// operators are the operators and delimiters of more than one character, the longest first.
var operators = [...]string{
	"**=", "//=", ">>=", "<<=", "...", "!=", "==", "<=", ">=", "->", ":=", "**", "//", "<<", ">>",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
}

func (l *lexer) operator(rest string) {
	start := l.pos
	if f := l.field(); f != nil && len(l.brackets) == f.depth && l.fieldPunct(f, rest) {
		return
	}
	if len(rest) > 1 && strings.IndexByte("=*/<>.", rest[1]) >= 0 { // the second characters of them
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				l.pos += len(op)
				l.add(tokOp, start)
				return
			}
		}
	}
	c := rest[0]
	if strings.IndexByte("()[]{}", c) >= 0 {
		l.bracket(c)
		return
	}
	if strings.IndexByte("+-*/%@&|^~<>=.,:;", c) < 0 {
		l.fail(start, "unexpected character %s", source.Clip(rest[:1]))
		return
	}
	l.pos++
	l.add(tokOp, start)
}

func (l *lexer) bracket(c byte) {
	start := l.pos
	l.pos++
	l.add(tokOp, start)
	index := len(l.tokens) - 1
	if strings.IndexByte("([{", c) >= 0 {
		l.brackets = append(l.brackets, bracket{c, index})
		return
	}
	n := len(l.brackets)
	if n == 0 {
		l.fail(start, "'%c' closes nothing", c)
		return
	}
	b := l.brackets[n-1]
	if "()[]{}"[strings.IndexByte("([{", b.open)*2+1] != c {
		l.fail(start, "'%c' does not close '%c'", c, b.open)
		return
	}
	l.tokens[b.index].mate, l.tokens[index].mate = index, b.index
	l.brackets = l.brackets[:n-1]
}
