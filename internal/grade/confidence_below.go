package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// confidenceBelow passes when the answer states a confidence under Threshold.
type confidenceBelow struct {
	metadataOnly
	Threshold float64 `yaml:"threshold" json:"threshold" jsonschema:"lowest confidence that does not pass" check:"required,min=0,max=100"`
}

var confidenceBelowKind = kind.Kind[eval.Grader]{
	Name:    "confidence_below",
	Doc:     "The answer's metadata states a confidence under threshold.",
	Mode:    highConfidence,
	NotMode: lowConfidence,
	Explain: `For questions a server should not be sure about. The threshold itself fails: what is not below is what
` + "`confidence_above`" + ` passes. An answer that states no confidence fails here too: it does not say that it is unsure.`,
	Example: `- type: confidence_below
  threshold: 30
`,
	New: func() eval.Grader { return new(confidenceBelow) },
}

func (g *confidenceBelow) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	v, why := metaNumber(a.Response, "confidence")
	if why != "" {
		return judged(false, why, "below "+decimal(g.Threshold)), nil
	}
	return judged(v < g.Threshold, "confidence "+decimal(v), "below "+decimal(g.Threshold)).Detail("confidence", v), nil
}
