package grade

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// precisionAtK passes when enough of the first K documents are relevant.
type precisionAtK struct {
	relevance
	cutoff
	threshold
	origin
}

var precisionAtKKind = kind.Kind[eval.Grader]{
	Name:    "precision_at_k",
	Graded:  true,
	Section: eval.RetrievalSection,
	Order:   2,
	NotMode: unwantedResult,
	Doc:     "Enough of the first k documents of a search are relevant.",
	Mode:    "irrelevant results",
	Explain: `The value is the number of relevant documents among the first k, divided by k, also where the search gave fewer. With
fewer labels than k it cannot reach 1; a threshold out of reach is refused.

` + thresholdDoc + "\n\n" + originDoc,
	Example: `- type: precision_at_k
  k: 3
  threshold: 0.3
  relevant: [mina/merkle-trees.md, mina/indexed-merkle-map.md]
`,
	New: func() eval.Grader { return new(precisionAtK) },
}

// Check makes labels and path ready.
func (g *precisionAtK) Check() error {
	n := len(g.Relevant)
	best := float64(min(g.k(), n)) / float64(g.k())
	return errors.Join(g.checkLabels(), g.checkReachable(atK("precision", g.k()), best, n), g.checkOrigin())
}

func (g *precisionAtK) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	ranked, err := rank(&g.origin, &g.relevance, a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	value := float64(ranked.found(g.k())) / float64(g.k())
	return ranked.measured(atK("precision", g.k()), value, g.threshold, g.k()), nil
}
