package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mettle-eval/mettle/internal/eval"
)

// world is a random run: results of a few kinds of cases, and gates on them.
type world struct {
	results []*eval.Result
	gates   []eval.Gate
}

var (
	checkKinds   = []string{"contains", "has_code_block", "accuracy"}
	gateSubjects = []string{
		"", "{difficulty=basic}", "{difficulty=advanced}", "{tool=ask}", "{tool=none}", "{tag=x}", "{target=good}",
		"{kind=contains}", "{kind=accuracy}", "{key=contains}", "{kind=nothing}", "{kind=has_code_block,difficulty=basic}",
	}
	gateTests = []string{
		"pass_rate%s >= 0%%", "pass_rate%s >= 50%%", "pass_rate%s >= 100%%", "failed%s <= 3", "failed%s <= 1000", "passed%s >= 0",
		"score%s >= 0%%", "errors%s <= 100", "unscored%s <= 100", "latency_p95%s <= 10s", "total%s >= 0", "skipped%s <= 100",
	}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func randomWorld(r *rand.Rand) world {
	var w world
	for i := range r.IntN(6) {
		c := &eval.Case{
			ID: fmt.Sprint(i), Suite: "s", Target: pick(r, []string{"good", "url"}),
			Difficulty: pick(r, []eval.Difficulty{eval.Basic, eval.Advanced}), Tool: pick(r, []string{"ask", "search"}),
		}
		if r.IntN(2) == 0 {
			c.Tags = []string{"x"}
		}
		var statuses []eval.Status
		for range checkKinds {
			statuses = append(statuses, pick(r, []eval.Status{eval.Pass, eval.Fail, eval.Fail, eval.Unscored, eval.Skip}))
		}
		for i, kind := range checkKinds {
			c.Checks = append(c.Checks, &eval.Check{
				Key: kind, Kind: kind, Weight: 1, Severity: pick(r, []eval.Severity{eval.ErrorSeverity, eval.WarnSeverity}), Not: r.IntN(4) == 0,
				Grader: scoring(statuses[i]),
			})
		}
		w.results = append(w.results, evaluated(c, r.IntN(6) == 0))
	}
	for range r.IntN(4) {
		g, err := eval.ParseGate(fmt.Sprintf(pick(r, gateTests), pick(r, gateSubjects)))
		if err != nil {
			panic(err)
		}
		w.gates = append(w.gates, g)
	}
	return w
}

func (w world) run() *eval.Run {
	run := &eval.Run{Header: eval.Header{Status: eval.Done, Gates: w.gates}}
	tally := eval.NewTally(eval.EffectiveGates(w.gates, nil), nil)
	for _, res := range w.results {
		tally.Add(res)
	}
	run.Summary, run.Outcomes = tally.Summary(), tally.Outcomes()
	run.Judge()
	return run
}

// matches is the labels of a gate written down a second time.
func matches(g eval.Gate, r *eval.Result) bool {
	for _, l := range g.Labels {
		switch l.Name {
		case "difficulty":
			if string(r.Case.Difficulty) != l.Value {
				return false
			}
		case "tool":
			if r.Case.Tool != l.Value {
				return false
			}
		case "tag":
			if !slices.Contains(r.Case.Tags, l.Value) {
				return false
			}
		case "target":
			if r.Target != l.Value {
				return false
			}
		}
	}
	return true
}

func onScores(g eval.Gate) bool {
	return slices.ContainsFunc(g.Labels, func(l eval.Label) bool { return l.Name == "key" || l.Name == "kind" })
}

func onThisScore(g eval.Gate, s eval.Score) bool {
	for _, l := range g.Labels {
		if l.Name == "key" && s.Key != l.Value || l.Name == "kind" && (s.Kind != l.Value || s.Negated) {
			return false
		}
	}
	return true
}

// allowed tells whether gates on some metrics allow a result to be what it is.
func allowed(w world, r *eval.Result, metrics ...string) bool {
	var gates []eval.Gate
	for _, g := range w.gates {
		if slices.Contains(metrics, g.Metric) && matches(g, r) {
			gates = append(gates, g)
		}
	}
	if slices.ContainsFunc(gates, func(g eval.Gate) bool { return !onScores(g) }) {
		return true
	}
	if r.Status != eval.Fail {
		return false
	}
	for _, s := range r.Scores {
		deciding := s.Status == eval.Fail && s.Severity != eval.WarnSeverity
		if deciding && !slices.ContainsFunc(gates, func(g eval.Gate) bool { return onThisScore(g, s) }) {
			return false
		}
	}
	return true
}

// A run passes only if something was judged, every gate measured something, and
// nothing failed, broke or stayed unscored that no gate allows.
func TestNoGatesLetAFailureThrough(t *testing.T) {
	passed := 0
	for seed := range uint64(20_000) {
		w := randomWorld(rand.New(rand.NewPCG(seed, 1)))
		run := w.run()
		if run.Verdict != eval.Passed {
			continue
		}
		passed++
		if run.Summary.Judged() == 0 {
			t.Errorf("seed %d: passed, and nothing was judged", seed)
		}
		for _, r := range w.results {
			metrics := map[eval.Status][]string{
				eval.Fail:  {"pass_rate", "passed", "failed", "score"},
				eval.Error: {"errors"}, eval.Unscored: {"unscored"},
			}[r.Status]
			if metrics != nil && !allowed(w, r, metrics...) {
				t.Errorf("seed %d: passed with case %s as %s, which no gate of %v allows", seed, r.Case.ID, r.Status, w.gates)
			}
		}
		for _, o := range run.Outcomes {
			if !o.Gate.Default && (o.N == 0 || !o.Met) {
				t.Errorf("seed %d: passed, and the gate %s measured %d results, met: %v", seed, o.Gate.Text, o.N, o.Met)
			}
		}
		if t.Failed() {
			return
		}
	}
	if passed < 200 {
		t.Errorf("%d random runs passed: the test shows too little", passed)
	}
}

// scoring is a grader with a fixed outcome.
func scoring(status eval.Status) eval.Grader {
	return eval.GraderFunc(func(context.Context, *eval.Attempt) (eval.Score, error) {
		switch status {
		case eval.Unscored:
			return eval.Score{}, errors.New("could not decide")
		case eval.Skip:
			return eval.Skipped("does not apply"), nil
		}
		return eval.PassIf(status == eval.Pass, "as told"), nil
	})
}

// evaluated is the result of a case whose target answers, or is broken.
func evaluated(c *eval.Case, broken bool) *eval.Result {
	answer := eval.TargetFunc(func(context.Context, *eval.Attempt) (*eval.Response, error) {
		if broken {
			return nil, errors.New("connection reset")
		}
		return &eval.Response{Text: "an answer"}, nil
	})
	res, err := eval.Evaluate(context.Background(), &eval.Env{Targets: map[string]eval.Target{c.Target: answer}}, c, "", 1)
	if err != nil {
		panic(err)
	}
	return res
}
