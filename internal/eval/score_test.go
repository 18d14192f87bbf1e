package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func scores(s eval.Status, value float64) eval.GraderFunc {
	return func(context.Context, *eval.Attempt) (eval.Score, error) {
		if s == eval.Unscored {
			return eval.Score{}, errors.New("could not decide")
		}
		return eval.Score{Status: s, Value: value, Reason: "seen"}, nil
	}
}

func TestNotIsAppliedOnceAndNeverToUnscored(t *testing.T) {
	for _, tt := range []struct {
		name      string
		status    eval.Status
		value     float64
		want      eval.Status
		wantValue float64
		reason    string
	}{
		{"a pass becomes a failure", eval.Pass, 1, eval.Fail, 0, "seen, which must not be"},
		{"a failure becomes a pass", eval.Fail, 0, eval.Pass, 1, "seen"},
		{"a part value is turned round", eval.Fail, 0.25, eval.Pass, 0.75, "seen"},
		{"unscored stays unscored", eval.Unscored, 0, eval.Unscored, 0, "could not decide"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &eval.Check{Key: "k", Not: true, Grader: scores(tt.status, tt.value)}
			got := c.Grade(t.Context(), &eval.Attempt{Case: &eval.Case{}, Response: &eval.Response{}})
			if got.Status != tt.want || got.Value != tt.wantValue || got.Reason != tt.reason {
				t.Errorf("got %s %v %q, want %s %v %q", got.Status, got.Value, got.Reason, tt.want, tt.wantValue, tt.reason)
			}
		})
	}
}

func TestCaseStatusFollowsFromItsScores(t *testing.T) {
	warn := func(c *eval.Check) *eval.Check { c.Severity = eval.WarnSeverity; return c }
	for _, tt := range []struct {
		name   string
		checks []*eval.Check
		want   eval.Status
		value  float64
	}{
		{"all pass", []*eval.Check{check("a", scores(eval.Pass, 1)), check("b", scores(eval.Pass, 1))}, eval.Pass, 1},
		{"one fails", []*eval.Check{check("a", scores(eval.Pass, 1)), check("b", scores(eval.Fail, 0))}, eval.Fail, 0.5},
		{"one unscored", []*eval.Check{check("a", scores(eval.Pass, 1)), check("b", scores(eval.Unscored, 0))}, eval.Unscored, 1},
		{"a failure outweighs unscored", []*eval.Check{check("a", scores(eval.Unscored, 0)), check("b", scores(eval.Fail, 0))}, eval.Fail, 0},
		{"a warning does not decide", []*eval.Check{check("a", scores(eval.Pass, 1)), warn(check("b", scores(eval.Fail, 0)))}, eval.Pass, 0.5},
		{"an unscored warning neither", []*eval.Check{check("a", scores(eval.Pass, 1)), warn(check("b", scores(eval.Unscored, 0)))}, eval.Pass, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			journal := new(memory)
			run(t, t.Context(), newRunner(answer, journal), suiteOf(1, tt.checks...))
			if got := journal.results[0]; got.Status != tt.want || got.Value != tt.value {
				t.Errorf("got %s %v, want %s %v", got.Status, got.Value, tt.want, tt.value)
			}
		})
	}
}

func TestChecksSeeThePartTheyAskFor(t *testing.T) {
	r := &eval.Response{Text: "answer", Raw: "answer and wrapping", Structured: json.RawMessage(`{"a":1}`), Sources: []eval.Source{{Title: "Solana docs", URL: "https://docs.solana.com"}}}
	for part, want := range map[eval.Part]string{"": "answer", eval.AnswerPart: "answer", eval.RawPart: "answer and wrapping", eval.StructuredPart: `{"a":1}`, eval.SourcedPart: "answer\n\nSources:\nSolana docs https://docs.solana.com\n"} {
		var got string
		c := &eval.Check{Of: part, Grader: eval.GraderFunc(func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
			got = a.Response.Text
			return eval.Score{}, nil
		})}
		c.Grade(t.Context(), &eval.Attempt{Case: &eval.Case{}, Response: r})
		if got != want {
			t.Errorf("of %q saw %q, want %q", part, got, want)
		}
	}
}

type worded struct {
	Value string `json:"value"`
}

func (worded) Grade(context.Context, *eval.Attempt) (eval.Score, error) {
	return eval.Score{}, nil
}

func TestCheckSurvivesStorage(t *testing.T) {
	c := &eval.Check{Key: "forbidden:x", Kind: "contains", Weight: 2, Severity: eval.WarnSeverity, Not: true, Of: eval.RawPart, Mode: "m", Grader: worded{"x"}}
	want := `{"type":"contains","not":true,"of":"raw","value":"x"}`
	if got := string(c.Rule()); got != want {
		t.Errorf("rule %s, want %s", got, want)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back eval.Check
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if string(back.Rule()) != want || !back.Not || back.Of != eval.RawPart || back.Key != c.Key || back.Weight != 2 || back.Severity != eval.WarnSeverity {
		t.Errorf("read back as %+v", back)
	}
}

func TestGateParsing(t *testing.T) {
	for _, tt := range []struct {
		text string
		want eval.Gate
		err  string
	}{
		{text: "pass_rate >= 90%", want: eval.Gate{Metric: "pass_rate", Op: ">=", Bound: 0.9}},
		{text: " failed==0 ", want: eval.Gate{Text: "failed==0", Metric: "failed", Op: "==", Bound: 0}},
		{text: "pass_rate{difficulty=basic, tag=a>=b} > 0.5", want: eval.Gate{Metric: "pass_rate", Op: ">", Bound: 0.5, Labels: []eval.Label{{"difficulty", "basic"}, {"tag", "a>=b"}}}},
		{text: "latency_p95 <= 2s", want: eval.Gate{Metric: "latency_p95", Op: "<=", Bound: 2000}},
		{text: "latency_max < 250ms", want: eval.Gate{Metric: "latency_max", Op: "<", Bound: 250}},
		{text: "confidence >= 40", want: eval.Gate{Metric: "confidence", Op: ">=", Bound: 40}},
		{text: "pass_rate >= 90", err: `gate bound "90" of pass_rate is over 1: write 90%, or a number from 0 to 1`},
		{text: "latency_p95 <= 2", err: `gate bound "2" of latency_p95 needs a unit, ms or s`},
		{text: "pass_rate >= 2s", err: `gate bound "2s" of pass_rate is a rate, not a time`},
		{text: "failed == 3%", err: `gate bound "3%": failed is a plain number`},
		{text: "pass_rate", err: `gate "pass_rate" has no comparison: write it like "pass_rate >= 90%"`},
		{text: "speed > 3", err: `unknown gate metric "speed", want one of pass_rate, passed, failed, errors, unscored, skipped, total, retries, score, confidence, latency_mean, latency_p50, latency_p95, latency_p99, latency_max`},
		{text: "failed{colour=red} == 0", err: `unknown gate label "colour", want one of difficulty, tool, project, tag, suite, target, key, kind`},
		{text: "failed{difficulty=hard} == 0", err: `unknown difficulty "hard", want basic, intermediate or advanced`},
		{text: "failed{tag} == 0", err: `gate label "tag" is not name=value`},
		{text: "failed == NaN", err: `gate bound "NaN" is not a number of 0 or more`},
		{text: "failed == -1", err: `gate bound "-1" is not a number of 0 or more`},
		{text: "", err: `gate "" has no comparison: write it like "pass_rate >= 90%"`},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := eval.ParseGate(tt.text)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.want.Text == "" {
				tt.want.Text = tt.text
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("gate (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseGate(f *testing.F) {
	for _, s := range []string{"pass_rate >= 90%", "failed{tag=x} == 0", "{", "}>=1", "latency_p50<1ms"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := eval.ParseGate(text)
		if err != nil {
			return
		}
		b, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var back eval.Gate
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s does not read back: %v", b, err)
		}
	})
}

func TestGatesDecideTheVerdict(t *testing.T) {
	gate := func(text string) eval.Gate {
		g, err := eval.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	mixed := check("mixed", func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
		c := a.Case
		switch c.ID {
		case "c00":
			return eval.PassIf(false, "no"), nil
		case "c01":
			return eval.Score{}, errors.New("cannot say")
		}
		return eval.PassIf(true, "yes"), nil
	})
	for _, tt := range []struct {
		name  string
		gates []eval.Gate
		suite []eval.Gate
		want  eval.Verdict
	}{
		{"without gates a failed case fails", nil, nil, eval.Failed},
		{"a floor that is met leaves the unscored", []eval.Gate{gate("pass_rate >= 80%")}, nil, eval.Incomplete},
		{"a floor that is met, unscored allowed", []eval.Gate{gate("pass_rate >= 80%"), gate("unscored <= 1")}, nil, eval.Passed},
		{"a floor that is not met", []eval.Gate{gate("pass_rate >= 95%"), gate("unscored <= 1")}, nil, eval.Failed},
		{"a suite's own gate", nil, []eval.Gate{gate("failed <= 1"), gate("unscored <= 1")}, eval.Passed},
		{"score of one key", []eval.Gate{gate("score{key=mixed} >= 0.9"), gate("unscored <= 1")}, nil, eval.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := suiteOf(10, mixed)
			s.Gates = tt.suite
			got, err := newRunner(answer).Run(t.Context(), eval.Header{Gates: tt.gates}, []*eval.Suite{s})
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != tt.want {
				t.Errorf("verdict %s, want %s; outcomes %+v", got.Verdict, tt.want, got.Outcomes)
			}
		})
	}
}

func TestSummaryDoesNotDependOnTheOrderOfResults(t *testing.T) {
	var results []*eval.Result
	for i := range 60 {
		c := &eval.Case{ID: string(rune('a' + i%20)), Suite: "s", Tool: []string{"x", "y"}[i%2], Difficulty: eval.Difficulties[i%3], Tags: []string{"t"}}
		status := eval.Statuses[i%4]
		r := &eval.Result{Case: c, Trial: i/20 + 1, Status: status, Value: float64(i % 2), Response: &eval.Response{Meta: map[string]any{"confidence": float64(i) / 7}}}
		if status == eval.Error {
			r.Response, r.Fault = nil, &eval.Fault{Class: eval.TimeoutFault}
		}
		r.Scores = []eval.Score{{Key: "k", Kind: "contains", Status: eval.Fail, Severity: eval.ErrorSeverity, Mode: "missing keyword"}}
		results = append(results, r)
	}
	summarize := func(order []int) string {
		tally := eval.NewTally(nil, nil)
		for _, i := range order {
			tally.Add(results[i])
		}
		b, _ := json.Marshal(map[string]any{"s": tally.Summary(), "v": tally.Verdicts()})
		return string(b)
	}
	forward, backward := make([]int, 60), make([]int, 60)
	for i := range 60 {
		forward[i], backward[59-i] = i, i
	}
	if diff := cmp.Diff(summarize(forward), summarize(backward)); diff != "" {
		t.Errorf("order matters:\n%s", diff)
	}
}

// TestNoGateExcusesWhatItDoesNotBound pins down what the defaults still hold a
// run to when it has gates of its own.
func TestNoGateExcusesWhatItDoesNotBound(t *testing.T) {
	gate := func(text string) eval.Gate {
		g, err := eval.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	fails := check("f", scores(eval.Fail, 0))
	broken := func(context.Context, *eval.Attempt) (*eval.Response, error) { return nil, errors.New("gone") }
	for _, tt := range []struct {
		name   string
		target eval.TargetFunc
		gates  []eval.Gate
		suite  []eval.Gate
		want   eval.Verdict
	}{
		{"a gate on errors does not excuse failures", answer, []eval.Gate{gate("errors <= 2")}, nil, eval.Failed},
		{"nor does one on latency", answer, nil, []eval.Gate{gate("latency_p95 <= 2s")}, eval.Failed},
		{"a rate of nothing is no pass", broken, []eval.Gate{gate("errors <= 9"), gate("pass_rate >= 90%")}, nil, eval.Incomplete},
		{"a labelled gate on errors leaves the others", broken, []eval.Gate{gate("errors{tag=x} <= 9"), gate("pass_rate >= 0.1")}, nil, eval.Incomplete},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := suiteOf(3, fails)
			s.Gates = tt.suite
			got, err := newRunner(tt.target).Run(t.Context(), eval.Header{Gates: tt.gates}, []*eval.Suite{s})
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != tt.want {
				t.Errorf("verdict %s, want %s; %+v", got.Verdict, tt.want, got.Outcomes)
			}
		})
	}
}

// TestRetriesAreCountedByReason has results that took more than one try, with
// an answer and without.
func TestRetriesAreCountedByReason(t *testing.T) {
	gates := make([]eval.Gate, 2)
	for i, text := range []string{"retries == 0", "retries <= 6"} {
		var err error
		if gates[i], err = eval.ParseGate(text); err != nil {
			t.Fatal(err)
		}
	}
	died := "the server process ended (exit status 3)"
	tally := eval.NewTally(gates, nil)
	for i, r := range []*eval.Result{
		{Status: eval.Pass, Response: &eval.Response{}},
		{Status: eval.Pass, Response: &eval.Response{Attempts: 2, Retries: []string{died}}},
		{Status: eval.Pass, Response: &eval.Response{Attempts: 3, Retries: []string{died, "server answered 503 Service Unavailable"}}},
		{Status: eval.Pass, Response: &eval.Response{Attempts: 2}},
		{Status: eval.Error, Fault: &eval.Fault{Class: eval.TransportFault, Attempts: 3}},
	} {
		r.Case = &eval.Case{ID: string(rune('a' + i))}
		tally.Add(r)
	}
	want := []eval.Mode{
		{Name: died, Count: 2, Cases: []string{"b", "c"}},
		{Name: "transport error", Count: 2, Cases: []string{"e"}},
		{Name: "reason not recorded", Count: 1, Cases: []string{"d"}},
		{Name: "server answered 503 Service Unavailable", Count: 1, Cases: []string{"c"}},
	}
	if diff := cmp.Diff(want, tally.Summary().Retries); diff != "" {
		t.Errorf("retries (-want +got):\n%s", diff)
	}
	if o := tally.Outcomes(); o[0].Met || o[0].Value != 6 || !o[1].Met {
		t.Errorf("outcomes %+v", o)
	}
}

func TestASuitesGateOnErrorsIsItsOwn(t *testing.T) {
	g, err := eval.ParseGate("errors <= 5")
	if err != nil {
		t.Fatal(err)
	}
	g.Suite = "a"
	a := &eval.Suite{Name: "a", Gates: []eval.Gate{g}, Cases: []*eval.Case{{ID: "1", Suite: "a", Checks: []*eval.Check{check("ok", passes)}}}}
	b := &eval.Suite{Name: "b", Cases: []*eval.Case{{ID: "2", Suite: "b", Checks: []*eval.Check{check("ok", passes)}}}}
	target := func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
		if a.Case.Suite == "b" {
			return nil, errors.New("gone")
		}
		return answer(ctx, a)
	}
	if got := run(t, t.Context(), newRunner(target), a, b); got.Verdict != eval.Incomplete {
		t.Errorf("verdict %s, want incomplete", got.Verdict)
	}
}

func TestAGraderWithAMistakeDoesNotDecide(t *testing.T) {
	for name, s := range map[string]eval.Score{
		"nothing": {}, "another status": {Status: eval.Error}, "too much": {Status: eval.Pass, Value: 2}, "no number": {Status: eval.Pass, Value: math.NaN()},
	} {
		c := &eval.Check{Grader: eval.GraderFunc(func(context.Context, *eval.Attempt) (eval.Score, error) { return s, nil })}
		if got := c.Grade(t.Context(), &eval.Attempt{Case: &eval.Case{}, Response: &eval.Response{}}); got.Status != eval.Unscored {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
