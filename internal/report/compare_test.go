package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestCompareStandsSideBySide(t *testing.T) {
	build := func(statuses ...eval.Status) *eval.Run {
		tally := eval.NewTally(nil, nil)
		for i, s := range statuses {
			c := &eval.Case{ID: string(rune('a' + i)), Tool: "ask_docs", Project: "mina", Difficulty: eval.Difficulties[i%3]}
			tally.Add(&eval.Result{Case: c, Trial: 1, Status: s, Response: &eval.Response{Meta: map[string]any{"confidence": 60.0}}})
		}
		return &eval.Run{Summary: tally.Summary(), Cases: tally.Verdicts()}
	}
	base := build(eval.Pass, eval.Fail, eval.Pass, eval.Fail)
	run := build(eval.Pass, eval.Pass, eval.Fail, eval.Error)
	var b strings.Builder
	if err := Compare(&b, eval.Compare(base, run), "url", "builtin\x1b", Options{}); err != nil {
		t.Fatal(err)
	}
	want := `Side by side:
                                        url           builtin␛    points
  Pass Rate                     66.7% (2/3)        50.0% (2/4)     +16.7
  basic                        100.0% (1/1)        50.0% (1/2)     +50.0
  intermediate                 100.0% (1/1)         0.0% (0/1)    +100.0
  advanced                       0.0% (0/1)       100.0% (1/1)    -100.0
  ask_docs                      66.7% (2/3)        50.0% (2/4)     +16.7
  mina                          66.7% (2/3)        50.0% (2/4)     +16.7
  Avg Confidence                        60%                60%
  Response Time, median                 0ms                0ms

  1 better, 1 worse, 1 the same, 1 without a verdict in one of them
  better: b
  worse: c
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompareHasTheScoresOfBothRuns(t *testing.T) {
	build := func(scores ...eval.Score) *eval.Run {
		tally := eval.NewTally(nil, nil)
		tally.Add(&eval.Result{Case: &eval.Case{ID: "a"}, Trial: 1, Status: eval.Pass, Scores: scores})
		return &eval.Run{
			Header:  eval.Header{Kinds: map[string]eval.KindInfo{"accuracy": {Graded: true}}},
			Summary: tally.Summary(), Cases: tally.Verdicts(),
		}
	}
	score := func(key string, value float64) eval.Score {
		return eval.Score{Key: key, Kind: "accuracy", Status: eval.Pass, Value: value}
	}
	base := build(score("accuracy", 0.5), score("gone", 1), eval.Score{Key: "seeds", Kind: "contains", Status: eval.Pass, Value: 1})
	run := build(score("accuracy", 0.75), score("new", 0.9), eval.Score{Key: "open", Kind: "accuracy", Status: eval.Unscored})
	var b strings.Builder
	if err := Compare(&b, eval.Compare(base, run), "after", "before", Options{}); err != nil {
		t.Fatal(err)
	}
	want := `  accuracy                        0.750 (1)          0.500 (1)     +25.0
  new                             0.900 (1)                  - 
  open                                    -                  - 
  gone                                    -          1.000 (1) 
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("%s\nwant in it:\n%s", b.String(), want)
	}
}
