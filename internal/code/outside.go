package code

import (
	"context"
	_ "embed"
	"encoding/json"
)

// pythonProgram reads a list of sources as JSON and writes what ast.parse says of each. It runs none of them.
//
//go:embed check.py
var pythonProgram string

// pythonOutside asks python3.
func pythonOutside(ctx context.Context, t Tools, src string) (Verdict, bool) {
	if t.Python == "" {
		return Verdict{}, false
	}
	parts := pythonParts(src)
	sources := make([]string, len(parts))
	for i, part := range parts {
		var checked bool
		if sources[i], checked = part.plain(); !checked {
			return Verdict{}, false
		}
	}
	input, err := json.Marshal(sources)
	if err != nil {
		return Verdict{}, false
	}
	out, _, ok := t.run(ctx, string(input), t.Python, "-I", "-S", "-W", "ignore", "-c", pythonProgram)
	if !ok {
		return Verdict{}, false
	}
	var said struct {
		Version string
		Results []struct {
			OK        bool
			Line, Col int
			Message   string
		}
	}
	if json.Unmarshal([]byte(out), &said) != nil || len(said.Results) != len(parts) {
		return Verdict{}, false
	}
	v := Verdict{Checked: true, Checker: "python3 " + said.Version + " ast"}
	for i, r := range said.Results {
		if r.OK {
			continue
		}
		if r.Message == "" {
			return Verdict{}, false // it gave up
		}
		p := Problem{Line: parts[i].line + max(r.Line, 1) - 1, Col: max(r.Col, 1) + parts[i].indent, Message: r.Message}
		v.Problems = append(v.Problems, p)
	}
	return v, true
}

// plain is the part's text without what only a notebook understands; false for a cell of another language.
func (s pythonPart) plain() (string, bool) {
	if problem, _ := parsePython(s.text); problem == nil {
		return s.text, true
	}
	problem, checked := s.parse()
	if problem == nil && checked {
		return withoutCommands(s.text), true
	}
	return s.text, checked
}

// rustOutside asks rustfmt.
func rustOutside(ctx context.Context, t Tools, src string) (Verdict, bool) {
	if t.Rustfmt == "" {
		return Verdict{}, false
	}
	forms := []wrapping{{}}
	if l := lexRust(src); l.problem != nil || !(&rustParser{descent: l.descent}).hasMain() {
		forms = append(forms, wrapping{"fn example() {\n", "\n}\n"})
	}
	problems, ok := t.compiled(src, forms, func(whole string) ([]Problem, bool) {
		_, stderr, ok := t.run(ctx, whole, t.Rustfmt, "--edition", "2021", "--emit", "stdout", "--color", "never")
		return compilerSays(stderr, "file not found for module"), ok
	})
	return Verdict{Problems: problems, Checked: true, Checker: t.version(ctx, "rustfmt", t.Rustfmt)}, ok
}

// solidityOutside asks solc, which stops behind its parser.
func solidityOutside(ctx context.Context, t Tools, src string) (Verdict, bool) {
	if t.Solc == "" {
		return Verdict{}, false
	}
	forms := []wrapping{{}}
	l := &lexemes{descent: descent{src: src}, literal: solLiteral, puncts: solPuncts}
	if l.lexAll(); l.problem != nil || !(&solParser{l.descent}).hasContract() {
		forms = append(forms, wrapping{"contract Example {\n", "\n}\n"}, wrapping{"contract Example { function example() public {\n", "\n} }\n"})
	}
	problems, ok := t.compiled(src, forms, func(whole string) ([]Problem, bool) {
		stdout, stderr, ok := t.run(ctx, whole, t.Solc, "--stop-after", "parsing", "-")
		said := stdout + stderr
		if !ok || hasAny(said, []string{"requires different compiler version", "unrecognised option", "Unrecognised option"}) {
			return nil, false
		}
		return compilerSays(said, "not found", "SPDX"), true
	})
	return Verdict{Problems: problems, Checked: true, Checker: t.version(ctx, "solc", t.Solc)}, ok
}
