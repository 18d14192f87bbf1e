package code

import "context"

// Tools are programs outside this one that can check a syntax: their paths, empty for those that are not to be used.
type Tools struct {
	Python  string // python3: parses, and never runs, the code
	Rustfmt string
	Solc    string
}

// Verdict is the outcome of a check of syntax.
type Verdict struct {
	Problems []Problem
	Checked  bool   // false: nothing can be said of the source, see [Syntax]
	Checker  string // who spoke: "esbuild", "mettle", "python3 3.11.7 ast"
}

// SyntaxWith is [Syntax] with the help of outside programs for the languages whose own compilers know better. Where the
// program is not there, or does not come to a verdict in time, the parser of this package speaks.
func SyntaxWith(ctx context.Context, lang, src string, tools Tools) Verdict {
	l := find(Canonical(lang))
	if l == nil || l.syntax == nil {
		return Verdict{}
	}
	problems, checked := l.check(src)
	v := Verdict{Problems: problems, Checked: checked}
	if checked {
		v.Checker = l.checker
	}
	return v
}
