package code

import "context"

// askSolc asks solc, which stops behind its parser.
func askSolc(ctx context.Context, p *program, src string) ([]Problem, error) {
	forms := []wrapping{{}}
	l := &lexemes{descent: descent{src: src}, literal: solLiteral, puncts: solPuncts}
	if l.lexAll(); l.problem != nil || !(&solParser{l.descent}).hasContract() {
		forms = append(forms, wrapping{"contract Example {\n", "\n}\n"}, wrapping{"contract Example { function example() public {\n", "\n} }\n"})
	}
	return compiled(src, forms, func(whole string) ([]Problem, error) {
		stdout, stderr, err := p.run(ctx, whole, "--stop-after", "parsing", "-")
		said := stdout + stderr
		if hasAny(said, []string{"requires different compiler version", "unrecognised option", "Unrecognised option"}) {
			return nil, errDeclined
		}
		return compilerSays(said, "not found", "SPDX"), err
	})
}
