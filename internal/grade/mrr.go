package grade

import (
	"cmp"
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/retrieval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// mrr passes when the first relevant document stands high enough.
type mrr struct {
	retrieval.Relevance
	K int `yaml:"k" json:"k,omitempty" jsonschema:"how many documents from the top are looked at; all of them if not given" check:"min=1,max=1000"`
	threshold
	retrieval.Origin
}

var mrrKind = kind.Kind[eval.Grader]{
	Name:    "mrr",
	Graded:  true,
	Section: eval.RetrievalSection,
	Order:   4,
	NotMode: unwantedResult,
	Doc:     "The first relevant document of a search stands high enough.",
	Mode:    poorRanking,
	Explain: `The value is the reciprocal rank, 1 divided by the place of the first relevant document: 1, 0.5, 0.3333 and so on, and 0
when there is none, or none among the first k. Its mean over the cases of a run is the mean reciprocal rank.

` + thresholdDoc + "\n\n" + originDoc,
	Example: `- type: mrr
  threshold: 0.5
  relevant: [mina/merkle-trees.md, mina/indexed-merkle-map.md]
`,
	New: func() eval.Grader { return new(mrr) },
}

// Check makes labels and path ready.
func (g *mrr) Check() error { return errors.Join(g.CheckLabels(), g.CheckOrigin()) }

func (g *mrr) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	ranked, err := retrieval.Rank(&g.Origin, &g.Relevance, a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	metric := "reciprocal rank"
	if g.K > 0 {
		metric = atK(metric, g.K)
	}
	k := cmp.Or(g.K, retrieval.MaxResults)
	return g.measured(ranked, metric, ranked.ReciprocalRank(k), k), nil
}
