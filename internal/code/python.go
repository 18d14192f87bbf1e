package code

import "strings"

var pythonDialect = dialect{hashComments: true, tripleQuotes: true}

// pythonImports reads import a.b as c, d and from a.b import (c, d) wherever a statement can begin, also in the blocks
// of try and if.
func pythonImports(src string) []Import {
	s := newStatements(src, "python", pythonDialect)
	for s.tok.kind != tokEOF {
		begins := s.tok.first || s.prev.kind == tokPunct && strings.IndexByte(";:", s.src[s.prev.start]) >= 0
		switch {
		case begins && s.word("import"):
			pythonImport(s)
		case begins && s.word("from"):
			pythonFrom(s, func() bool { return statementEnds(s) })
		default:
			s.advance()
		}
	}
	return s.found
}

// statementEnds reports whether a simple statement is over at the current token.
func statementEnds(s *statements) bool {
	return s.tok.kind == tokEOF || s.tok.first || s.punct(";")
}

func pythonImport(s *statements) bool {
	start, known := s.tok.start, len(s.found)
	s.advance()
	for {
		path, ok := dottedName(s)
		if !ok {
			break
		}
		if s.takeWord("as") {
			s.advance() // the local name
		}
		s.add(path, nil, start, s.prev.end)
		if s.take(",") {
			continue
		}
		if !statementEnds(s) {
			break
		}
		for i := known; i < len(s.found); i++ {
			s.found[i].Text = s.src[start:s.prev.end]
		}
		return true
	}
	s.found = s.found[:known] // import x from "y" is not Python
	return false
}

// pythonFrom reads from m import names. What may follow the statement differs between a program and prose.
func pythonFrom(s *statements, ends func() bool) bool {
	start := s.tok.start
	s.advance()
	dots := s.tok.start
	for s.punct(".") {
		s.advance()
	}
	path := strings.Map(dotsOnly, s.src[dots:s.tok.start])
	if !s.word("import") {
		name, ok := dottedName(s)
		if !ok {
			return false
		}
		path += name
	}
	if path == "" || s.tok.first || !s.takeWord("import") {
		return false
	}
	names, ok := pythonNames(s)
	if !ok || !ends() {
		return false
	}
	s.add(path, names, start, s.prev.end)
	return true
}

// dotsOnly drops the white space that may stand between the dots of a relative import.
func dotsOnly(r rune) rune {
	if r == '.' {
		return r
	}
	return -1
}

// dottedName reads a.b.c. White space around the dots is allowed and rare, so the source is used as it stands.
func dottedName(s *statements) (string, bool) {
	start := s.tok.start
	for {
		if s.tok.kind != tokIdent || s.tok.first && s.tok.start > start || hasWord("import from as", s.text()) {
			return "", false
		}
		s.advance()
		if s.tok.first || !s.take(".") {
			break
		}
	}
	return strings.Join(strings.Fields(s.src[start:s.prev.end]), ""), true
}

// pythonNames reads *, a, b as c or the same in parentheses.
func pythonNames(s *statements) ([]string, bool) {
	if s.take("*") {
		return []string{"*"}, true
	}
	grouped := s.take("(")
	var names []string
	for s.tok.kind == tokIdent && (grouped || !s.tok.first) {
		if len(names) < maxNames {
			names = append(names, s.text())
		}
		s.advance()
		if s.takeWord("as") {
			s.advance()
		}
		if !s.take(",") {
			break
		}
	}
	if len(names) == 0 || grouped && !s.take(")") {
		return nil, false
	}
	return names, true
}

// pythonCalls are the rules for calls. A class pattern follows case.
var pythonCalls = callRules{
	keywords: "if elif else for while return yield await not and or in is lambda with assert del raise except from import as " +
		"global nonlocal async def class case",
	defines:    "def class case",
	index:      true,
	lines:      true,
	decorators: true,
}

// pythonTokens cuts a source as the parser does, so that the fields of formatted strings are code. A source the parser's
// lexer gives up on is cut by the simpler rules that never fail.
func pythonTokens(src string) *tokenized {
	l := lexPython(src)
	if l.problem != nil {
		return tokenize(src, pythonDialect)
	}
	tokens := make([]token, 0, len(l.tokens))
	first := true
	for _, t := range l.tokens {
		kind := tokPunct
		switch t.kind {
		case pyNewline, pyIndent, pyDedent, pyEOF:
			first = true
			continue
		case pyName, pyKeyword:
			kind = tokIdent
		case pyNumber:
			kind = tokLiteral
		case pyString, pyFStart, pyFEnd:
			kind = tokString
		case pyFMiddle:
			kind = tokText
		}
		tokens = append(tokens, token{kind: kind, first: first, start: t.start, end: t.end})
		first = false
	}
	return pair(src, tokens)
}
