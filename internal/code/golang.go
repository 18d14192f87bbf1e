package code

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	gotoken "go/token"
	"slices"
	"strings"
)

const goChecker = "go/parser"

var goDialect = dialect{backticks: true}

// goImports reads import "m", import name "m" and groups of them.
func goImports(src string) []Import {
	s := newStatements(src, "go", goDialect)
	for s.tok.kind != tokEOF {
		if s.word("import") && !s.property() {
			goImport(s)
		} else {
			s.advance()
		}
	}
	return s.found
}

func goImport(s *statements) bool {
	start := s.tok.start
	s.advance()
	if !s.take("(") {
		return goSpec(s, start)
	}
	ok := false
	for goSpec(s, s.tok.start) {
		ok = true
		s.take(";")
	}
	return ok && s.take(")")
}

// goSpec reads [name | . | _] "m".
func goSpec(s *statements, start int) bool {
	if s.tok.kind == tokIdent || s.punct(".") {
		s.advance()
	}
	path, ok := s.quotedPath(true)
	if !ok || s.startsWith('\'') || s.prose && s.startsWith('`') { // in prose, backticks are a code span
		return false
	}
	s.add(path, nil, start, s.tok.end)
	s.advance()
	return true
}

// maxGo bounds what go/parser is given: it keeps every error of the scanner, one for each byte of a binary file.
const maxGo = 512 << 10

// goForm is a way to make a whole file of what an answer shows: what is put in front of the source, what between its
// imports and the rest, and what behind it.
type goForm struct {
	before, between, after string
}

// goForms are tried in this order. Documentation shows files, declarations without a package clause, and statements,
// often with the imports they need above them.
var goForms = [...]goForm{
	{},
	{before: "package p;"},
	{before: "package p;", between: "func _() {", after: "\n}"},
}

// goSyntax accepts src if one of the forms parses. Otherwise the form that got furthest is the one that was meant, and
// its errors are reported.
func goSyntax(src string) ([]Problem, bool) {
	if len(src) > maxGo {
		return nil, false
	}
	forms := goForms[1:]
	if lx := newStatements(src, "go", goDialect); lx.word("package") {
		forms = goForms[:1]
	}
	var best failure
	for _, form := range forms {
		errs := form.parse(src)
		if len(errs) == 0 {
			return nil, true
		}
		if slices.ContainsFunc(errs, func(e *scanner.Error) bool { return e.Msg == "exceeded max nesting depth" }) {
			return nil, false
		}
		best = best.further(goFailure(src, errs))
	}
	return best.problems, true
}

// parse returns the errors of src in this form, with offsets in src.
func (f goForm) parse(src string) scanner.ErrorList {
	cut := 0
	if f.between != "" {
		if cut = importsEnd(f.before, src); cut > 0 {
			f.between = ";" + f.between
		}
	}
	whole := f.before + src[:cut] + f.between + src[cut:] + f.after
	fset := gotoken.NewFileSet()
	file, err := parser.ParseFile(fset, "", whole, parser.SkipObjectResolution)
	var errs scanner.ErrorList
	if !errors.As(err, &errs) && err != nil {
		errs = scanner.ErrorList{{Msg: err.Error()}}
	}
	if len(errs) == 0 && f.after != "" && !wraps(file, fset, len(whole)) {
		errs = scanner.ErrorList{{Pos: gotoken.Position{Offset: len(whole)}, Msg: "unexpected closing brace"}}
	}
	for _, e := range errs {
		if f.after != "" && e.Pos.Offset >= len(whole)-len(f.after) {
			e.Msg = strings.Replace(e.Msg, "found '}'", "found the end", 1) // the brace is ours
		}
		if e.Pos.Offset >= len(f.before)+cut+len(f.between) {
			e.Pos.Offset -= len(f.between)
		}
		e.Pos.Offset = min(max(e.Pos.Offset-len(f.before), 0), len(src))
	}
	return errs
}

// importsEnd is the offset in src behind its leading import declarations.
func importsEnd(before, src string) int {
	fset := gotoken.NewFileSet()
	file, err := parser.ParseFile(fset, "", before+src, parser.ImportsOnly|parser.SkipObjectResolution)
	if err != nil || len(file.Decls) == 0 {
		return 0
	}
	return fset.PositionFor(file.Decls[len(file.Decls)-1].End(), false).Offset - len(before)
}

// wraps reports whether the function put around the source ends where it was meant to end; a source like "} func f() {"
// closes it and opens another.
func wraps(file *ast.File, fset *gotoken.FileSet, end int) bool {
	f, ok := file.Decls[len(file.Decls)-1].(*ast.FuncDecl)
	if !ok || f.Name.Name != "_" || f.Recv != nil {
		return false
	}
	for _, d := range file.Decls[:len(file.Decls)-1] {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != gotoken.IMPORT {
			return false
		}
	}
	return fset.PositionFor(f.Body.Rbrace, false).Offset == end-1
}

func goFailure(src string, errs scanner.ErrorList) failure {
	f := failure{offset: errs[0].Pos.Offset}
	for _, e := range errs[:min(len(errs), maxProblems)] {
		f.problems = append(f.problems, problemAt(src, e.Pos.Offset, e.Msg, goChecker))
	}
	return f
}

// goCalls are the rules for calls. A method's name follows the receiver of its func; those of an interface have no func.
// A conversion to a slice, []byte(x), calls nothing that has a name.
var goCalls = callRules{
	keywords: "if for switch select return go defer func import var const type case range else package map chan interface struct",
	defines:  "func type",
	index:    true,
	definition: func(z *tokenized, i, _ int) bool {
		if z.is(i-1, ")") && z.match[i-1] > 0 && z.word(z.match[i-1]-1, "func") {
			return true
		}
		if z.is(i-1, "]") && !z.tokens[i].first {
			return true
		}
		p := z.parent[i]
		return p > 0 && z.is(p, "{") && z.word(p-1, "interface") && z.tokens[i].first
	},
}
