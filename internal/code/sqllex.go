package code

import "strings"

var sqlLanguage = language{
	name:    "sql",
	aliases: "mysql postgres postgresql plpgsql sqlite psql tsql pgsql",
	syntax:  sqlSyntax,
	checker: ownChecker,
	dialect: &dialect{},
}

// lexSQL cuts SQL into tokens, of all the dialects at once: names in double quotes and backticks, strings with doubled
// quotes, dollar-quoted strings, parameters, and operators of any characters.
func lexSQL(src string) *lexemes {
	l := &lexemes{descent: descent{src: src}, literal: sqlLiteral, puncts: "()[]{}<>=+-*/%&|^!~?.,;:#@$\\", nested: true}
	l.lexAll()
	return l
}

// sqlLiteral also passes over what SQL has for comments, by making tokens of no kind that the parser drops.
func sqlLiteral(l *lexemes, rest string) (lexemeKind, int) {
	lineStart := l.off == 0 || l.src[l.off-1] == '\n'
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"), lineStart && (c == '#' || c == '\\'), // MySQL's comments, psql's commands
		strings.HasPrefix(rest, "# ") && l.off > 0 && isSpace(l.src[l.off-1]):
		line, _ := cutLine(rest)
		return lexEOF, len(line)
	case c == '\'':
		return lexString, sqlQuoted(l, rest, 0)
	case c == '"' || c == '`':
		return lexName, sqlQuoted(l, rest, 0)
	case c == '$':
		return sqlDollar(l, rest)
	case (c|0x20 == 'e' || c|0x20 == 'n' || c|0x20 == 'x' || c|0x20 == 'b') && len(rest) > 1 && rest[1] == '\'':
		if c|0x20 == 'e' {
			return lexString, l.quotedLength(rest, 1, true)
		}
		return lexString, sqlQuoted(l, rest, 1)
	case isIdentStart(c):
		return lexName, nameLength(rest)
	case c >= '0' && c <= '9':
		n := 0
		for n < len(rest) && (isIdentPart(rest[n]) || rest[n] == '.' && !strings.HasPrefix(rest[n:], "..")) {
			n++
		}
		if rest[n-1]|0x20 == 'e' && n+1 < len(rest) && (rest[n] == '-' || rest[n] == '+') {
			for n++; n < len(rest) && rest[n] >= '0' && rest[n] <= '9'; n++ {
			}
		}
		return lexNumber, n
	case strings.HasPrefix(rest, "%("): // a parameter with a name, as Python writes it
		if end := strings.Index(rest, ")s"); end > 0 && nameLength(rest[2:]) == end-2 {
			return lexNumber, end + 2
		}
		return lexPunct, 0
	case (c == ':' || c == '@' || c == '%') && len(rest) > 1 && isIdentStart(rest[1]) && !strings.HasPrefix(rest, "::"):
		if n := len(l.tokens); c == ':' && n > 0 && l.tokens[n-1].end == l.off && l.src[l.off-1] == ':' {
			return lexPunct, 0 // the second colon of a cast
		}
		if c == '%' && rest[1] != 's' {
			return lexPunct, 0
		}
		return lexNumber, 1 + nameLength(rest[1:]) // a parameter
	}
	return lexPunct, 0
}

// sqlQuoted is the length of a literal in which the quote is written twice.
func sqlQuoted(l *lexemes, rest string, from int) int {
	quote := rest[from]
	for n := from + 1; n < len(rest); n++ {
		switch {
		case rest[n] == '\\' && n+1 < len(rest) && rest[n+1] == quote && strings.IndexByte(rest[n+2:], quote) >= 0:
			n++ // MySQL's escape; elsewhere the string would end here, and what follows would not parse
		case rest[n] != quote:
		case n+1 < len(rest) && rest[n+1] == quote:
			n++
		default:
			return n + 1
		}
	}
	l.stop(l.off, "%s is never closed", string(quote))
	return 0
}

// sqlDollar reads $1, a name, or a string between $tag$ and $tag$.
func sqlDollar(l *lexemes, rest string) (lexemeKind, int) {
	n := 1
	for n < len(rest) && isIdentPart(rest[n]) && rest[n] != '$' {
		n++
	}
	if n == len(rest) || rest[n] != '$' {
		return lexNumber, n
	}
	tag := rest[:n+1]
	end := strings.Index(rest[n+1:], tag)
	if end < 0 {
		l.stop(l.off, "%s is never closed", clip(tag))
		return lexString, 0
	}
	return lexString, n + 1 + end + len(tag)
}

// withoutComments drops the tokens that stand for comments.
func (l *lexemes) withoutComments() []lexeme {
	kept := make([]lexeme, 0, len(l.tokens))
	moved := make([]int, len(l.tokens))
	for i, t := range l.tokens {
		moved[i] = len(kept)
		if t.kind != lexEOF || i == len(l.tokens)-1 {
			kept = append(kept, t)
		}
	}
	for i := range kept {
		if kept[i].mate >= 0 {
			kept[i].mate = moved[kept[i].mate]
		}
	}
	return kept
}
