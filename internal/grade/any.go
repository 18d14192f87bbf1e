package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// anyOf passes when one of the checks inside it does.
type anyOf struct{ children }

var anyKind = kind.Kind[eval.Grader]{
	Name: "any",
	Doc:  "At least one of several checks passes.",
	Explain: `Every check inside is graded, so that the report shows them all. Each has its own ` + "`not`" + ` and ` + "`of`" + `; one of
` + "`severity: warn`" + ` is shown and does not decide.

` + decidedDoc,
	Example: `- type: any
  checks:
    - type: has_import
      module: o1js
    - type: is_error
`,
	New: func() eval.Grader { return new(anyOf) },
}

// Check looks at the checks inside together.
func (g *anyOf) Check() error { return g.arrange(false) }

func (g *anyOf) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	return atLeast(1, g.scores(ctx, a))
}
