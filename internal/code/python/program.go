package python

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/mettle-eval/mettle/internal/code/program"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// checkProgram reads a list of sources as JSON and writes what ast.parse says of each. It runs none of them.
//
//go:embed check.py
var checkProgram string

// Ask asks python3.
func Ask(ctx context.Context, p *program.Program, src string) (problems []source.Problem, err error) {
	parts := pieces(src)
	sources := make([]string, len(parts))
	for i, part := range parts {
		var checked bool
		if sources[i], checked = part.plain(); !checked {
			return nil, program.ErrDeclined
		}
	}
	input, err := json.Marshal(sources)
	if err != nil {
		return nil, err
	}
	out, _, err := p.Run(ctx, string(input), "-I", "-S", "-W", "ignore", "-c", checkProgram)
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
			return nil, program.ErrDeclined // nested too deep for it
		default:
			problems = append(problems, source.Problem{Line: parts[i].line + max(r.Line, 1) - 1, Col: max(r.Col, 1) + parts[i].indent, Message: r.Message})
		}
	}
	return problems, nil
}

// plain is the part's text without what only a notebook understands; false for a cell of another language.
func (s piece) plain() (string, bool) {
	if problem, _ := parse(s.text); problem == nil {
		return s.text, true
	}
	problem, checked := s.parse()
	if problem == nil && checked {
		return withoutCommands(s.text), true
	}
	return s.text, checked
}
