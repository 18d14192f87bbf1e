package code

import (
	"strings"
	"unicode/utf8"
)

// dialect says how one language writes comments and literals. That is all a scanner for imports must know of a language
// to tell a statement from the same words in a comment or a string.
type dialect struct {
	hashComments   bool // # to the end of the line (Python); otherwise // and /* */
	nestedComments bool // /* /* */ */ (Rust)
	regexps        bool // /…/ literals (JavaScript)
	templates      bool // `…${code}…` (JavaScript)
	backticks      bool // `…` raw strings (Go)
	tripleQuotes   bool // """…""" (Python)
	rustLiterals   bool // 'a lifetimes, r#"…"# strings, "…" over several lines
	jsx            bool // <p>text {code}</p> (TypeScript and JavaScript)
	prose          bool // the text is not code: no comments and no regular expressions, one quote spans one line
}

type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokIdent             // name or keyword
	tokString            // complete string literal with quotes, or a template without substitutions
	tokPunct             // one character, or one of :: and =>
	tokLiteral           // number, regular expression, broken string, piece of a template
	tokText              // text between the tags of JSX
)

// token is a piece of source text.
type token struct {
	kind       tokenKind
	first      bool // first of its line
	start, end int
}

// lexer cuts source text into tokens. It never fails: what it cannot make sense of becomes a punctuation token.
type lexer struct {
	dialect
	src     string
	pos     int
	first   bool  // no token yet on this line
	operand bool  // the last token ends an operand, so a slash divides
	braces  int   // open braces inside the innermost template substitution
	outer   []int // braces of the substitutions around it
	noRegex int   // up to here a slash was already found not to start a regular expression
	jsxState
}

func newLexer(src string, d dialect) lexer {
	return lexer{dialect: d, src: src, first: true}
}

// next returns the next token; at the end of the source tokEOF, again and again.
func (l *lexer) next() token {
	l.skipSpace()
	t := token{start: l.pos, first: l.first}
	l.first = false
	switch {
	case l.pos == len(l.src):
	case l.inTag():
		t.kind = l.scanTag(l.src[l.pos])
	case l.inText():
		t.kind = l.scanText()
	default:
		t.kind = l.scan(l.src[l.pos])
	}
	t.end = l.pos
	l.operand = t.kind == tokString || t.kind == tokLiteral ||
		t.kind == tokIdent && !l.beforeRegexp(t) ||
		t.kind == tokPunct && strings.IndexByte(")]}", l.src[t.start]) >= 0
	return t
}

func (l *lexer) scan(c byte) tokenKind {
	switch {
	case isIdentStart(c):
		return l.ident()
	case c >= '0' && c <= '9':
		l.number()
		return tokLiteral
	case c == '"' || c == '\'' && !l.rustLiterals:
		return l.quoted(c)
	case c == '\'':
		return l.charOrLifetime()
	case c == '`' && (l.templates || l.backticks || l.prose):
		return l.backtick()
	case c == '<' && l.jsx && !l.operand && l.opensElement():
		l.openElement()
		return tokPunct
	case c == '/' && l.regexps && !l.prose && !l.operand && l.src[max(l.pos-1, 0)] != '<': // "</" closes a JSX element
		return l.regexp()
	case c == '{' && len(l.outer) > 0:
		l.braces++
	case c == '}' && len(l.outer) > 0:
		if l.braces == 0 {
			l.pos++
			l.braces, l.outer = l.outer[len(l.outer)-1], l.outer[:len(l.outer)-1]
			if l.closesHole() {
				return tokPunct
			}
			l.templateText()
			return tokLiteral
		}
		l.braces--
	case strings.HasPrefix(l.src[l.pos:], "::"), strings.HasPrefix(l.src[l.pos:], "=>"):
		l.pos++
	}
	l.pos++
	return tokPunct
}

// skipSpace moves to the next token and notes whether a line begins on the way.
func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch c := rest[0]; {
		case c == '\n' || c == '\r':
			l.first = true
			l.pos++
		case c == ' ' || c == '\t' || c == '\f' || c == '\v':
			l.pos++
		case c >= utf8.RuneSelf && strings.HasPrefix(rest, "\u00a0"):
			l.pos += len("\u00a0")
		case c >= utf8.RuneSelf && strings.HasPrefix(rest, byteOrderMark):
			l.pos += len(byteOrderMark)
		case l.hashComments && c == '\\' && lineEnd(rest[1:]) > 0:
			l.pos += 1 + lineEnd(rest[1:]) // a continued line
		case l.hashComments && l.first && (strings.HasPrefix(rest, ">>> ") || strings.HasPrefix(rest, "... ")):
			l.pos += 4 // the prompt of an interactive session
		case !l.prose && !l.inText() && l.commentStart(rest):
			l.skipComment()
		default:
			return
		}
	}
}

func (l *lexer) commentStart(rest string) bool {
	if l.hashComments {
		return rest[0] == '#'
	}
	return strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*")
}

func (l *lexer) skipComment() {
	if !strings.HasPrefix(l.src[l.pos:], "/*") {
		l.pos = l.lineEndFrom(l.pos)
		return
	}
	depth := 1
	l.pos += 2
	for depth > 0 && l.pos < len(l.src) {
		i := strings.IndexAny(l.src[l.pos:], "*/\n")
		if i < 0 {
			l.pos = len(l.src)
			return
		}
		l.pos += i
		switch rest := l.src[l.pos:]; {
		case rest[0] == '\n':
			l.first = true
			l.pos++
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.pos += 2
		case l.nestedComments && strings.HasPrefix(rest, "/*"):
			depth++
			l.pos += 2
		default:
			l.pos++
		}
	}
}

// ident reads a name, or a literal that starts like one: Rust's r"…", b'…', r#name.
func (l *lexer) ident() tokenKind {
	start := l.pos
	for l.pos < len(l.src) && isIdentPart(l.src[l.pos]) {
		l.pos++
	}
	if !l.rustLiterals || l.pos-start > 2 || l.pos == len(l.src) {
		return tokIdent
	}
	if next := l.src[l.pos]; next != '"' && next != '#' {
		return tokIdent
	}
	switch l.src[start:l.pos] {
	case "b", "c":
		if l.src[l.pos] == '"' {
			return l.quoted('"')
		}
	case "r", "br", "cr":
		return l.rawRust()
	}
	return tokIdent
}

// rawRust reads what follows the r of a raw string or raw name.
func (l *lexer) rawRust() tokenKind {
	hashes := l.pos
	for hashes < len(l.src) && l.src[hashes] == '#' {
		hashes++
	}
	rest := l.src[hashes:]
	switch {
	case strings.HasPrefix(rest, `"`):
		closing := `"` + l.src[l.pos:hashes]
		end := strings.Index(rest[1:], closing)
		if end < 0 {
			l.pos = len(l.src)
			return tokLiteral
		}
		l.pos = hashes + 1 + end + len(closing)
		return tokLiteral
	case hashes == l.pos+1 && rest != "" && isIdentStart(rest[0]):
		l.pos = hashes
		for l.pos < len(l.src) && isIdentPart(l.src[l.pos]) {
			l.pos++
		}
	}
	return tokIdent
}

func (l *lexer) number() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		fraction := c == '.' && l.pos+1 < len(l.src) && l.src[l.pos+1] >= '0' && l.src[l.pos+1] <= '9'
		if !isIdentPart(c) && !fraction {
			return
		}
		l.pos++
	}
}

// quoted reads a string literal. One that is not closed on its line ends there, so that an apostrophe in JSX text or in
// a comment of an unknown language costs one line and not the rest of the source.
func (l *lexer) quoted(quote byte) tokenKind {
	if l.tripleQuotes {
		for _, triple := range [...]string{`"""`, "'''"} {
			if strings.HasPrefix(l.src[l.pos:], triple) {
				return l.tripleQuoted(triple)
			}
		}
	}
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; {
		case c == quote:
			l.pos++
			return tokString
		case c == '\\' && !l.prose:
			l.pos++
			if strings.HasPrefix(l.src[min(l.pos, len(l.src)):], "\r\n") {
				l.pos++
			}
		case (c == '\n' || c == '\r') && !l.rustLiterals:
			return tokLiteral
		}
	}
	l.pos = len(l.src)
	return tokLiteral
}

func (l *lexer) tripleQuoted(closing string) tokenKind {
	for l.pos += 3; l.pos < len(l.src); l.pos++ {
		switch {
		case l.src[l.pos] == '\\':
			l.pos++
		case strings.HasPrefix(l.src[l.pos:], closing):
			l.pos += 3
			return tokString
		}
	}
	l.pos = len(l.src)
	return tokLiteral
}

// charOrLifetime reads Rust's 'c', '\n' or 'a.
func (l *lexer) charOrLifetime() tokenKind {
	rest := l.src[l.pos+1:]
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
		l.pos = len(l.src) - len(body) + end
	case size > 0 && strings.HasPrefix(rest[size:], "'"):
		l.pos += 1 + size + 1
	default:
		l.pos++
		for l.pos < len(l.src) && isIdentPart(l.src[l.pos]) {
			l.pos++
		}
	}
	return tokLiteral
}

// backtick reads a raw string, or a template up to its first substitution.
func (l *lexer) backtick() tokenKind {
	if l.templates && !l.prose {
		l.pos++
		return l.templateText()
	}
	rest := l.src[l.pos+1:]
	end := strings.IndexByte(rest, '`')
	if l.prose {
		end = strings.IndexAny(rest, "`\n")
	}
	if end < 0 || rest[end] == '\n' {
		l.pos += 1 + max(end, 0)
		if !l.prose {
			l.pos = len(l.src)
		}
		return tokLiteral
	}
	l.pos += 1 + end + 1
	return tokString
}

// templateText reads on to the end of the template or into its next substitution, whose code becomes tokens of its own.
func (l *lexer) templateText() tokenKind {
	for ; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '`':
			l.pos++
			return tokString
		case strings.HasPrefix(l.src[l.pos:], "${"):
			l.pos += 2
			l.outer = append(l.outer, l.braces)
			l.braces = 0
			return tokLiteral
		}
	}
	l.pos = len(l.src)
	return tokLiteral
}

// regexp reads a regular expression literal; if the line ends first, the slash was a division after all.
func (l *lexer) regexp() tokenKind {
	if l.pos < l.noRegex {
		l.pos++
		return tokPunct
	}
	class := false
	for i := l.pos + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\n' || c == '\r':
			l.noRegex = i
			l.pos++
			return tokPunct
		case c == '\\' && i+1 < len(l.src) && l.src[i+1] != '\n':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.pos = i + 1
			for l.pos < len(l.src) && isIdentPart(l.src[l.pos]) {
				l.pos++
			}
			return tokLiteral
		}
	}
	l.noRegex = len(l.src)
	l.pos++
	return tokPunct
}

// beforeRegexp reports whether a name is a keyword after which an expression begins. After a dot it is a property.
func (l *lexer) beforeRegexp(t token) bool {
	if !l.regexps || t.start > 0 && l.src[t.start-1] == '.' {
		return false
	}
	switch l.src[t.start:t.end] {
	case "return", "typeof", "case", "do", "else", "in", "instanceof", "new", "void", "delete", "throw", "await", "yield", "of":
		return true
	}
	return false
}

func (l *lexer) lineEndFrom(pos int) int {
	if i := strings.IndexAny(l.src[pos:], "\r\n"); i >= 0 {
		return pos + i
	}
	return len(l.src)
}
