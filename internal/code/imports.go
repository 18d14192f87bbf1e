package code

import (
	"cmp"
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
	separator := ""
	if l := find(i.Lang); l != nil {
		separator = l.segment
	}
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

// Imports lists the import statements of a source in order. Statements inside comments and strings are not among them.
// When the language is empty, unknown or one whose imports this package cannot read (a shell script that writes a
// program, say), the scanners of all languages read it.
func Imports(lang, src string) []Import {
	l := find(Canonical(lang))
	if l != nil && l.name == "diff" {
		src = patched(src)
	}
	if l == nil || l.imports == nil {
		return anyImports(src)
	}
	return l.imports(src)
}

// anyImports reads a source of unknown language with every scanner. A statement that several understand is kept once.
func anyImports(src string) []Import {
	var all []Import
	for _, l := range languages {
		if l.imports != nil && l.is == "" && l != &typescript { // JavaScript's scanner reads the whole family
			all = append(all, l.imports(src)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Import) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return withoutRepeats(all)
}

// withoutRepeats drops an import that lies on the lines of another one of the same module: a second scanner found it too.
func withoutRepeats(sorted []Import) []Import {
	lastLine := make(map[string]int, len(sorted))
	return slices.DeleteFunc(sorted, func(i Import) bool {
		if i.Line <= lastLine[i.Path] {
			return true
		}
		lastLine[i.Path] = i.Line + strings.Count(i.Text, "\n")
		return false
	})
}

// patched turns a diff into the text it leads to, byte for byte at the same place: added and kept lines without their
// marker, removed ones blank.
func patched(diff string) string {
	out := []byte(diff)
	for rest := diff; rest != ""; {
		start := len(diff) - len(rest)
		var text string
		text, rest = cutLine(rest)
		switch {
		case strings.HasPrefix(text, "+"):
			out[start] = ' '
		case strings.HasPrefix(text, "-"):
			for i := range text {
				out[start+i] = ' '
			}
		}
	}
	return string(out)
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
