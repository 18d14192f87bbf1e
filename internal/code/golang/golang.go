// Package golang checks Go by go/parser, whole files and fragments, and reads its imports and calls.
package golang

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	gotoken "go/token"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Checker is who decides on the syntax.
const Checker = "go/parser"

// Dialect is how Go is cut into tokens.
var Dialect = scan.Dialect{Backticks: true}

// Imports reads import "m", import name "m" and groups of them.
func Imports(src string) []scan.Import {
	s := scan.NewStatements(src, "go", Dialect)
	for s.Tok.Kind != scan.EOF {
		if s.Word("import") && !s.Property() {
			Import(s)
		} else {
			s.Advance()
		}
	}
	return s.Found
}

// Import reads the import declaration that begins at the current token.
func Import(s *scan.Statements) bool {
	start := s.Tok.Start
	s.Advance()
	if !s.Take("(") {
		return spec(s, start)
	}
	ok := false
	for spec(s, s.Tok.Start) {
		ok = true
		s.Take(";")
	}
	return ok && s.Take(")")
}

// spec reads [name | . | _] "m".
func spec(s *scan.Statements, start int) bool {
	if s.Tok.Kind == scan.Ident || s.Punct(".") {
		s.Advance()
	}
	path, ok := s.QuotedPath(true)
	if !ok || s.StartsWith('\'') || s.Prose && s.StartsWith('`') { // in prose, backticks are a code span
		return false
	}
	s.Add(path, nil, start, s.Tok.End)
	s.Advance()
	return true
}

// maxGo bounds what go/parser is given: it keeps every error of the scanner, one for each byte of a binary file.
const maxGo = 512 << 10

// wrapForm is a way to make a whole file of what an answer shows: what is put in front of the source, what between its
// imports and the rest, and what behind it.
type wrapForm struct {
	before, between, after string
}

// wrapForms are tried in this order. Documentation shows files, declarations without a package clause, and statements,
// often with the imports they need above them.
var wrapForms = [...]wrapForm{
	{},
	{before: "package p;"},
	{before: "package p;", between: "func _() {", after: "\n}"},
}

// Check accepts src if one of the forms parses. Otherwise the form that got furthest is the one that was meant, and
// its errors are reported.
func Check(src string) ([]source.Problem, bool) {
	if len(src) > maxGo {
		return nil, false
	}
	forms := wrapForms[1:]
	if lx := scan.NewStatements(src, "go", Dialect); lx.Word("package") {
		forms = wrapForms[:1]
	}
	var best source.Failure
	for _, form := range forms {
		errs := form.parse(src)
		if len(errs) == 0 {
			return nil, true
		}
		if slices.ContainsFunc(errs, func(e *scanner.Error) bool { return e.Msg == "exceeded max nesting depth" }) {
			return nil, false
		}
		best = best.Further(failure(src, errs))
	}
	return best.Problems, true
}

// parse returns the errors of src in this form, with offsets in src.
func (f wrapForm) parse(src string) scanner.ErrorList {
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

func failure(src string, errs scanner.ErrorList) source.Failure {
	f := source.Failure{Offset: errs[0].Pos.Offset}
	for _, e := range errs[:min(len(errs), source.MaxProblems)] {
		f.Problems = append(f.Problems, source.ProblemAt(src, e.Pos.Offset, e.Msg, Checker))
	}
	return f
}

// Calls are the rules for calls. A method's name follows the receiver of its func; those of an interface have no func.
// A conversion to a slice, []byte(x), calls nothing that has a name.
var Calls = scan.CallRules{
	Keywords: "if for switch select return go defer func import var const type case range else package map chan interface struct",
	Defines:  "func type",
	Index:    true,
	Definition: func(z *scan.List, i, _ int) bool {
		if z.Is(i-1, ")") && z.Match[i-1] > 0 && z.Word(z.Match[i-1]-1, "func") {
			return true
		}
		if z.Is(i-1, "]") && !z.Tokens[i].First {
			return true
		}
		p := z.Parent[i]
		return p > 0 && z.Is(p, "{") && z.Word(p-1, "interface") && z.Tokens[i].First
	},
}
