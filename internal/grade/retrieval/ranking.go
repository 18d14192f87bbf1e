package retrieval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/reason"
)

// Ranking is the outcome of a search as its metrics see it: documents in
// order, and where the relevant ones stand among them.
type Ranking struct {
	listing
	labels []Label
	docs   []result // the first result of each document
	ranks  []int    // of each label, from 1; 0 when it is not there
}

// Rank finds the results of a response and where the labels are among them. Each document
// answers for one label, the one with the highest grade that it matches and no
// better document did: so no value can pass 1.
func Rank(o *Origin, rel *Relevance, r *eval.Response) (*Ranking, error) {
	l, err := o.results(r)
	if err != nil {
		return nil, err
	}
	k := &Ranking{listing: l, labels: rel.Relevant, ranks: make([]int, len(rel.Relevant))}
	k.docs = documents(l.results, rel.bySection())
	for i, doc := range k.docs {
		best := -1
		for j, l := range k.labels {
			if k.ranks[j] == 0 && (best < 0 || l.grade > k.labels[best].grade) && slices.ContainsFunc(doc.names, l.name.matches) {
				best = j
			}
		}
		if best >= 0 {
			k.ranks[best] = i + 1
		}
	}
	return k, nil
}

// documents keeps the first result of each document. A result without a name
// is a document of its own.
func documents(results []result, bySection bool) (out []result) {
	seen := make(map[string]bool, len(results))
	for _, r := range results {
		key := r.key(bySection)
		if len(r.names) > 0 && seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, r)
	}
	return out
}

// Documents is how many documents were found.
func (r *Ranking) Documents() int { return len(r.docs) }

// None is why there are no results.
func (r *Ranking) None() string { return r.none }

// Recall is the share of the labels that are among the first k documents.
func (r *Ranking) Recall(k int) float64 { return float64(r.found(k)) / float64(len(r.labels)) }

// Precision is the share of the first k places that have a labelled document.
func (r *Ranking) Precision(k int) float64 { return float64(r.found(k)) / float64(k) }

// ReciprocalRank is 1 divided by the place of the first labelled document, 0
// when it is not among the first k.
func (r *Ranking) ReciprocalRank(k int) float64 {
	if at, _ := r.First(); at > 0 && at <= k {
		return 1 / float64(at)
	}
	return 0
}

// NDCG is the discounted cumulative gain of the first k documents, divided by
// that of the best order there can be.
func (r *Ranking) NDCG(k int) float64 { return r.gain(k) / r.ideal(k) }

// found counts the labels among the first k documents.
func (r *Ranking) found(k int) (n int) {
	for _, rank := range r.ranks {
		if rank > 0 && rank <= k {
			n++
		}
	}
	return n
}

// First is the place of the first relevant document, and its label; 0 when
// there is none.
func (r *Ranking) First() (rank int, label string) {
	for i, at := range r.ranks {
		if at > 0 && (rank == 0 || at < rank) {
			rank, label = at, r.labels[i].text
		}
	}
	return rank, label
}

// gain is the discounted cumulative gain of the first k documents, added up
// from the top so that a perfect order gains exactly what the ideal one does.
func (r *Ranking) gain(k int) float64 {
	grades := make([]int, min(k, len(r.docs)))
	for i, at := range r.ranks {
		if at > 0 && at <= k {
			grades[at-1] = r.labels[i].grade
		}
	}
	return discounted(grades)
}

// ideal is the gain of the best order there can be.
func (r *Ranking) ideal(k int) float64 {
	grades := make([]int, len(r.labels))
	for i, l := range r.labels {
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

// Explain says in a failed score where the labels are, and in the details of
// every score what was ranked.
func (r *Ranking) Explain(s eval.Score, k int) eval.Score {
	if s.Status == eval.Fail && len(r.docs) > 0 {
		s.Reason += "; " + r.places()
	}
	type place struct {
		ID    string `json:"id"`
		Grade int    `json:"grade,omitempty"`
		Rank  int    `json:"rank,omitempty"`
	}
	relevant := make([]place, len(r.labels))
	for i, l := range r.labels {
		relevant[i] = place{ID: l.text, Rank: r.ranks[i]}
		if l.grade > 1 {
			relevant[i].Grade = l.grade
		}
	}
	const most, longest = 50, 200
	retrieved := []string{}
	for _, doc := range r.docs[:min(len(r.docs), k, most)] {
		retrieved = append(retrieved, reason.OneLine(doc.text, longest))
	}
	s.Details = map[string]any{"relevant": relevant, "retrieved": retrieved, "documents": len(r.docs)}
	if r.where != "" {
		s.Details["from"] = "results " + r.where
	}
	return s
}

// places says where the labels are, best first, as many as fit a line.
func (r *Ranking) places() string {
	order := make([]int, len(r.labels))
	for i := range order {
		order[i] = i
	}
	behind := func(i int) int { return cmp.Or(r.ranks[i], math.MaxInt) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(behind(a), behind(b)) })
	var b strings.Builder
	fmt.Fprintf(&b, "in %s: ", reason.Count(len(r.docs), "document"))
	for n, i := range order {
		text := fmt.Sprintf("%s at %d", reason.Quote(r.labels[i].text), r.ranks[i])
		if r.ranks[i] == 0 {
			text = reason.Quote(r.labels[i].text) + " nowhere"
		}
		if n > 0 && b.Len()+len(text) > 2*reason.Shown {
			fmt.Fprintf(&b, " and %d more", len(order)-n)
			break
		}
		if n > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text)
	}
	return b.String()
}
