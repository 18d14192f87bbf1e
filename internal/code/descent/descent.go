// Package descent is the base of the parsers for languages of the C family: a strict [Lexer] that pairs brackets, and a
// [Parser] with one position and the first problem.
package descent

import (
	"fmt"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Parser is the common part of the parsers by recursive descent for languages of the C family: tokens with their
// brackets paired, one position, and the first problem. After a problem every look ahead sees the end of the source, so
// all loops end.
type Parser struct {
	Src     string
	Tokens  []Token
	Pos     int
	depth   int
	deep    bool // nesting went beyond the bound: no verdict
	Problem *Problem
}

// Problem is the first thing that is wrong with a source.
type Problem struct {
	offset  int
	message string
}

// Kind is what a token is.
type Kind uint8

// Kinds of tokens.
const (
	EOF Kind = iota
	Name
	Lifetime
	Number
	String // any quoted literal
	Punct  // one character
)

// Token is a token of such a language.
type Token struct {
	Kind       Kind
	glued      bool // the next token follows without space
	Documented bool // a documentation comment stands before it
	Start, End int
	Mate       int // for a bracket, the index of its partner
}

// maxDescent bounds the nesting of what these parsers read.
const maxDescent = 250

// Verdict is the outcome: what is wrong, and whether that could be said.
func (d *Parser) Verdict() ([]source.Problem, bool) {
	switch {
	case d.deep:
		return nil, false
	case d.Problem != nil:
		return []source.Problem{source.ProblemAt(d.Src, d.Problem.offset, d.Problem.message, source.OwnChecker)}, true
	}
	return nil, true
}

// Fail records the first problem and moves to the end.
func (d *Parser) Fail(offset int, format string, args ...any) {
	if d.Problem == nil && !d.deep {
		d.Problem = &Problem{offset, fmt.Sprintf(format, args...)}
	}
	d.Pos = len(d.Tokens) - 1
}

// Enter goes one level deeper; beyond the bound there is no verdict.
func (d *Parser) Enter() {
	if d.depth++; d.depth > maxDescent && d.Problem == nil {
		d.deep = true
		d.Pos = len(d.Tokens) - 1
	}
}

// Leave goes back up.
func (d *Parser) Leave() { d.depth-- }

// At is the token n ahead.
func (d *Parser) At(n int) Token { return d.Tokens[min(d.Pos+n, len(d.Tokens)-1)] }

// TextAt is the token n ahead as written.
func (d *Parser) TextAt(n int) string {
	t := d.At(n)
	return d.Src[t.Start:t.End]
}

// Text is the current token as written.
func (d *Parser) Text() string { return d.TextAt(0) }

// Kind is that of the current token.
func (d *Parser) Kind() Kind { return d.Tokens[d.Pos].Kind }

// End reports whether the source is read.
func (d *Parser) End() bool { return d.Kind() == EOF }

// Next moves to the next token.
func (d *Parser) Next() {
	if d.Pos < len(d.Tokens)-1 {
		d.Pos++
	}
}

// IsAt reports whether the tokens from n on are this punctuation, its characters side by side.
func (d *Parser) IsAt(n int, punct string) bool {
	for i := range len(punct) {
		t := d.At(n + i)
		if t.Kind != Punct || d.Src[t.Start] != punct[i] || i < len(punct)-1 && !t.glued {
			return false
		}
	}
	return true
}

// Is reports whether the current tokens are this punctuation.
func (d *Parser) Is(punct string) bool { return d.IsAt(0, punct) }

// Take moves past this punctuation if it is here.
func (d *Parser) Take(punct string) bool {
	if !d.Is(punct) {
		return false
	}
	for range len(punct) {
		d.Next()
	}
	return true
}

// Word reports whether the current token is this name.
func (d *Parser) Word(name string) bool { return d.Kind() == Name && d.Text() == name }

// OneOf reports whether the current token is one of these names.
func (d *Parser) OneOf(list string) bool { return d.Kind() == Name && source.HasWord(list, d.Text()) }

// WordAt reports whether the token n ahead is this name.
func (d *Parser) WordAt(n int, name string) bool {
	return d.At(n).Kind == Name && d.TextAt(n) == name
}

// TakeWord moves past this name if it is here.
func (d *Parser) TakeWord(name string) bool {
	if !d.Word(name) {
		return false
	}
	d.Next()
	return true
}

// Want moves past this punctuation, which must be here.
func (d *Parser) Want(punct string) {
	if !d.Take(punct) {
		d.Unexpected("'" + punct + "'")
	}
}

// WantWord moves past this name, which must be here.
func (d *Parser) WantWord(name string) {
	if !d.TakeWord(name) {
		d.Unexpected("'" + name + "'")
	}
}

// Unexpected says that the current token is not what can stand here.
func (d *Parser) Unexpected(want string) {
	t := d.Tokens[d.Pos]
	if t.Kind == EOF {
		d.Fail(t.Start, "want %s, found the end", want)
		return
	}
	found := d.Text()
	if d.Is("...") {
		found = "..."
	}
	d.Fail(t.Start, "want %s, found %s", want, source.Clip(found))
}

// SkipGroup moves behind the bracket that closes the current one.
func (d *Parser) SkipGroup() {
	if mate := d.At(0).Mate; mate > d.Pos {
		d.Pos = mate
	}
	d.Next()
}

// List reads elements separated by commas, the last one optional, up to the closing bracket and over it.
func (d *Parser) List(closing string, element func()) {
	for !d.Is(closing) && !d.End() {
		element()
		if !d.Take(",") {
			break
		}
	}
	d.Want(closing)
}

// Lexer is a lexer for these languages. What differs between them is how names and literals begin.
type Lexer struct {
	Parser
	Off      int
	brackets []int
	Literal  func(*Lexer, string) (Kind, int) // kind and length of a literal or name that the rest begins with
	Puncts   string                           // characters that are tokens
	Nested   bool                             // comments nest
}

// add appends a token of a length and moves behind it.
func (l *Lexer) add(kind Kind, length int) {
	l.Tokens = append(l.Tokens, Token{Kind: kind, Start: l.Off, End: l.Off + length, Mate: -1})
	l.Off += length
}

// LexAll cuts the whole source, pairs brackets, and records the first thing that is no token.
func (l *Lexer) LexAll() {
	documented := false
	for l.Problem == nil && l.Off < len(l.Src) {
		rest := l.Src[l.Off:]
		switch c := rest[0]; {
		case source.IsSpace(c):
			l.Off++
			continue
		case strings.HasPrefix(rest, "\u00a0"):
			l.Off += len("\u00a0")
			continue
		case strings.HasPrefix(rest, "//"):
			text, _ := source.CutLine(rest)
			l.Off += len(text)
			documented = documented || strings.HasPrefix(text, "///") && !strings.HasPrefix(text, "////")
			continue
		case strings.HasPrefix(rest, "/*"):
			l.blockComment()
			continue
		}
		if n := len(l.Tokens); n > 0 {
			l.Tokens[n-1].glued = l.Tokens[n-1].End == l.Off
		}
		first := len(l.Tokens)
		if kind, n := l.Literal(l, rest); n > 0 {
			l.add(kind, n)
		} else if l.Problem == nil {
			l.punct(rest)
		}
		if len(l.Tokens) > first {
			l.Tokens[first].Documented, documented = documented, false
		}
	}
	if n := len(l.brackets); n > 0 && l.Problem == nil {
		open := l.Tokens[l.brackets[n-1]]
		l.Problem = &Problem{open.Start, fmt.Sprintf("'%s' is never closed", l.Src[open.Start:open.End])}
	}
	l.Tokens = append(l.Tokens, Token{Kind: EOF, Start: len(l.Src), End: len(l.Src), Mate: -1, Documented: documented})
}

// Stop records the first problem.
func (l *Lexer) Stop(offset int, format string, args ...any) {
	if l.Problem == nil {
		l.Problem = &Problem{offset, fmt.Sprintf(format, args...)}
	}
}

func (l *Lexer) blockComment() {
	start, depth := l.Off, 0
	for l.Off < len(l.Src) {
		rest := l.Src[l.Off:]
		switch {
		case strings.HasPrefix(rest, "/*") && (l.Nested || depth == 0):
			depth++
			l.Off += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.Off += 2
			if depth == 0 {
				return
			}
		default:
			l.Off++
		}
	}
	l.Stop(start, "comment is not closed")
}

func (l *Lexer) punct(rest string) {
	c := rest[0]
	if strings.IndexByte(l.Puncts, c) < 0 {
		l.Stop(l.Off, "unexpected character %s", source.Clip(source.FirstRune(rest)))
		return
	}
	l.add(Punct, 1)
	index := len(l.Tokens) - 1
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
		l.Stop(l.Off-1, "'%c' closes nothing", c)
		return
	}
	open := l.brackets[n-1]
	if l.Src[l.Tokens[open].Start] != "([{"[at] {
		l.Stop(l.Off-1, "'%c' does not close '%c'", c, l.Src[l.Tokens[open].Start])
		return
	}
	l.Tokens[open].Mate, l.Tokens[index].Mate = index, open
	l.brackets = l.brackets[:n-1]
}

// QuotedLength is the length of a quoted literal with escapes; 0, and a problem, when it is not closed.
func (l *Lexer) QuotedLength(rest string, from int, lines bool) int {
	quote := rest[from]
	for n := from + 1; n < len(rest); n++ {
		switch c := rest[n]; {
		case c == quote:
			return n + 1
		case c == '\\':
			n++
		case (c == '\n' || c == '\r') && !lines:
			l.Stop(l.Off, "string is not closed on its line")
			return 0
		}
	}
	l.Stop(l.Off, "string is not closed")
	return 0
}
