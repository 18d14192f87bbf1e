package grade

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/retrieval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// ndcgAtK passes when the order of the first K documents comes near enough to
// the best one.
type ndcgAtK struct {
	retrieval.Relevance
	cutoff
	threshold
	retrieval.Origin
}

var ndcgAtKKind = kind.Kind[eval.Grader]{
	Name:    "ndcg_at_k",
	Graded:  true,
	Section: eval.RetrievalSection,
	Order:   5,
	NotMode: unwantedResult,
	Doc:     "The order of the first k documents of a search is near enough to the best one.",
	Mode:    poorRanking,
	Explain: `The value is the discounted cumulative gain of the first k documents, divided by that of the best order of all labels, cut
at k too. A document of grade g at place i gains (2^g - 1) / log2(i + 1). A label without a grade has grade 1, so that without
any grades each relevant document gains 1 / log2(i + 1).

` + thresholdDoc + "\n\n" + originDoc,
	Example: `- type: ndcg_at_k
  k: 5
  threshold: 0.6
  relevant:
    - {id: mina/merkle-trees.md, grade: 3}
    - {id: mina/indexed-merkle-map.md, grade: 2}
    - mina/offchain-state.md
`,
	New: func() eval.Grader { return new(ndcgAtK) },
}

// Check makes labels and path ready.
func (g *ndcgAtK) Check() error { return errors.Join(g.CheckLabels(), g.CheckOrigin()) }

func (g *ndcgAtK) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	ranked, err := retrieval.Rank(&g.Origin, &g.Relevance, a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	return g.measured(ranked, atK("nDCG", g.k()), ranked.NDCG(g.k()), g.k()), nil
}
