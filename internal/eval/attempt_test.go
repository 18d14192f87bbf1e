package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

// evaluate makes one attempt at a case with the given checks.
func evaluate(ctx context.Context, env *eval.Env, t eval.TargetFunc, checks ...*eval.Check) (*eval.Result, error) {
	env.Targets = map[string]eval.Target{"": t}
	if env.Now == nil {
		env.Now = time.Now
	}
	return eval.Evaluate(ctx, env, &eval.Case{ID: "c", Suite: "s", Checks: checks}, "", 1)
}

func TestAnAttemptIsClosedAfterItIsGraded(t *testing.T) {
	var log []string
	closes := func(name string, err error) func() error {
		return func() error {
			log = append(log, "close "+name)
			return err
		}
	}
	grader := func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
		log = append(log, "grade "+a.Response.Text)
		a.OnClose(closes("grader", nil))
		return eval.PassIf(true, "fine"), nil
	}
	res, err := evaluate(t.Context(), new(eval.Env), func(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
		a.OnClose(closes("workspace", errors.New("busy")))
		a.OnClose(func() error { panic("session lost") })
		a.OnClose(closes("session", nil))
		return &eval.Response{Text: "yes"}, nil
	}, check("k", grader))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"grade yes", "close grader", "close session", "close workspace"}, log); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	want := []string{"close the attempt: panic: session lost\nbusy"}
	if diff := cmp.Diff(want, res.Notes); diff != "" || res.Status != eval.Pass {
		t.Errorf("%s, notes (-want +got):\n%s", res.Status, diff)
	}
}

func TestAnAttemptIsClosedHoweverItEnds(t *testing.T) {
	stop := &eval.Stop{Why: "the budget is spent"}
	nested := func(context.Context, *eval.Attempt) (eval.Score, error) {
		inner := eval.Score{Key: "judge", Status: eval.Unscored, Stop: stop.Why}
		return eval.Score{Status: eval.Pass, Value: 1, Checks: []eval.Score{{Key: "all", Status: eval.Pass, Value: 1, Checks: []eval.Score{inner}}}}, nil
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		target eval.TargetFunc
		grader eval.GraderFunc
		want   eval.Status
		err    error
	}{
		{"the target panics", t.Context(), func(context.Context, *eval.Attempt) (*eval.Response, error) { panic("boom") }, passes, eval.Error, nil},
		{"the target answers nothing", t.Context(), func(context.Context, *eval.Attempt) (*eval.Response, error) { return nil, nil }, passes, eval.Error, nil},
		{"the target stops the run", t.Context(), func(context.Context, *eval.Attempt) (*eval.Response, error) { return nil, fmt.Errorf("ask: %w", stop) }, passes, "", stop},
		{"a score inside scores stops the run", t.Context(), answer, nested, "", stop},
		{"the grader panics", t.Context(), answer, func(context.Context, *eval.Attempt) (eval.Score, error) { panic("boom") }, eval.Unscored, nil},
		{"the run ended", ended, answer, passes, "", context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			closed := 0
			target := func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
				a.OnClose(func() error { closed++; return nil })
				return tt.target(ctx, a)
			}
			res, err := evaluate(tt.ctx, new(eval.Env), target, check("k", tt.grader))
			if closed != 1 {
				t.Errorf("closed %d times", closed)
			}
			if tt.err != nil {
				var got *eval.Stop
				if res != nil || !errors.Is(err, tt.err) && !(errors.As(err, &got) && got.Why == stop.Why) {
					t.Errorf("result %v, error %v; want no result and %v", res, err, tt.err)
				}
				return
			}
			if err != nil || res.Status != tt.want {
				t.Fatalf("%v, error %v; want %s", res, err, tt.want)
			}
			if tt.want == eval.Error && (res.Fault.Class != eval.InternalFault || res.Response != nil || res.Scores != nil) {
				t.Errorf("fault %+v, response %v, scores %v", res.Fault, res.Response, res.Scores)
			}
		})
	}
}

func TestAnAttemptKeepsArtifactsAndTheTimesOfARecording(t *testing.T) {
	keep := func(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
		r := new(eval.Response)
		return r, a.Keep(r, "log.txt", []byte("four"))
	}
	res, err := evaluate(t.Context(), new(eval.Env), keep)
	if err != nil || res.Response.Artifacts != nil {
		t.Errorf("without a run folder: %+v, %v", res, err)
	}
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	journal := new(memory)
	env := &eval.Env{Keep: journal.Keep, Timing: func(res *eval.Result) {
		if res.Identity() == (eval.Identity{Suite: "s", Case: "c", Trial: 1}) {
			res.Started, res.Duration = then, time.Minute
		}
	}}
	res, err = evaluate(t.Context(), env, keep)
	if err != nil {
		t.Fatal(err)
	}
	want := []eval.Artifact{{Name: "log.txt", Digest: "digest-1", Size: 4}}
	if diff := cmp.Diff(want, res.Response.Artifacts); diff != "" || !slices.Equal(journal.kept, []string{"four"}) {
		t.Errorf("kept %v, artifacts (-want +got):\n%s", journal.kept, diff)
	}
	if !res.Started.Equal(then) || res.Duration != time.Minute {
		t.Errorf("started %s, took %s", res.Started, res.Duration)
	}
	env.Keep = func([]byte) (string, error) { return "", errors.New("disk full") }
	if res, err = evaluate(t.Context(), env, keep); err != nil || res.Status != eval.Error || !strings.Contains(res.Fault.Message, "keep log.txt: disk full") {
		t.Errorf("%+v, %v", res, err)
	}
}

// calling is a grader that makes a call of a judge and then grades the checks
// inside it.
func calling(name string, inner ...*eval.Check) eval.GraderFunc {
	return func(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
		s := eval.PassIf(true, "fine")
		var wg sync.WaitGroup
		s.Checks = make([]eval.Score, len(inner))
		for i, c := range inner {
			wg.Go(func() { s.Checks[i] = c.Grade(ctx, a) })
		}
		if name != "" {
			call := a.Begin(eval.JudgeEvent, name, "asked "+name)
			time.Sleep(time.Second)
			call.End("said "+name, &eval.Usage{Calls: 1}, nil)
		}
		wg.Wait()
		return s, nil
	}
}

func TestEventsSayWhatTheyArePartOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var observed []eval.Event
		env := &eval.Env{Observe: func(e eval.Event) {
			mu.Lock()
			defer mu.Unlock()
			observed = append(observed, e)
		}}
		target := func(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
			time.Sleep(time.Second)
			call := a.Begin(eval.ToolEvent, "search", nil)
			time.Sleep(2 * time.Second)
			call.End(nil, nil, errors.New("not found"))
			return answer(t.Context(), a)
		}
		fails := check("broken", func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
			a.Begin(eval.JudgeEvent, "j2", nil).End(nil, nil, errors.New("no reply"))
			return eval.Score{}, errors.New("no reply")
		})
		res, err := evaluate(t.Context(), env, target, check("outer", calling("", check("quiet", passes), check("inner", calling("j1")), fails)))
		if err != nil {
			t.Fatal(err)
		}
		type row struct{ Name, Parent, Error string }
		byID := map[int]string{}
		for _, e := range res.Events {
			if byID[e.ID] != "" || e.Input != nil || e.Output != nil || e.Attempt != (eval.Identity{}) {
				t.Errorf("event %+v", e)
			}
			byID[e.ID] = string(e.Kind) + " " + e.Name
		}
		var got []row
		for _, e := range res.Events {
			got = append(got, row{byID[e.ID], byID[e.Parent], e.Error})
		}
		slices.SortFunc(got, func(a, b row) int { return strings.Compare(a.Name, b.Name) })
		want := []row{
			{"judge j1", "score inner", ""},
			{"judge j2", "score broken", "no reply"},
			{"score broken", "score outer", "no reply"},
			{"score inner", "score outer", ""},
			{"score outer", "", ""},
			{"tool search", "", "not found"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if len(observed) != len(want) {
			t.Errorf("%d events were observed, want %d", len(observed), len(want))
		}
		for _, e := range observed {
			if e.Attempt != (eval.Identity{Suite: "s", Case: "c", Trial: 1}) {
				t.Errorf("observed %+v", e)
			}
			if e.Name == "search" && (e.Start != time.Second || e.Duration != 2*time.Second) {
				t.Errorf("started %s, took %s", e.Start, e.Duration)
			}
			if e.Name == "j1" && (e.Input != "asked j1" || e.Output != "said j1" || e.Usage.Calls != 1) {
				t.Errorf("observed %+v", e)
			}
		}
		if d := res.Scores[0].Duration; d != time.Second || res.Scores[0].Checks[1].Duration != time.Second || res.Scores[0].Checks[0].Duration != 0 {
			t.Errorf("durations of scores: %s, %+v", d, res.Scores[0].Checks)
		}
		b, err := json.Marshal(res.Events)
		if err != nil {
			t.Fatal(err)
		}
		var back []eval.Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(res.Events, back); diff != "" {
			t.Errorf("read back (-want +got):\n%s", diff)
		}
	})
}

func TestEventsOfConcurrentCallsHaveTheirOwnIDs(t *testing.T) {
	var checks []*eval.Check
	for i := range 30 {
		name := fmt.Sprintf("c%d", i)
		var inner []*eval.Check
		for k := range 5 {
			in := fmt.Sprintf("%s-%d", name, k)
			inner = append(inner, check(in, func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
				a.Begin(eval.JudgeEvent, in, nil).End(nil, nil, nil)
				return eval.PassIf(true, ""), nil
			}))
		}
		checks = append(checks, check(name, nil))
		checks[i].Grader = expensive{calling("", inner...)}
	}
	res, err := evaluate(t.Context(), &eval.Env{Observe: func(eval.Event) {}}, answer, checks...)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[int]eval.Event{}
	for _, e := range res.Events {
		byID[e.ID] = e
	}
	if want := 30 * (1 + 5 + 5); len(res.Events) != want || len(byID) != want {
		t.Fatalf("%d events, %d ids, want %d", len(res.Events), len(byID), want)
	}
	for _, e := range res.Events {
		up := byID[e.Parent].Name
		if e.Kind == eval.JudgeEvent && up != e.Name {
			t.Errorf("call %s is part of %q", e.Name, up)
		}
		if e.Kind == eval.ScoreEvent && strings.Contains(e.Name, "-") && !strings.HasPrefix(e.Name, up+"-") || e.Parent >= e.ID {
			t.Errorf("score %s (%d) is part of %q (%d)", e.Name, e.ID, up, e.Parent)
		}
	}
}

// TestACallThatNeverEndsIsNoEvent: a target that gave up on a call has left it
// running, and what it reports later reaches no result.
func TestACallThatNeverEndsIsNoEvent(t *testing.T) {
	var late *eval.Call
	res, err := evaluate(t.Context(), new(eval.Env), func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
		late = a.Begin(eval.ToolEvent, "slow", nil)
		a.Begin(eval.ToolEvent, "fast", nil).End(nil, nil, nil)
		return answer(ctx, a)
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); late.End(nil, nil, nil) }()
	if len(res.Events) != 1 || res.Events[0].Name != "fast" || res.Events[0].ID != 2 {
		t.Errorf("events %+v", res.Events)
	}
	<-ended
}

// TestAnAttemptWithoutALife: a grader can be tried with nothing but a case and
// a response.
func TestAnAttemptWithoutALife(t *testing.T) {
	a := &eval.Attempt{Case: &eval.Case{ID: "c"}, Response: new(eval.Response)}
	if s := check("k", calling("j", check("in", passes))).Grade(t.Context(), a); s.Status != eval.Pass || s.Duration != 0 {
		t.Errorf("%+v", s)
	}
}
