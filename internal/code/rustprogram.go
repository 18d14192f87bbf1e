package code

import "context"

// askRustfmt asks rustfmt.
func askRustfmt(ctx context.Context, p *program, src string) ([]Problem, error) {
	forms := []wrapping{{}}
	if l := lexRust(src); l.problem != nil || !(&rustParser{descent: l.descent}).hasMain() {
		forms = append(forms, wrapping{"fn example() {\n", "\n}\n"})
	}
	return compiled(src, forms, func(whole string) ([]Problem, error) {
		_, stderr, err := p.run(ctx, whole, "--edition", "2021", "--emit", "stdout", "--color", "never")
		return compilerSays(stderr, "file not found for module"), err
	})
}
