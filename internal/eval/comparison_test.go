package eval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestCompare(t *testing.T) {
	build := func(cases map[string][]eval.Status) *eval.Run {
		tally := eval.NewTally(nil, nil)
		for id, trials := range cases {
			for i, s := range trials {
				tally.Add(&eval.Result{Case: &eval.Case{ID: id, Tool: "ask", Difficulty: eval.Basic}, Trial: i + 1, Status: s})
			}
		}
		return &eval.Run{Summary: tally.Summary(), Cases: tally.Verdicts()}
	}
	base := build(map[string][]eval.Status{
		"a": {eval.Pass}, "b": {eval.Fail}, "c": {eval.Pass, eval.Fail}, "d": {eval.Error}, "e": {eval.Pass}, "old": {eval.Pass},
	})
	run := build(map[string][]eval.Status{
		"a": {eval.Pass}, "b": {eval.Pass}, "c": {eval.Fail, eval.Fail}, "d": {eval.Pass}, "e": {eval.Unscored}, "new": {eval.Fail},
	})
	got := eval.Compare(base, run)
	want := &eval.Comparison{
		Base: base, Run: run, Better: []string{"b"}, Worse: []string{"c"}, Same: 1, Unjudged: []string{"d", "e"}, New: []string{"new"}, Gone: []string{"old"},
		Overall:    eval.Pair{Name: "all", Base: base.Summary.Counts, Run: run.Summary.Counts},
		Difficulty: []eval.Pair{{Name: "basic", Base: base.Summary.Counts, Run: run.Summary.Counts}},
		Tool:       []eval.Pair{{Name: "ask", Base: base.Summary.Counts, Run: run.Summary.Counts}},
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Base" || p.String() == "Run" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d, ok := got.Overall.Delta(); !ok || d >= 0 {
		t.Errorf("delta %v %v, want a loss", d, ok)
	}
}
