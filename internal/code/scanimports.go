package code

import (
	"slices"
	"strings"
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
	maxNames = 1000 // names kept of one statement
	maxPath  = 1024 // bytes of a path that is put together from pieces
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

// statements is the common part of the import scanners: a token window over a lexer that only moves forward. A statement
// that turns out not to be one leaves the window at the token that did not fit, so no token is read twice.
type statements struct {
	lexer
	lang   string
	places *places
	tok    token // the current token
	prev   token
	found  []Import
}

func newStatements(src, lang string, d dialect) *statements {
	s := &statements{lexer: newLexer(src, d), lang: lang, places: newPlaces(src)}
	s.advance()
	return s
}

func (s *statements) advance() {
	s.prev = s.tok
	s.tok = s.next()
}

// text is the current token as written.
func (s *statements) text() string { return s.src[s.tok.start:s.tok.end] }

// word reports whether the current token is this name.
func (s *statements) word(name string) bool { return s.tok.kind == tokIdent && s.text() == name }

// punct reports whether the current token is this punctuation.
func (s *statements) punct(p string) bool { return s.tok.kind == tokPunct && s.text() == p }

// startsWith reports whether the current token begins with c.
func (s *statements) startsWith(c byte) bool {
	return s.tok.kind != tokEOF && s.src[s.tok.start] == c
}

// take moves past the current token if it is this punctuation.
func (s *statements) take(p string) bool {
	if !s.punct(p) {
		return false
	}
	s.advance()
	return true
}

// takeWord moves past the current token if it is this name.
func (s *statements) takeWord(name string) bool {
	if !s.word(name) {
		return false
	}
	s.advance()
	return true
}

// property reports whether the current token follows a dot that is not the end of a spread: x.import, but not ...import.
func (s *statements) property() bool {
	return s.prev.kind == tokPunct && s.src[s.prev.start] == '.' && (s.prev.start == 0 || s.src[s.prev.start-1] != '.')
}

// quotedPath is the content of the current token if it is a string. Only a call may quote its module with backticks.
func (s *statements) quotedPath(call bool) (string, bool) {
	if s.tok.kind != tokString || s.tok.end-s.tok.start < 3 {
		return "", false
	}
	if s.src[s.tok.start] == '`' && !call {
		return "", false
	}
	return s.src[s.tok.start+1 : s.tok.end-1], true
}

// add records an import whose statement covers the bytes from start to end.
func (s *statements) add(path string, names []string, start, end int) {
	line, col := s.places.at(start)
	s.found = append(s.found, Import{Path: path, Names: names, Line: line, Col: col, Text: s.src[start:end], Lang: s.lang})
}

// quotedModule reads the quoted module that ends a statement.
func (s *statements) quotedModule(start int, names []string) bool {
	path, ok := s.quotedPath(false)
	if !ok {
		return false
	}
	s.add(path, names, start, s.tok.end)
	s.advance()
	return true
}

// bracedNames reads * as name or {a, b as c} and adds what it takes to names.
func (s *statements) bracedNames(names []string) ([]string, bool) {
	if s.take("*") {
		if s.takeWord("as") {
			s.advance() // the local name
		}
		return append(names, "*"), true
	}
	if !s.take("{") {
		return nil, false
	}
	for !s.take("}") {
		name, ok := s.bracedName()
		if !ok {
			return nil, false
		}
		if len(names) < maxNames {
			names = append(names, name)
		}
		if !s.take(",") && !s.punct("}") {
			return nil, false
		}
	}
	return names, true
}

// bracedName reads one entry of a brace list: [type] name [as name]. The name taken is the second word of two or four
// and the first of one or three.
func (s *statements) bracedName() (string, bool) {
	var words [4]string
	n := 0
	for s.tok.kind == tokIdent || s.tok.kind == tokString {
		if n == len(words) {
			return "", false
		}
		words[n] = strings.Trim(s.text(), `"'`)
		n++
		s.advance()
	}
	switch n {
	case 1, 3:
		return words[0], true
	case 2, 4:
		return words[1], true
	}
	return "", false
}
