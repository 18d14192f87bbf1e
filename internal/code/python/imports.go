package python

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

var dialect = scan.Dialect{HashComments: true, TripleQuotes: true}

// Imports reads import a.b as c, d and from a.b import (c, d) wherever a statement can begin, also in the blocks
// of try and if.
func Imports(src string) []scan.Import {
	s := scan.NewStatements(src, "python", dialect)
	for s.Tok.Kind != scan.EOF {
		begins := s.Tok.First || s.Prev.Kind == scan.Punct && strings.IndexByte(";:", s.Src[s.Prev.Start]) >= 0
		switch {
		case begins && s.Word("import"):
			importStatement(s)
		case begins && s.Word("from"):
			From(s, func() bool { return StatementEnds(s) })
		default:
			s.Advance()
		}
	}
	return s.Found
}

// StatementEnds reports whether a simple statement is over at the current token.
func StatementEnds(s *scan.Statements) bool {
	return s.Tok.Kind == scan.EOF || s.Tok.First || s.Punct(";")
}

func importStatement(s *scan.Statements) bool {
	start, known := s.Tok.Start, len(s.Found)
	s.Advance()
	for {
		path, ok := dottedName(s)
		if !ok {
			break
		}
		if s.TakeWord("as") {
			s.Advance() // the local name
		}
		s.Add(path, nil, start, s.Prev.End)
		if s.Take(",") {
			continue
		}
		if !StatementEnds(s) {
			break
		}
		for i := known; i < len(s.Found); i++ {
			s.Found[i].Text = s.Src[start:s.Prev.End]
		}
		return true
	}
	s.Found = s.Found[:known] // import x from "y" is not Python
	return false
}

// From reads from m import names. What may follow the statement differs between a program and prose.
func From(s *scan.Statements, ends func() bool) bool {
	start := s.Tok.Start
	s.Advance()
	dots := s.Tok.Start
	for s.Punct(".") {
		s.Advance()
	}
	path := strings.Map(dotsOnly, s.Src[dots:s.Tok.Start])
	if !s.Word("import") {
		name, ok := dottedName(s)
		if !ok {
			return false
		}
		path += name
	}
	if path == "" || s.Tok.First || !s.TakeWord("import") {
		return false
	}
	names, ok := importNames(s)
	if !ok || !ends() {
		return false
	}
	s.Add(path, names, start, s.Prev.End)
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
func dottedName(s *scan.Statements) (string, bool) {
	start := s.Tok.Start
	for {
		if s.Tok.Kind != scan.Ident || s.Tok.First && s.Tok.Start > start || source.HasWord("import from as", s.Text()) {
			return "", false
		}
		s.Advance()
		if s.Tok.First || !s.Take(".") {
			break
		}
	}
	return strings.Join(strings.Fields(s.Src[start:s.Prev.End]), ""), true
}

// importNames reads *, a, b as c or the same in parentheses.
func importNames(s *scan.Statements) ([]string, bool) {
	if s.Take("*") {
		return []string{"*"}, true
	}
	grouped := s.Take("(")
	var names []string
	for s.Tok.Kind == scan.Ident && (grouped || !s.Tok.First) {
		if len(names) < scan.MaxNames {
			names = append(names, s.Text())
		}
		s.Advance()
		if s.TakeWord("as") {
			s.Advance()
		}
		if !s.Take(",") {
			break
		}
	}
	if len(names) == 0 || grouped && !s.Take(")") {
		return nil, false
	}
	return names, true
}

// Calls are the rules for calls. A class pattern follows case.
var Calls = scan.CallRules{
	Keywords: "if elif else for while return yield await not and or in is lambda with assert del raise except from import as " +
		"global nonlocal async def class case",
	Defines:    "def class case",
	Index:      true,
	Lines:      true,
	Decorators: true,
}

// Tokens cuts a source as the parser does, so that the fields of formatted strings are code. A source the parser's
// lexer gives up on is cut by the simpler rules that never fail.
func Tokens(src string) *scan.List {
	l := lex(src)
	if l.problem != nil {
		return scan.Tokenize(src, dialect)
	}
	tokens := make([]scan.Token, 0, len(l.tokens))
	first := true
	for _, t := range l.tokens {
		kind := scan.Punct
		switch t.kind {
		case tokNewline, tokIndent, tokDedent, tokEOF:
			first = true
			continue
		case tokName, tokKeyword:
			kind = scan.Ident
		case tokNumber:
			kind = scan.Literal
		case tokString, tokFStart, tokFEnd:
			kind = scan.String
		case tokFMiddle:
			kind = scan.Text
		}
		tokens = append(tokens, scan.Token{Kind: kind, First: first, Start: t.start, End: t.end})
		first = false
	}
	return scan.Pair(src, tokens)
}
