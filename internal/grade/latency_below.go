package grade

import (
	"context"
	"errors"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// latencyBelow passes when the answer came in time.
type latencyBelow struct {
	metadataOnly
	Max kind.Duration `yaml:"max" json:"max" jsonschema:"longest time the answer may take" check:"required"`
}

var latencyBelowKind = kind.Kind[eval.Grader]{
	Name: "latency_below",
	Doc:  "The answer took no longer than max.",
	Mode: "slow answer",
	Explain: `The time is what the target measured for this answer, ` + "`latency_ms`" + ` of the result. Grading stored responses again uses
the time that was measured then. Unscored when no time was measured.`,
	Example: `- type: latency_below
  max: 2s
`,
	New: func() eval.Grader { return new(latencyBelow) },
}

// Check refuses a time that no answer meets.
func (g *latencyBelow) Check() error {
	if g.Max <= 0 {
		return &kind.FieldError{Field: "max", Err: errors.New("max is 0s, want more")}
	}
	return nil
}

func (g *latencyBelow) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	if a.Response.Latency <= 0 {
		return eval.Score{}, errors.New("no latency was measured for this answer")
	}
	limit := time.Duration(g.Max)
	return judged(a.Response.Latency <= limit, "took "+a.Response.Latency.Round(time.Microsecond).String(), "at most "+limit.String()).
		Detail("latency_ms", eval.Millis(a.Response.Latency)), nil
}
