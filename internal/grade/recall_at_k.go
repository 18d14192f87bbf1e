package grade

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/retrieval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// recallAtK passes when enough of the relevant documents are among the first K.
type recallAtK struct {
	retrieval.Relevance
	cutoff
	threshold
	retrieval.Origin
}

var recallAtKKind = kind.Kind[eval.Grader]{
	Name:    "recall_at_k",
	Graded:  true,
	Section: eval.RetrievalSection,
	Order:   1,
	NotMode: unwantedResult,
	Doc:     "Enough of the relevant documents are among the first k of a search.",
	Mode:    missingResult,
	Explain: `The value is the number of relevant documents among the first k, divided by the number of labels. With more labels than
k it cannot reach 1; a threshold out of reach is refused.

` + thresholdDoc + "\n\n" + originDoc,
	Example: `- type: recall_at_k
  k: 5
  threshold: 0.5
  relevant: [mina/merkle-trees.md, mina/indexed-merkle-map.md]
`,
	New: func() eval.Grader { return new(recallAtK) },
}

// Check makes labels and path ready.
func (g *recallAtK) Check() error {
	n := len(g.Relevant)
	best := float64(min(g.k(), n)) / float64(n)
	return errors.Join(g.CheckLabels(), g.checkReachable(atK("recall", g.k()), best, n), g.CheckOrigin())
}

func (g *recallAtK) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	ranked, err := retrieval.Rank(&g.Origin, &g.Relevance, a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	return g.measured(ranked, atK("recall", g.k()), ranked.Recall(g.k()), g.k()), nil
}
