package grade

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/retrieval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// precisionAtK passes when enough of the first K documents are relevant.
type precisionAtK struct {
	retrieval.Relevance
	cutoff
	threshold
	retrieval.Origin
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
	return errors.Join(g.CheckLabels(), g.checkReachable(atK("precision", g.k()), best, n), g.CheckOrigin())
}

func (g *precisionAtK) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	ranked, err := retrieval.Rank(&g.Origin, &g.Relevance, a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	return g.measured(ranked, atK("precision", g.k()), ranked.Precision(g.k()), g.k()), nil
}
