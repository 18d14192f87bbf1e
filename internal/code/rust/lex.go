package rust

import (
	"strings"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// lexRust cuts Rust into tokens.
func lexRust(src string) *descent.Lexer {
	l := &descent.Lexer{Parser: descent.Parser{Src: src}, Literal: literal, Puncts: "()[]{}<>=+-*/%&|^!~?.,;:#@$", Nested: true}
	if strings.HasPrefix(src, "#!") && !strings.HasPrefix(strings.TrimLeft(src[2:], " \t\r\n"), "[") {
		line, _ := source.CutLine(src) // the line that names the interpreter of a script
		l.Off = len(line)
	}
	l.LexAll()
	return l
}

func literal(l *descent.Lexer, rest string) (descent.Kind, int) {
	switch c := rest[0]; {
	case source.IsIdentStart(c) && c != '$':
		return nameOrLiteral(l, rest)
	case c >= '0' && c <= '9':
		return descent.Number, number(rest)
	case c == '"':
		return descent.String, stringLength(l, rest, 0)
	case c == '\'':
		return quote(l, rest)
	}
	return descent.Punct, 0
}

// nameOrLiteral reads a name, or a literal with a prefix: b"…", br#"…"#, c"…", b'x', r#name.
func nameOrLiteral(l *descent.Lexer, rest string) (descent.Kind, int) {
	n := 0
	for n < len(rest) && source.IsIdentPart(rest[n]) && rest[n] != '$' {
		n++
	}
	if n == len(rest) {
		return descent.Name, n
	}
	switch prefix := rest[:n]; {
	case rest[n] == '"' && (prefix == "b" || prefix == "c"):
		return descent.String, stringLength(l, rest, n)
	case rest[n] == '\'' && prefix == "b":
		return descent.String, char(l, rest, n)
	case (rest[n] == '"' || rest[n] == '#') && (prefix == "r" || prefix == "br" || prefix == "cr"):
		return raw(l, rest, n)
	case rest[n] == '"':
		l.Stop(l.Off, "%s is no prefix of a string", source.Clip(prefix))
		return descent.Name, 0
	}
	return descent.Name, n
}

// raw reads a raw string or a raw name behind its prefix.
func raw(l *descent.Lexer, rest string, n int) (descent.Kind, int) {
	hashes := n
	for hashes < len(rest) && rest[hashes] == '#' {
		hashes++
	}
	switch after := rest[hashes:]; {
	case strings.HasPrefix(after, `"`):
		closing := `"` + rest[n:hashes]
		end := strings.Index(after[1:], closing)
		if end < 0 {
			l.Stop(l.Off, "string is not closed")
			return descent.String, 0
		}
		return descent.String, hashes + 1 + end + len(closing)
	case hashes == n+1 && source.NameLength(after) > 0:
		return descent.Name, hashes + source.NameLength(after)
	}
	return descent.Name, n
}

// number is the length of a number with its suffix. A dot belongs to it only when no name and no second dot follows:
// 1.max(2) and 1..2 begin with an integer.
func number(rest string) int {
	n := 0
	digits := func() {
		for n < len(rest) && source.IsIdentPart(rest[n]) && rest[n] != '$' && rest[n] < utf8.RuneSelf {
			exponent := rest[n]|0x20 == 'e' && !strings.HasPrefix(rest, "0x")
			n++
			if exponent && n+1 < len(rest) && (rest[n] == '+' || rest[n] == '-') && rest[n+1] >= '0' && rest[n+1] <= '9' {
				n++
			}
		}
	}
	digits()
	if n < len(rest) && rest[n] == '.' && (n+1 == len(rest) || rest[n+1] != '.' && !source.IsIdentStart(rest[n+1])) {
		n++
		digits()
	}
	return n
}

// quote reads a character or a lifetime.
func quote(l *descent.Lexer, rest string) (descent.Kind, int) {
	body := rest[1:]
	_, size := utf8.DecodeRuneInString(body)
	switch {
	case strings.HasPrefix(body, `\`):
		return descent.String, char(l, rest, 0)
	case size > 0 && strings.HasPrefix(body[size:], "'"):
		return descent.String, 1 + size + 1
	case source.NameLength(body) > 0:
		return descent.Lifetime, 1 + source.NameLength(body)
	}
	l.Stop(l.Off, "character is not closed")
	return descent.String, 0
}

// stringLength is the length of a string whose quote stands at from.
func stringLength(l *descent.Lexer, rest string, from int) int {
	n := l.QuotedLength(rest, from, true)
	if n > 0 {
		escapes(l, rest[from+1:n-1])
	}
	if l.Problem != nil {
		return 0
	}
	return n
}

// char is the length of a character whose quote stands at from.
func char(l *descent.Lexer, rest string, from int) int {
	n := l.QuotedLength(rest, from, false)
	if n == 0 {
		return 0
	}
	body := rest[from+1 : n-1]
	escapes(l, body)
	if plain := !strings.HasPrefix(body, `\`); plain && utf8.RuneCountInString(body) != 1 {
		l.Stop(l.Off, "want one character between the quotes")
	}
	if l.Problem != nil {
		return 0
	}
	return n
}

// escapes checks the escape sequences of a literal.
func escapes(l *descent.Lexer, body string) {
	for rest := body; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 || i+1 >= len(rest) {
			return
		}
		rest = rest[i+1:]
		if c := rest[0]; strings.IndexByte("nrt0\\'\"xu\r\n", c) < 0 || c == 'u' && !strings.HasPrefix(rest, "u{") {
			l.Stop(l.Off, "unknown escape \\%s", source.FirstRune(rest))
			return
		}
		rest = rest[1:]
	}
}
