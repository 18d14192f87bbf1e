package code

import (
	"strings"
	"unicode/utf8"
)

// lexRust cuts Rust into tokens.
func lexRust(src string) *lexemes {
	l := &lexemes{descent: descent{src: src}, literal: rustLiteral, puncts: "()[]{}<>=+-*/%&|^!~?.,;:#@$", nested: true}
	if strings.HasPrefix(src, "#!") && !strings.HasPrefix(strings.TrimLeft(src[2:], " \t\r\n"), "[") {
		line, _ := cutLine(src) // the line that names the interpreter of a script
		l.off = len(line)
	}
	l.lexAll()
	return l
}

func rustLiteral(l *lexemes, rest string) (lexemeKind, int) {
	switch c := rest[0]; {
	case isIdentStart(c) && c != '$':
		return rustName(l, rest)
	case c >= '0' && c <= '9':
		return lexNumber, rustNumber(rest)
	case c == '"':
		return lexString, rustString(l, rest, 0)
	case c == '\'':
		return rustQuote(l, rest)
	}
	return lexPunct, 0
}

// rustName reads a name, or a literal with a prefix: b"…", br#"…"#, c"…", b'x', r#name.
func rustName(l *lexemes, rest string) (lexemeKind, int) {
	n := 0
	for n < len(rest) && isIdentPart(rest[n]) && rest[n] != '$' {
		n++
	}
	if n == len(rest) {
		return lexName, n
	}
	switch prefix := rest[:n]; {
	case rest[n] == '"' && (prefix == "b" || prefix == "c"):
		return lexString, rustString(l, rest, n)
	case rest[n] == '\'' && prefix == "b":
		return lexString, rustChar(l, rest, n)
	case (rest[n] == '"' || rest[n] == '#') && (prefix == "r" || prefix == "br" || prefix == "cr"):
		return rustRaw(l, rest, n)
	case rest[n] == '"':
		l.stop(l.off, "%s is no prefix of a string", clip(prefix))
		return lexName, 0
	}
	return lexName, n
}

// rustRaw reads a raw string or a raw name behind its prefix.
func rustRaw(l *lexemes, rest string, n int) (lexemeKind, int) {
	hashes := n
	for hashes < len(rest) && rest[hashes] == '#' {
		hashes++
	}
	switch after := rest[hashes:]; {
	case strings.HasPrefix(after, `"`):
		closing := `"` + rest[n:hashes]
		end := strings.Index(after[1:], closing)
		if end < 0 {
			l.stop(l.off, "string is not closed")
			return lexString, 0
		}
		return lexString, hashes + 1 + end + len(closing)
	case hashes == n+1 && nameLength(after) > 0:
		return lexName, hashes + nameLength(after)
	}
	return lexName, n
}

// rustNumber is the length of a number with its suffix. A dot belongs to it only when no name and no second dot follows:
// 1.max(2) and 1..2 begin with an integer.
func rustNumber(rest string) int {
	n := 0
	digits := func() {
		for n < len(rest) && isIdentPart(rest[n]) && rest[n] != '$' && rest[n] < utf8.RuneSelf {
			exponent := rest[n]|0x20 == 'e' && !strings.HasPrefix(rest, "0x")
			n++
			if exponent && n+1 < len(rest) && (rest[n] == '+' || rest[n] == '-') && rest[n+1] >= '0' && rest[n+1] <= '9' {
				n++
			}
		}
	}
	digits()
	if n < len(rest) && rest[n] == '.' && (n+1 == len(rest) || rest[n+1] != '.' && !isIdentStart(rest[n+1])) {
		n++
		digits()
	}
	return n
}

// rustQuote reads a character or a lifetime.
func rustQuote(l *lexemes, rest string) (lexemeKind, int) {
	body := rest[1:]
	_, size := utf8.DecodeRuneInString(body)
	switch {
	case strings.HasPrefix(body, `\`):
		return lexString, rustChar(l, rest, 0)
	case size > 0 && strings.HasPrefix(body[size:], "'"):
		return lexString, 1 + size + 1
	case nameLength(body) > 0:
		return lexLifetime, 1 + nameLength(body)
	}
	l.stop(l.off, "character is not closed")
	return lexString, 0
}

// rustString is the length of a string whose quote stands at from.
func rustString(l *lexemes, rest string, from int) int {
	n := l.quotedLength(rest, from, true)
	if n > 0 {
		rustEscapes(l, rest[from+1:n-1])
	}
	if l.problem != nil {
		return 0
	}
	return n
}

// rustChar is the length of a character whose quote stands at from.
func rustChar(l *lexemes, rest string, from int) int {
	n := l.quotedLength(rest, from, false)
	if n == 0 {
		return 0
	}
	body := rest[from+1 : n-1]
	rustEscapes(l, body)
	if plain := !strings.HasPrefix(body, `\`); plain && utf8.RuneCountInString(body) != 1 {
		l.stop(l.off, "want one character between the quotes")
	}
	if l.problem != nil {
		return 0
	}
	return n
}

// rustEscapes checks the escape sequences of a literal.
func rustEscapes(l *lexemes, body string) {
	for rest := body; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 || i+1 >= len(rest) {
			return
		}
		rest = rest[i+1:]
		if c := rest[0]; strings.IndexByte("nrt0\\'\"xu\r\n", c) < 0 || c == 'u' && !strings.HasPrefix(rest, "u{") {
			l.stop(l.off, "unknown escape \\%s", firstRune(rest))
			return
		}
		rest = rest[1:]
	}
}
