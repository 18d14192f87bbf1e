package solidity

import (
	"context"

	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/program"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Ask asks solc, which stops behind its parser.
func Ask(ctx context.Context, p *program.Program, src string) ([]source.Problem, error) {
	forms := []program.Wrapping{{}}
	l := &descent.Lexer{Parser: descent.Parser{Src: src}, Literal: literal, Puncts: puncts}
	if l.LexAll(); l.Problem != nil || !(&parser{l.Parser}).hasContract() {
		forms = append(forms, program.Wrapping{"contract Example {\n", "\n}\n"}, program.Wrapping{"contract Example { function example() public {\n", "\n} }\n"})
	}
	return program.Compiled(src, forms, func(whole string) ([]source.Problem, error) {
		stdout, stderr, err := p.Run(ctx, whole, "--stop-after", "parsing", "-")
		said := stdout + stderr
		if program.HasAny(said, []string{"requires different compiler version", "unrecognised option", "Unrecognised option"}) {
			return nil, program.ErrDeclined
		}
		return program.Messages(said, "not found", "SPDX"), err
	})
}
