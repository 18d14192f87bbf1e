package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// all passes when every check inside it does.
type all struct{ children }

var allKind = kind.Kind[eval.Grader]{
	Name: "all",
	Doc:  "Every one of several checks passes.",
	Explain: `Useful inside ` + "`any`" + `, or to give several checks one key, weight and severity. Each check inside has its own ` + "`not`" + ` and
` + "`of`" + `; one of ` + "`severity: warn`" + ` is shown and does not decide.

` + decidedDoc,
	Example: `- type: all
  checks:
    - type: has_code_block
      language: typescript
    - type: contains
      value: SmartContract
`,
	New: func() eval.Grader { return new(all) },
}

// Check looks at the checks inside together.
func (g *all) Check() error { return g.arrange(false) }

func (g *all) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	return atLeast(g.deciding(), g.scores(ctx, a))
}
