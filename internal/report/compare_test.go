package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestCompareStandsSideBySide(t *testing.T) {
	build := func(statuses ...eval.Status) *eval.Run {
		tally := eval.NewTally(nil)
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
