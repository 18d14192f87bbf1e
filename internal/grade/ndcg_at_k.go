package grade

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// ndcgAtK passes when the order of the first K documents comes near enough to
// the best one.
type ndcgAtK struct {
	relevance
	cutoff
	threshold
	origin
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
func (g *ndcgAtK) Check() error { return errors.Join(g.checkLabels(), g.checkOrigin()) }

func (g *ndcgAtK) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	ranked, err := rank(&g.origin, &g.relevance, a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	value := ranked.gain(g.k()) / g.ideal(g.k())
	return ranked.measured(atK("nDCG", g.k()), value, g.threshold, g.k()), nil
}

// gain is the discounted cumulative gain of the first k documents, added up
// from the top so that a perfect order gains exactly what the ideal one does.
func (r *ranking) gain(k int) float64 {
	grades := make([]int, min(k, len(r.docs)))
	for i, at := range r.ranks {
		if at > 0 && at <= k {
			grades[at-1] = r.labels[i].grade
		}
	}
	return discounted(grades)
}

// ideal is the gain of the best order there can be.
func (r *relevance) ideal(k int) float64 {
	grades := make([]int, len(r.Relevant))
	for i, l := range r.Relevant {
		grades[i] = l.grade
	}
	slices.SortFunc(grades, func(a, b int) int { return b - a })
	return discounted(grades[:min(k, len(grades))])
}

// discounted adds up the gains of grades in order; 0 is not relevant.
func discounted(grades []int) (sum float64) {
	for i, grade := range grades {
		sum += (math.Exp2(float64(grade)) - 1) / math.Log2(float64(i+2))
	}
	return sum
}
