package code

// scriptDialect is how TypeScript and JavaScript, with or without JSX, are cut into tokens.
var scriptDialect = dialect{regexps: true, templates: true}

// scriptMarkup also knows the text of JSX from code.
var scriptMarkup = dialect{regexps: true, templates: true, jsx: true}

// importsIn makes the scanner of a language of the family.
func importsIn(lang string) func(src string) []Import {
	return func(src string) []Import { return scriptImports(src, lang) }
}

// The scanners of the family differ in the language they give.
var (
	typeScriptImports = importsIn("typescript")
	tsxImports        = importsIn("tsx")
	javaScriptImports = importsIn("javascript")
	jsxImports        = importsIn("jsx")
)

// scriptImports is the scanner of the JavaScript family.
func scriptImports(src, lang string) []Import {
	s := newStatements(src, lang, scriptDialect)
	for s.tok.kind != tokEOF {
		switch {
		case s.property():
			s.advance()
		case s.word("import"):
			scriptImport(s)
		case s.word("export"):
			scriptExport(s)
		case s.word("require"):
			scriptRequire(s)
		default:
			s.advance()
		}
	}
	return s.found
}

// scriptImport reads every form of import: import "m", import x, {y as z}, * as w from "m", import type …, import("m").
func scriptImport(s *statements) bool {
	start := s.tok.start
	s.advance()
	if s.take("(") {
		return scriptCall(s, start)
	}
	var names []string
	if s.tok.kind != tokString {
		var ok bool
		if names, ok = scriptClause(s); !ok || !s.takeWord("from") {
			return false
		}
	}
	return s.quotedModule(start, names)
}

// scriptExport reads export … from "m"; an export of its own things is not an import.
func scriptExport(s *statements) bool {
	start := s.tok.start
	s.advance()
	s.takeWord("type")
	names, ok := s.bracedNames(nil)
	if !ok || !s.takeWord("from") {
		return false
	}
	return s.quotedModule(start, names)
}

func scriptRequire(s *statements) bool {
	start := s.tok.start
	s.advance()
	return s.take("(") && scriptCall(s, start)
}

// scriptCall reads the argument of require( or import(, which is past the parenthesis. A computed module has no name.
func scriptCall(s *statements, start int) bool {
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

// scriptClause reads what stands between import and from.
func scriptClause(s *statements) ([]string, bool) {
	if s.tok.kind != tokIdent {
		return s.bracedNames(nil)
	}
	modifier := hasWord("type typeof defer source", s.text())
	s.advance()
	switch {
	case s.word("from"): // import type from "m" has a default import named type
	case modifier && s.tok.kind == tokIdent:
		s.advance()
	case modifier && (s.punct("{") || s.punct("*")):
		return s.bracedNames(nil)
	}
	names := []string{"default"}
	if s.take(",") {
		return s.bracedNames(names)
	}
	return names, true
}
