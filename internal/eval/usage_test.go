package eval_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestASkippedCheckCountsNowhere(t *testing.T) {
	skips := func(context.Context, *eval.Attempt) (eval.Score, error) {
		return eval.Skipped("no judge was asked for"), nil
	}
	half := func(context.Context, *eval.Attempt) (eval.Score, error) {
		return eval.Score{Status: eval.Pass, Value: 0.5}, nil
	}
	s := &eval.Suite{Name: "s", Cases: []*eval.Case{
		{ID: "some", Suite: "s", Checks: []*eval.Check{check("judge", skips), check("half", half)}},
		{ID: "all", Suite: "s", Checks: []*eval.Check{check("judge", skips)}},
	}}
	got := run(t, t.Context(), newRunner(answer), s)
	if got.Summary.Passed != 1 || got.Summary.Skipped != 1 || got.Summary.Score.Mean != 0.5 {
		t.Errorf("summary %+v, want one pass of value 0.5 and one skip", got.Summary)
	}
	for _, k := range got.Summary.ByKey {
		if k.Name == "judge" && (k.Skipped != 2 || k.Judged() != 0) {
			t.Errorf("judge: %+v, want two skips and no verdict", k)
		}
	}
}

func TestScoresInsideScoresAreCountedUnderTheirKeys(t *testing.T) {
	nested := func(context.Context, *eval.Attempt) (eval.Score, error) {
		return eval.Score{Status: eval.Pass, Value: 0.9, Usage: &eval.Usage{Calls: 2, Input: 10, Cost: eval.Dollars(0.1)}, Checks: []eval.Score{
			{Key: "accuracy", Kind: "accuracy", Status: eval.Pass, Value: 0.8, Usage: &eval.Usage{Calls: 2, Input: 10, Cost: eval.Dollars(0.1)}},
		}}, nil
	}
	s := &eval.Suite{Name: "s", Cases: []*eval.Case{{ID: "1", Suite: "s", Checks: []*eval.Check{check("composite", nested)}}}}
	got := run(t, t.Context(), newRunner(answer), s)
	keys := map[string]float64{}
	for _, k := range got.Summary.ByKey {
		keys[k.Name] = k.Mean
	}
	if diff := cmp.Diff(map[string]float64{"composite": 0.9, "accuracy": 0.8}, keys); diff != "" {
		t.Error(diff)
	}
	want := eval.Usage{Calls: 2, Input: 10, Cost: eval.Dollars(0.1)}
	if got.Summary.Usage == nil || got.Summary.Usage.Judge != want {
		t.Errorf("usage %+v, want the composite's alone: it holds the other's", got.Summary.Usage)
	}
}

func TestASpentBudgetStopsTheRunAndLosesNoCase(t *testing.T) {
	spent := &eval.Stop{Why: "the budget of $1 is spent"}
	for _, in := range []string{"target", "grader"} {
		target := func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
			if in == "target" && a.Case.ID == "2" {
				return nil, spent
			}
			return answer(ctx, a)
		}
		grader := func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
			c := a.Case
			if in == "grader" && c.ID == "2" {
				return eval.Score{}, spent
			}
			return eval.PassIf(true, "fine"), nil
		}
		s := &eval.Suite{Name: "s"}
		for _, id := range []string{"1", "2", "3"} {
			s.Cases = append(s.Cases, &eval.Case{ID: id, Suite: "s", Checks: []*eval.Check{check("k", grader)}})
		}
		r := newRunner(target)
		oneByOne(r)
		got := run(t, t.Context(), r, s)
		if got.Header.Status != eval.Stopped || got.Why != spent.Why || got.Summary.Total != 1 || got.Summary.Errors != 0 {
			t.Errorf("%s: %s (%s), %+v; want stopped after one result and no error", in, got.Header.Status, got.Why, got.Summary.Counts)
		}
	}
}

func TestChecksHaveATimeLimitOfTheirOwn(t *testing.T) {
	slow := func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
		<-ctx.Done()
		return answer(context.WithoutCancel(ctx), a)
	}
	alive := func(ctx context.Context, _ *eval.Attempt) (eval.Score, error) {
		return eval.PassIf(ctx.Err() == nil, "the check has time"), nil
	}
	r := newRunner(slow)
	r.Env.Timeout = 5 * time.Millisecond
	s := &eval.Suite{Name: "s", Cases: []*eval.Case{{ID: "1", Suite: "s", Checks: []*eval.Check{check("k", alive)}}}}
	if got := run(t, t.Context(), r, s); got.Summary.Passed != 1 {
		t.Errorf("%+v, want a pass: the answer came, and the check had its own time", got.Summary.Counts)
	}
}

func TestDollarsAddUpExactlyAndReadBack(t *testing.T) {
	var sum eval.USD
	for range 10 {
		sum += eval.Dollars(0.1)
	}
	b, err := json.Marshal(sum)
	if err != nil || string(b) != "1" {
		t.Errorf("ten times 0.1 is %s (%v), want 1", b, err)
	}
	var back eval.USD
	if err := json.Unmarshal([]byte("0.000000123"), &back); err != nil || back != 123 {
		t.Errorf("read back %d (%v), want 123", back, err)
	}
	for d, want := range map[float64]string{0: "$0", 1.234: "$1.23", 0.01234: "$0.0123", 0.00001: "<$0.0001"} {
		if got := eval.Dollars(d).String(); got != want {
			t.Errorf("%v is shown as %s, want %s", d, got, want)
		}
	}
}
