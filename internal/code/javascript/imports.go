package javascript

import (
	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// dialect is how TypeScript and JavaScript, with or without JSX, are cut into tokens.
var dialect = scan.Dialect{Regexps: true, Templates: true}

// Dialect also knows the text of JSX from code.
var Dialect = scan.Dialect{Regexps: true, Templates: true, JSX: true}

// Imports makes the scanner of a language of the family; they differ in the language they give.
func Imports(lang string) func(src string) []scan.Import {
	return func(src string) []scan.Import { return imports(src, lang) }
}

// imports is the scanner of the JavaScript family.
func imports(src, lang string) []scan.Import {
	s := scan.NewStatements(src, lang, dialect)
	for s.Tok.Kind != scan.EOF {
		switch {
		case s.Property():
			s.Advance()
		case s.Word("import"):
			Import(s)
		case s.Word("export"):
			Export(s)
		case s.Word("require"):
			Require(s)
		default:
			s.Advance()
		}
	}
	return s.Found
}

// Import reads every form of import: import "m", import x, {y as z}, * as w from "m", import type …, import("m").
func Import(s *scan.Statements) bool {
	start := s.Tok.Start
	s.Advance()
	if s.Take("(") {
		return call(s, start)
	}
	var names []string
	if s.Tok.Kind != scan.String {
		var ok bool
		if names, ok = clause(s); !ok || !s.TakeWord("from") {
			return false
		}
	}
	return s.QuotedModule(start, names)
}

// Export reads export … from "m"; an export of its own things is not an import.
func Export(s *scan.Statements) bool {
	start := s.Tok.Start
	s.Advance()
	s.TakeWord("type")
	names, ok := s.BracedNames(nil)
	if !ok || !s.TakeWord("from") {
		return false
	}
	return s.QuotedModule(start, names)
}

// Require reads require("m").
func Require(s *scan.Statements) bool {
	start := s.Tok.Start
	s.Advance()
	return s.Take("(") && call(s, start)
}

// call reads the argument of require( or import(, which is past the parenthesis. A computed module has no name.
func call(s *scan.Statements, start int) bool {
	path, ok := s.QuotedPath(true)
	if !ok {
		return false
	}
	end := s.Tok.End
	s.Advance()
	if s.Punct(")") {
		end = s.Tok.End
	} else if !s.Punct(",") {
		return false
	}
	s.Add(path, nil, start, end)
	return true
}

// clause reads what stands between import and from.
func clause(s *scan.Statements) ([]string, bool) {
	if s.Tok.Kind != scan.Ident {
		return s.BracedNames(nil)
	}
	modifier := source.HasWord("type typeof defer source", s.Text())
	s.Advance()
	switch {
	case s.Word("from"): // import type from "m" has a default import named type
	case modifier && s.Tok.Kind == scan.Ident:
		s.Advance()
	case modifier && (s.Punct("{") || s.Punct("*")):
		return s.BracedNames(nil)
	}
	names := []string{"default"}
	if s.Take(",") {
		return s.BracedNames(names)
	}
	return names, true
}
