// Package scan reads code without parsing it. A [Lexer] cuts a source into tokens by the [Dialect] of its language and
// never fails. On top of the tokens, [Statements] reads import statements, [CallRules] find calls, and a [List] takes
// comments and strings out of a source with all places kept.
package scan

import (
	"strings"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Dialect says how one language writes comments and literals. That is all a scanner for imports must know of a language
// to tell a statement from the same words in a comment or a string.
type Dialect struct {
	HashComments   bool // # to the end of the line (Python); otherwise // and /* */
	NestedComments bool // /* /* */ */ (Rust)
	Regexps        bool // /…/ literals (JavaScript)
	Templates      bool // `…${code}…` (JavaScript)
	Backticks      bool // `…` raw strings (Go)
	TripleQuotes   bool // """…""" (Python)
	RustLiterals   bool // 'a lifetimes, r#"…"# strings, "…" over several lines
	JSX            bool // <p>text {code}</p> (TypeScript and JavaScript)
	Prose          bool // the text is not code: no comments and no regular expressions, one quote spans one line
}

// Kind is what a token is.
type Kind uint8

// Kinds of tokens.
const (
	EOF     Kind = iota
	Ident        // name or keyword
	String       // complete string literal with quotes, or a template without substitutions
	Punct        // one character, or one of :: and =>
	Literal      // number, regular expression, broken string, piece of a template
	Text         // text between the tags of JSX
)

// Token is a piece of source text.
type Token struct {
	Kind       Kind
	First      bool // first of its line
	Start, End int
}

// Lexer cuts source text into tokens. It never fails: what it cannot make sense of becomes a punctuation token.
type Lexer struct {
	Dialect
	Src     string
	pos     int
	first   bool  // no token yet on this line
	operand bool  // the last token ends an operand, so a slash divides
	braces  int   // open braces inside the innermost template substitution
	Outer   []int // braces of the substitutions around it
	noRegex int   // up to here a slash was already found not to start a regular expression
	jsxState
}

// NewLexer starts at the beginning of a source.
func NewLexer(src string, d Dialect) Lexer {
	return Lexer{Dialect: d, Src: src, first: true}
}

// Next returns the next token; at the end of the source EOF, again and again.
func (l *Lexer) Next() Token {
	l.skipSpace()
	t := Token{Start: l.pos, First: l.first}
	l.first = false
	switch {
	case l.pos == len(l.Src):
	case l.inTag():
		t.Kind = l.scanTag(l.Src[l.pos])
	case l.inText():
		t.Kind = l.scanText()
	default:
		t.Kind = l.scan(l.Src[l.pos])
	}
	t.End = l.pos
	l.operand = t.Kind == String || t.Kind == Literal ||
		t.Kind == Ident && !l.beforeRegexp(t) ||
		t.Kind == Punct && strings.IndexByte(")]}", l.Src[t.Start]) >= 0
	return t
}

func (l *Lexer) scan(c byte) Kind {
	switch {
	case source.IsIdentStart(c):
		return l.ident()
	case c >= '0' && c <= '9':
		l.number()
		return Literal
	case c == '"' || c == '\'' && !l.RustLiterals:
		return l.quoted(c)
	case c == '\'':
		return l.charOrLifetime()
	case c == '`' && (l.Templates || l.Backticks || l.Prose):
		return l.backtick()
	case c == '<' && l.JSX && !l.operand && l.opensElement():
		l.openElement()
		return Punct
	case c == '/' && l.Regexps && !l.Prose && !l.operand && l.Src[max(l.pos-1, 0)] != '<': // "</" closes a JSX element
		return l.regexp()
	case c == '{' && len(l.Outer) > 0:
		l.braces++
	case c == '}' && len(l.Outer) > 0:
		if l.braces == 0 {
			l.pos++
			l.braces, l.Outer = l.Outer[len(l.Outer)-1], l.Outer[:len(l.Outer)-1]
			if l.closesHole() {
				return Punct
			}
			l.templateText()
			return Literal
		}
		l.braces--
	case strings.HasPrefix(l.Src[l.pos:], "::"), strings.HasPrefix(l.Src[l.pos:], "=>"):
		l.pos++
	}
	l.pos++
	return Punct
}

// skipSpace moves to the next token and notes whether a line begins on the way.
func (l *Lexer) skipSpace() {
	for l.pos < len(l.Src) {
		rest := l.Src[l.pos:]
		switch c := rest[0]; {
		case c == '\n' || c == '\r':
			l.first = true
			l.pos++
		case c == ' ' || c == '\t' || c == '\f' || c == '\v':
			l.pos++
		case c >= utf8.RuneSelf && strings.HasPrefix(rest, "\u00a0"):
			l.pos += len("\u00a0")
		case c >= utf8.RuneSelf && strings.HasPrefix(rest, source.ByteOrderMark):
			l.pos += len(source.ByteOrderMark)
		case l.HashComments && c == '\\' && source.LineEnd(rest[1:]) > 0:
			l.pos += 1 + source.LineEnd(rest[1:]) // a continued line
		case l.HashComments && l.first && (strings.HasPrefix(rest, ">>> ") || strings.HasPrefix(rest, "... ")):
			l.pos += 4 // the prompt of an interactive session
		case !l.Prose && !l.inText() && l.commentStart(rest):
			l.skipComment()
		default:
			return
		}
	}
}

func (l *Lexer) commentStart(rest string) bool {
	if l.HashComments {
		return rest[0] == '#'
	}
	return strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*")
}

func (l *Lexer) skipComment() {
	if !strings.HasPrefix(l.Src[l.pos:], "/*") {
		l.pos = l.lineEndFrom(l.pos)
		return
	}
	depth := 1
	l.pos += 2
	for depth > 0 && l.pos < len(l.Src) {
		i := strings.IndexAny(l.Src[l.pos:], "*/\n")
		if i < 0 {
			l.pos = len(l.Src)
			return
		}
		l.pos += i
		switch rest := l.Src[l.pos:]; {
		case rest[0] == '\n':
			l.first = true
			l.pos++
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.pos += 2
		case l.NestedComments && strings.HasPrefix(rest, "/*"):
			depth++
			l.pos += 2
		default:
			l.pos++
		}
	}
}

// ident reads a name, or a literal that starts like one: Rust's r"…", b'…', r#name.
func (l *Lexer) ident() Kind {
	start := l.pos
	for l.pos < len(l.Src) && source.IsIdentPart(l.Src[l.pos]) {
		l.pos++
	}
	if !l.RustLiterals || l.pos-start > 2 || l.pos == len(l.Src) {
		return Ident
	}
	if next := l.Src[l.pos]; next != '"' && next != '#' {
		return Ident
	}
	switch l.Src[start:l.pos] {
	case "b", "c":
		if l.Src[l.pos] == '"' {
			return l.quoted('"')
		}
	case "r", "br", "cr":
		return l.rawRust()
	}
	return Ident
}

// rawRust reads what follows the r of a raw string or raw name.
func (l *Lexer) rawRust() Kind {
	hashes := l.pos
	for hashes < len(l.Src) && l.Src[hashes] == '#' {
		hashes++
	}
	rest := l.Src[hashes:]
	switch {
	case strings.HasPrefix(rest, `"`):
		closing := `"` + l.Src[l.pos:hashes]
		end := strings.Index(rest[1:], closing)
		if end < 0 {
			l.pos = len(l.Src)
			return Literal
		}
		l.pos = hashes + 1 + end + len(closing)
		return Literal
	case hashes == l.pos+1 && rest != "" && source.IsIdentStart(rest[0]):
		l.pos = hashes
		for l.pos < len(l.Src) && source.IsIdentPart(l.Src[l.pos]) {
			l.pos++
		}
	}
	return Ident
}

func (l *Lexer) number() {
	for l.pos < len(l.Src) {
		c := l.Src[l.pos]
		fraction := c == '.' && l.pos+1 < len(l.Src) && l.Src[l.pos+1] >= '0' && l.Src[l.pos+1] <= '9'
		if !source.IsIdentPart(c) && !fraction {
			return
		}
		l.pos++
	}
}

// quoted reads a string literal. One that is not closed on its line ends there, so that an apostrophe in JSX text or in
// a comment of an unknown language costs one line and not the rest of the source.
func (l *Lexer) quoted(quote byte) Kind {
	if l.TripleQuotes {
		for _, triple := range [...]string{`"""`, "'''"} {
			if strings.HasPrefix(l.Src[l.pos:], triple) {
				return l.tripleQuoted(triple)
			}
		}
	}
	for l.pos++; l.pos < len(l.Src); l.pos++ {
		switch c := l.Src[l.pos]; {
		case c == quote:
			l.pos++
			return String
		case c == '\\' && !l.Prose:
			l.pos++
			if strings.HasPrefix(l.Src[min(l.pos, len(l.Src)):], "\r\n") {
				l.pos++
			}
		case (c == '\n' || c == '\r') && !l.RustLiterals:
			return Literal
		}
	}
	l.pos = len(l.Src)
	return Literal
}

func (l *Lexer) tripleQuoted(closing string) Kind {
	for l.pos += 3; l.pos < len(l.Src); l.pos++ {
		switch {
		case l.Src[l.pos] == '\\':
			l.pos++
		case strings.HasPrefix(l.Src[l.pos:], closing):
			l.pos += 3
			return String
		}
	}
	l.pos = len(l.Src)
	return Literal
}

// charOrLifetime reads Rust's 'c', '\n' or 'a.
func (l *Lexer) charOrLifetime() Kind {
	rest := l.Src[l.pos+1:]
	_, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.HasPrefix(rest, `\`):
		body := rest[min(2, len(rest)):]
		end := strings.IndexAny(body, "'\r\n")
		if end < 0 {
			end = len(body)
		} else if body[end] == '\'' {
			end++
		}
		l.pos = len(l.Src) - len(body) + end
	case size > 0 && strings.HasPrefix(rest[size:], "'"):
		l.pos += 1 + size + 1
	default:
		l.pos++
		for l.pos < len(l.Src) && source.IsIdentPart(l.Src[l.pos]) {
			l.pos++
		}
	}
	return Literal
}

// backtick reads a raw string, or a template up to its first substitution.
func (l *Lexer) backtick() Kind {
	if l.Templates && !l.Prose {
		l.pos++
		return l.templateText()
	}
	rest := l.Src[l.pos+1:]
	end := strings.IndexByte(rest, '`')
	if l.Prose {
		end = strings.IndexAny(rest, "`\n")
	}
	if end < 0 || rest[end] == '\n' {
		l.pos += 1 + max(end, 0)
		if !l.Prose {
			l.pos = len(l.Src)
		}
		return Literal
	}
	l.pos += 1 + end + 1
	return String
}

// templateText reads on to the end of the template or into its next substitution, whose code becomes tokens of its own.
func (l *Lexer) templateText() Kind {
	for ; l.pos < len(l.Src); l.pos++ {
		switch c := l.Src[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '`':
			l.pos++
			return String
		case strings.HasPrefix(l.Src[l.pos:], "${"):
			l.pos += 2
			l.Outer = append(l.Outer, l.braces)
			l.braces = 0
			return Literal
		}
	}
	l.pos = len(l.Src)
	return Literal
}

// regexp reads a regular expression literal; if the line ends first, the slash was a division after all.
func (l *Lexer) regexp() Kind {
	if l.pos < l.noRegex {
		l.pos++
		return Punct
	}
	class := false
	for i := l.pos + 1; i < len(l.Src); i++ {
		switch c := l.Src[i]; {
		case c == '\n' || c == '\r':
			l.noRegex = i
			l.pos++
			return Punct
		case c == '\\' && i+1 < len(l.Src) && l.Src[i+1] != '\n':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.pos = i + 1
			for l.pos < len(l.Src) && source.IsIdentPart(l.Src[l.pos]) {
				l.pos++
			}
			return Literal
		}
	}
	l.noRegex = len(l.Src)
	l.pos++
	return Punct
}

// beforeRegexp reports whether a name is a keyword after which an expression begins. After a dot it is a property.
func (l *Lexer) beforeRegexp(t Token) bool {
	if !l.Regexps || t.Start > 0 && l.Src[t.Start-1] == '.' {
		return false
	}
	switch l.Src[t.Start:t.End] {
	case "return", "typeof", "case", "do", "else", "in", "instanceof", "new", "void", "delete", "throw", "await", "yield", "of":
		return true
	}
	return false
}

func (l *Lexer) lineEndFrom(pos int) int {
	if i := strings.IndexAny(l.Src[pos:], "\r\n"); i >= 0 {
		return pos + i
	}
	return len(l.Src)
}
