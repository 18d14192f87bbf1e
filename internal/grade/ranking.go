package grade

import (
	"cmp"
	"math"
	"strconv"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/retrieval"
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

// originDoc is the part of an explanation that says what is ranked.
const originDoc = "The ranked results are found in the answer's JSON (structured content, or a text that is JSON as a whole), else in its\n" +
	"source list, else in its text; `from` asks for one of these. In JSON it is the list under `results`, `items`, `documents`,\n" +
	"`hits`, `sources` or the like whose entries have a url, path or id; `path` leads to any other. In text it is the `URL:` or\n" +
	"`Path:` lines, or else the URLs in order.\n\n" +
	"A label is a URL, the end of a URL or path (`merkle-trees.md`, `mina/merkle-trees`), or an id. Scheme, case of the host,\n" +
	"extension of the page and a `#fragment` that the label has not do not matter. Several results from one document count as\n" +
	"one, at the best place.\n\n" +
	"No results is a value of 0. Results that cannot be read leave the check unscored: a path that leads nowhere, entries\n" +
	"without url, path and id."

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

// measured is the score of a metric with a threshold.
func (t threshold) measured(r *retrieval.Ranking, metric string, value float64, k int) eval.Score {
	seen := metric + " is " + rounded(value)
	if r.Documents() == 0 {
		seen += ", as " + r.None()
	}
	s := judged(t.met(value), seen, bounds(&t.Threshold, nil))
	s.Value = value
	return r.Explain(s, k)
}

// rounded writes a value of a metric with four digits at most.
func rounded(v float64) string {
	return decimal(math.Round(v*1e4) / 1e4)
}

// atK is a metric's name with its k.
func atK(metric string, k int) string { return metric + "@" + strconv.Itoa(k) }
