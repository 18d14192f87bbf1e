package grade

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
)

// cutoff says how many documents a metric looks at.
type cutoff struct {
	K int `yaml:"k" json:"k,omitempty" jsonschema:"how many documents from the top are looked at" check:"min=1,max=1000,default=10"`
}

func (c cutoff) k() int { return cmp.Or(c.K, 10) }

// threshold says what value of a metric is good enough.
type threshold struct {
	Threshold float64 `yaml:"threshold" json:"threshold" jsonschema:"lowest value that passes, from 0 to 1; 0 only measures" check:"required,min=0,max=1"`
}

// thresholdDoc is the part of an explanation that says when a metric passes.
const thresholdDoc = "There is no default threshold: how good is good enough is for the suite to say. 0 only measures, for a gate on the mean\n" +
	"such as `score{kind=mrr} >= 0.7`."

// slack makes up for what a float loses: 2 of 3 must meet 0.6666666667.
const slack = 1e-9

func (t threshold) met(value float64) bool { return value >= t.Threshold-slack }

// checkReachable wants a threshold that the best of all rankings can meet.
func (t threshold) checkReachable(metric string, best float64, labels int) error {
	if best >= t.Threshold-slack {
		return nil
	}
	return fieldErrorf("threshold", "threshold is %s, and %s is %s at most with %s", decimal(t.Threshold), metric, rounded(best), counted(labels, "label"))
}

// ranking is the outcome of a search as its metrics see it: documents in
// order, and where the relevant ones stand among them.
type ranking struct {
	listing
	labels []label
	docs   []result // the first result of each document
	ranks  []int    // of each label, from 1; 0 when it is not there
}

// rank puts the results of a response and the labels together. Each document
// answers for one label, the one with the highest grade that it matches and no
// better document did: so no value can pass 1.
func rank(o *origin, rel *relevance, r *eval.Response) (*ranking, error) {
	l, err := o.results(r)
	if err != nil {
		return nil, err
	}
	k := &ranking{listing: l, labels: rel.Relevant, ranks: make([]int, len(rel.Relevant))}
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

// documents keeps the first result of each document. One that has no name is
// nobody's second.
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

// found counts the labels among the first k documents.
func (r *ranking) found(k int) (n int) {
	for _, rank := range r.ranks {
		if rank > 0 && rank <= k {
			n++
		}
	}
	return n
}

// first is the place of the first relevant document, and its label; 0 when
// there is none.
func (r *ranking) first() (rank int, label string) {
	for i, at := range r.ranks {
		if at > 0 && (rank == 0 || at < rank) {
			rank, label = at, r.labels[i].text
		}
	}
	return rank, label
}

// measured is the score of a metric with a threshold.
func (r *ranking) measured(metric string, value float64, t threshold, k int) eval.Score {
	seen := metric + " is " + rounded(value)
	if len(r.docs) == 0 {
		seen += ", as " + r.none
	}
	s := judged(t.met(value), seen, bounds(&t.Threshold, nil))
	s.Value = value
	return r.explained(s, k)
}

// explained says in a failed score where the labels stand, and in the details
// of each what was ranked.
func (r *ranking) explained(s eval.Score, k int) eval.Score {
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
		retrieved = append(retrieved, oneLine(doc.text, longest))
	}
	s = s.Detail("relevant", relevant).Detail("retrieved", retrieved).Detail("documents", len(r.docs))
	if r.where != "" {
		s = s.Detail("from", "results "+r.where)
	}
	return s
}

// places says where the labels stand, best first, as many as fit a line.
func (r *ranking) places() string {
	order := make([]int, len(r.labels))
	for i := range order {
		order[i] = i
	}
	behind := func(i int) int { return cmp.Or(r.ranks[i], math.MaxInt) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(behind(a), behind(b)) })
	var b strings.Builder
	fmt.Fprintf(&b, "in %s: ", counted(len(r.docs), "document"))
	for n, i := range order {
		text := fmt.Sprintf("%s at %d", quote(r.labels[i].text), r.ranks[i])
		if r.ranks[i] == 0 {
			text = quote(r.labels[i].text) + " nowhere"
		}
		if n > 0 && b.Len()+len(text) > 2*shown {
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

// rounded writes a value of a metric with four digits at most.
func rounded(v float64) string {
	return decimal(math.Round(v*1e4) / 1e4)
}

// atK is a metric's name with its k.
func atK(metric string, k int) string { return metric + "@" + strconv.Itoa(k) }
