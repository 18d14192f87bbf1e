package code

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
)

// pythonProgram reads a list of sources as JSON and writes what ast.parse says of each. It runs none of them.
//
//go:embed check.py
var pythonProgram string

// askPython asks python3.
func askPython(ctx context.Context, p *program, src string) (problems []Problem, err error) {
	parts := pythonParts(src)
	sources := make([]string, len(parts))
	for i, part := range parts {
		var checked bool
		if sources[i], checked = part.plain(); !checked {
			return nil, errDeclined
		}
	}
	input, err := json.Marshal(sources)
	if err != nil {
		return nil, err
	}
	out, _, err := p.run(ctx, string(input), "-I", "-S", "-W", "ignore", "-c", pythonProgram)
	if err != nil {
		return nil, err
	}
	var said []struct {
		OK        bool
		Line, Col int
		Message   string
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		return nil, fmt.Errorf("read the verdict of python3: %w", err)
	}
	if len(said) != len(parts) {
		return nil, fmt.Errorf("python3 gave %d verdicts, want %d", len(said), len(parts))
	}
	for i, r := range said {
		switch {
		case r.OK:
		case r.Message == "":
			return nil, errDeclined // nested too deep for it
		default:
			problems = append(problems, Problem{Line: parts[i].line + max(r.Line, 1) - 1, Col: max(r.Col, 1) + parts[i].indent, Message: r.Message})
		}
	}
	return problems, nil
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
