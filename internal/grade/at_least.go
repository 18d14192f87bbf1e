package grade

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// atLeastOf passes when a number of the checks inside it do.
type atLeastOf struct {
	Count int `yaml:"count" json:"count" jsonschema:"how many of the checks must pass" check:"required,min=1"`
	children
}

var atLeastKind = kind.Kind[eval.Grader]{
	Name: "at_least",
	Doc:  "At least count of several checks pass.",
	Explain: `Each check inside has its own ` + "`not`" + ` and ` + "`of`" + `; one of ` + "`severity: warn`" + ` is shown and does not count.

` + decidedDoc,
	Example: `- type: at_least
  count: 2
  checks:
    - type: contains
      value: proof
    - type: contains
      value: witness
    - type: contains
      value: circuit
`,
	New: func() eval.Grader { return new(atLeastOf) },
}

// Check wants a count that the checks inside can reach.
func (g *atLeastOf) Check() error {
	err := g.arrange(false)
	if n := g.deciding(); n > 0 && g.Count > n {
		err = errors.Join(err, fieldErrorf("count", "count is %d, and only %s can pass", g.Count, counted(n, "check")))
	}
	return err
}

func (g *atLeastOf) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	return atLeast(g.Count, g.scores(ctx, a))
}
