package scan

import (
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Import is one module that a source imports.
type Import struct {
	Path string // the module: "o1js", "fmt", "anchor_lang::prelude::*", "langchain.agents"

	// Names lists what is taken out of the module, under the module's own names: "default" and "*" stand for
	// JavaScript's default and namespace imports. Empty where the language writes names into the path (Rust) or takes
	// the module as a whole (Go, side-effect imports).
	Names []string

	Line, Col int    // where the statement begins
	Text      string // the statement as written
	Lang      string // canonical language whose rules apply
}

// segments are what separates the parts of a module's path, by language. With one, asking for a module also accepts what
// is inside it.
var segments = map[string]string{"rust": "::", "python": "."}

// Bounds that no honest source meets; they keep what is stored in proportion to the source.
const (
	MaxNames = 1000 // names kept of one statement
	MaxPath  = 1024 // bytes of a path that is put together from pieces
)

// Matches is the rule by which an import counts for the module asked for, letter case aside. JavaScript, Go and Solidity
// name modules by exact strings: the path must be the module. Rust and Python paths have segments: asking for a module
// accepts everything inside it, so anchor_lang is matched by anchor_lang::prelude::*, and langchain by langchain.agents
// but not by langchain_core. "from a import b" also matches a.b, and a Rust crate may be given by its package name with
// hyphens.
func (i Import) Matches(module string) bool {
	module = strings.TrimSpace(module)
	separator := segments[i.Lang]
	if module == "" || separator == "" {
		return module != "" && strings.EqualFold(i.Path, module)
	}
	if i.Lang == "rust" {
		module = strings.ReplaceAll(strings.TrimPrefix(module, "::"), "-", "_")
	}
	if within(i.Path, module, separator) {
		return true
	}
	return slices.ContainsFunc(i.Names, func(name string) bool {
		if strings.HasSuffix(i.Path, separator) { // "from . import x"
			return within(i.Path+name, module, separator)
		}
		return within(i.Path+separator+name, module, separator)
	})
}

// within reports whether path is module or lies inside it.
func within(path, module, separator string) bool {
	if len(path) < len(module) || !strings.EqualFold(path[:len(module)], module) {
		return false
	}
	return len(path) == len(module) || strings.HasPrefix(path[len(module):], separator)
}

// Statements is the common part of the import scanners: a token window over a lexer that only moves forward. A statement
// that turns out not to be one leaves the window at the token that did not fit, so no token is read twice.
type Statements struct {
	Lexer
	lang   string
	places *source.Places
	Tok    Token // the current token
	Prev   Token
	Found  []Import
}

// NewStatements stands at the first token of a source.
func NewStatements(src, lang string, d Dialect) *Statements {
	s := &Statements{Lexer: NewLexer(src, d), lang: lang, places: source.NewPlaces(src)}
	s.Advance()
	return s
}

// Advance moves to the next token.
func (s *Statements) Advance() {
	s.Prev = s.Tok
	s.Tok = s.Next()
}

// Text is the current token as written.
func (s *Statements) Text() string { return s.Src[s.Tok.Start:s.Tok.End] }

// Word reports whether the current token is this name.
func (s *Statements) Word(name string) bool { return s.Tok.Kind == Ident && s.Text() == name }

// Punct reports whether the current token is this punctuation.
func (s *Statements) Punct(p string) bool { return s.Tok.Kind == Punct && s.Text() == p }

// StartsWith reports whether the current token begins with c.
func (s *Statements) StartsWith(c byte) bool {
	return s.Tok.Kind != EOF && s.Src[s.Tok.Start] == c
}

// Take moves past the current token if it is this punctuation.
func (s *Statements) Take(p string) bool {
	if !s.Punct(p) {
		return false
	}
	s.Advance()
	return true
}

// TakeWord moves past the current token if it is this name.
func (s *Statements) TakeWord(name string) bool {
	if !s.Word(name) {
		return false
	}
	s.Advance()
	return true
}

// Property reports whether the current token follows a dot that is not the end of a spread: x.import, but not ...import.
func (s *Statements) Property() bool {
	return s.Prev.Kind == Punct && s.Src[s.Prev.Start] == '.' && (s.Prev.Start == 0 || s.Src[s.Prev.Start-1] != '.')
}

// QuotedPath is the content of the current token if it is a string. Only a call may quote its module with backticks.
func (s *Statements) QuotedPath(call bool) (string, bool) {
	if s.Tok.Kind != String || s.Tok.End-s.Tok.Start < 3 {
		return "", false
	}
	if s.Src[s.Tok.Start] == '`' && !call {
		return "", false
	}
	return s.Src[s.Tok.Start+1 : s.Tok.End-1], true
}

// Add records an import whose statement covers the bytes from start to end.
func (s *Statements) Add(path string, names []string, start, end int) {
	line, col := s.places.At(start)
	s.Found = append(s.Found, Import{Path: path, Names: names, Line: line, Col: col, Text: s.Src[start:end], Lang: s.lang})
}

// QuotedModule reads the quoted module that ends a statement.
func (s *Statements) QuotedModule(start int, names []string) bool {
	path, ok := s.QuotedPath(false)
	if !ok {
		return false
	}
	s.Add(path, names, start, s.Tok.End)
	s.Advance()
	return true
}

// BracedNames reads * as name or {a, b as c} and adds what it takes to names.
func (s *Statements) BracedNames(names []string) ([]string, bool) {
	if s.Take("*") {
		if s.TakeWord("as") {
			s.Advance() // the local name
		}
		return append(names, "*"), true
	}
	if !s.Take("{") {
		return nil, false
	}
	for !s.Take("}") {
		name, ok := s.bracedName()
		if !ok {
			return nil, false
		}
		if len(names) < MaxNames {
			names = append(names, name)
		}
		if !s.Take(",") && !s.Punct("}") {
			return nil, false
		}
	}
	return names, true
}

// bracedName reads one entry of a brace list: [type] name [as name]. The name taken is the second word of two or four
// and the first of one or three.
func (s *Statements) bracedName() (string, bool) {
	var words [4]string
	n := 0
	for s.Tok.Kind == Ident || s.Tok.Kind == String {
		if n == len(words) {
			return "", false
		}
		words[n] = strings.Trim(s.Text(), `"'`)
		n++
		s.Advance()
	}
	switch n {
	case 1, 3:
		return words[0], true
	case 2, 4:
		return words[1], true
	}
	return "", false
}
