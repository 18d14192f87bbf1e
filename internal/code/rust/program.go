package rust

import (
	"context"

	"github.com/mettle-eval/mettle/internal/code/program"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Ask asks rustfmt.
func Ask(ctx context.Context, p *program.Program, src string) ([]source.Problem, error) {
	forms := []program.Wrapping{{}}
	if l := lexRust(src); l.Problem != nil || !(&parser{Parser: l.Parser}).hasMain() {
		forms = append(forms, program.Wrapping{"fn example() {\n", "\n}\n"})
	}
	return program.Compiled(src, forms, func(whole string) ([]source.Problem, error) {
		_, stderr, err := p.Run(ctx, whole, "--edition", "2021", "--emit", "stdout", "--color", "never")
		return program.Messages(stderr, "file not found for module"), err
	})
}
