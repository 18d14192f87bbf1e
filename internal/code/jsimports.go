package code

import "strings"

// scriptDialect is how TypeScript and JavaScript, with or without JSX, are cut into tokens.
var scriptDialect = dialect{regexps: true, templates: true}

// scriptMarkup also knows the text of JSX from code.
var scriptMarkup = dialect{regexps: true, templates: true, jsx: true}

// scriptImports is the scanner of the JavaScript family.
func scriptImports(src, lang string) []Import {
	s := newStatements(src, lang, scriptDialect)
	for s.tok.kind != tokEOF {
		switch {
		case s.property():
			s.advance()
		case s.word("import"):
			s.scriptImport()
		case s.word("export"):
			s.scriptExport()
		case s.word("require"):
			s.scriptRequire()
		default:
			s.advance()
		}
	}
	return s.found
}

// scriptImport reads every form of import: import "m", import x, {y as z}, * as w from "m", import type …, import("m").
func (s *statements) scriptImport() bool {
	start := s.tok.start
	s.advance()
	if s.take("(") {
		return s.scriptCall(start)
	}
	var names []string
	if s.tok.kind != tokString {
		var ok bool
		if names, ok = s.scriptClause(); !ok || !s.takeWord("from") {
			return false
		}
	}
	return s.scriptModule(start, names)
}

// scriptExport reads export … from "m"; an export of its own things is not an import.
func (s *statements) scriptExport() bool {
	start := s.tok.start
	s.advance()
	s.takeWord("type")
	names, ok := s.scriptRest(nil)
	if !ok || !s.takeWord("from") {
		return false
	}
	return s.scriptModule(start, names)
}

func (s *statements) scriptRequire() bool {
	start := s.tok.start
	s.advance()
	return s.take("(") && s.scriptCall(start)
}

// scriptCall reads the argument of require( or import(, which is past the parenthesis. A computed module has no name.
func (s *statements) scriptCall(start int) bool {
	path, ok := s.quotedPath(true)
	if !ok {
		return false
	}
	end := s.tok.end
	s.advance()
	if s.punct(")") {
		end = s.tok.end
	} else if !s.punct(",") {
		return false
	}
	s.add(path, nil, start, end)
	return true
}

// scriptModule reads the quoted module that ends a statement.
func (s *statements) scriptModule(start int, names []string) bool {
	path, ok := s.quotedPath(false)
	if !ok {
		return false
	}
	s.add(path, names, start, s.tok.end)
	s.advance()
	return true
}

// scriptClause reads what stands between import and from.
func (s *statements) scriptClause() ([]string, bool) {
	if s.tok.kind != tokIdent {
		return s.scriptRest(nil)
	}
	modifier := hasWord("type typeof defer source", s.text())
	s.advance()
	switch {
	case s.word("from"): // import type from "m" has a default import named type
	case modifier && s.tok.kind == tokIdent:
		s.advance()
	case modifier && (s.punct("{") || s.punct("*")):
		return s.scriptRest(nil)
	}
	names := []string{"default"}
	if s.take(",") {
		return s.scriptRest(names)
	}
	return names, true
}

// scriptRest reads * as name or {a, b as c} and adds what it takes to names.
func (s *statements) scriptRest(names []string) ([]string, bool) {
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
		name, ok := s.scriptName()
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

// scriptName reads one entry of a brace list: [type] name [as name]. The name taken is the second word of two or four
// and the first of one or three.
func (s *statements) scriptName() (string, bool) {
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
