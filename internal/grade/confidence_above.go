package grade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// confidenceAbove passes when the answer states a confidence of at least
// Threshold.
type confidenceAbove struct {
	metadataOnly
	Threshold float64 `yaml:"threshold" json:"threshold" jsonschema:"lowest confidence that passes" check:"required,min=0,max=100"`
}

var confidenceAboveKind = kind.Kind[eval.Grader]{
	Name:    "confidence_above",
	Doc:     "The answer's metadata states a confidence of at least threshold.",
	Mode:    lowConfidence,
	NotMode: highConfidence,
	Explain: `Passes at the threshold itself too. The number is ` + "`confidence`" + ` of the parsed metadata, never the first thing in the
text that looks like one: a spoofed ` + "`\"confidence\": 99`" + ` in prose or code does not count, and decimals are kept. An answer
that states no confidence fails, as if it were 0.`,
	Example: `- type: confidence_above
  threshold: 40
`,
	New: func() eval.Grader { return new(confidenceAbove) },
}

func (g *confidenceAbove) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	v, why := metaNumber(a.Response, "confidence")
	if why != "" {
		return judged(g.Threshold <= 0, why, bounds(&g.Threshold, nil)), nil
	}
	return judged(v >= g.Threshold, "confidence "+decimal(v), bounds(&g.Threshold, nil)).Detail("confidence", v), nil
}

// metadataOnly marks a grader that never looks at the answer's text, for which
// `of` has no meaning.
type metadataOnly struct{}

func (metadataOnly) readsNoText() {}

// metaNumber is a number of the answer's metadata, or why there is none.
func metaNumber(r *eval.Response, key string) (v float64, why string) {
	if v, ok := r.MetaNumber(key); ok {
		return v, ""
	}
	switch given, ok := r.Meta[key]; {
	case r.MetaBroken != "":
		return 0, fmt.Sprintf("no %s: %s", key, cut(r.MetaBroken))
	case len(r.Meta) == 0:
		return 0, fmt.Sprintf("no %s: the answer has no metadata", key)
	case ok:
		b, _ := json.Marshal(given)
		return 0, fmt.Sprintf("%s in the answer's metadata is %s, not a number", key, cut(string(b)))
	}
	return 0, fmt.Sprintf("no %s in the answer's metadata, which has %s", key, metaKeys(r.Meta))
}

func metaKeys(meta map[string]any) string {
	keys := make([]string, 0, len(meta))
	for k := range meta {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return quoteAll(keys)
}
