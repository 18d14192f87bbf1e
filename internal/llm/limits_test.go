package llm

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// remote is a model in another process: errors come back as JSON.
func remote(t *testing.T, m Model) Model {
	return ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) {
		reply, err := m.Generate(ctx, req)
		var e *Error
		if !errors.As(err, &e) {
			return reply, err
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
		back := new(Error)
		if err := json.Unmarshal(b, back); err != nil {
			t.Error(err)
		}
		if back.Error() != e.Error() || back.Class != e.Class || back.Status != e.Status {
			t.Errorf("%v became %v", e, back)
		}
		return nil, back
	})
}

func evaluate(t *testing.T, m Model, checks ...*eval.Check) (*eval.Result, error) {
	t.Helper()
	target := eval.TargetFunc(func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
		reply, err := Ask(ctx, a, eval.ModelEvent, "test:m", m, &Request{})
		if err != nil {
			return nil, err
		}
		return &eval.Response{Text: reply.Text}, nil
	})
	env := &eval.Env{Targets: map[string]eval.Target{"": target}, Now: time.Now}
	return eval.Evaluate(t.Context(), env, &eval.Case{ID: "c", Checks: checks}, "", 1)
}

func TestAStopInAnotherProcessEndsTheRun(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		stop string
	}{
		"out of money": {final(&Error{Class: Quota, Provider: "test", Model: "m", Status: 402, Message: "nothing left"}), "test: nothing left"},
		"wrapped":      {errors.Join(stopped(&Error{Class: Overloaded}, "no reply for 5m")), "the model: no reply for 5m"},
		"a failure":    {&Error{Class: Invalid, Provider: "test", Model: "m", Status: 400, Message: "no"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			broken := ModelFunc(func(context.Context, *Request) (*Reply, error) { return nil, tt.err })
			res, err := evaluate(t, remote(t, broken))
			var stop *eval.Stop
			switch {
			case tt.stop == "" && (err != nil || res.Fault == nil):
				t.Errorf("got %+v, %v, want a result with a fault", res, err)
			case tt.stop != "" && (!errors.As(err, &stop) || stop.Why != tt.stop):
				t.Errorf("got %v, want a stop: %s", err, tt.stop)
			}
		})
	}
}

// A score is text when it comes from another process or from disk.
func TestAStopInAScoreSurvivesJSON(t *testing.T) {
	b := &Budget{Tokens: 1}
	m, err := b.Wrap(haiku, nil, remote(t, ModelFunc(func(context.Context, *Request) (*Reply, error) {
		t.Error("it was asked")
		return nil, errors.New("asked")
	})))
	if err != nil {
		t.Fatal(err)
	}
	check := &eval.Check{Key: "judge", Weight: 1, Severity: eval.ErrorSeverity, Grader: eval.GraderFunc(func(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
		_, err := Ask(ctx, a, eval.JudgeEvent, "test:m", m, &Request{MaxTokens: 5})
		return eval.Score{}, err
	})}
	score := check.Grade(t.Context(), &eval.Attempt{Case: &eval.Case{ID: "c"}, Response: new(eval.Response)})
	text, err := json.Marshal(score)
	if err != nil {
		t.Fatal(err)
	}
	var back eval.Score
	if err := json.Unmarshal(text, &back); err != nil || back.Stop == "" || back.Stop != score.Stop {
		t.Fatalf("%+v became %+v: %v", score, back, err)
	}
	// The check ran elsewhere, and its score is taken as it is.
	outer := &eval.Check{Key: "outer", Weight: 1, Grader: eval.GraderFunc(func(context.Context, *eval.Attempt) (eval.Score, error) {
		return eval.Score{Status: eval.Pass, Value: 1, Checks: []eval.Score{back}}, nil
	})}
	_, err = evaluate(t, ModelFunc(func(context.Context, *Request) (*Reply, error) { return &Reply{Text: "fine"}, nil }), outer)
	var stop *eval.Stop
	if !errors.As(err, &stop) || stop.Why != score.Stop {
		t.Errorf("got %v, want the stop %q", err, score.Stop)
	}
}

// ledger is an account that several schedulers share.
type ledger struct {
	mu   sync.Mutex
	open int
	used Amount
}

func (l *ledger) Reserve(_ context.Context, a Amount) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Tokens > 1000 {
		return &eval.Stop{Why: "too much"}
	}
	l.open++
	return nil
}

func (l *ledger) Settle(_, used Amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	l.used = l.used.plus(used)
}

func TestAnyAccountCanBeCharged(t *testing.T) {
	account := new(ledger)
	prices := Prices{haiku.String(): {Rates: Rates{Input: 1, Output: 2}}}
	m := Charge(account, haiku, prices, ModelFunc(func(_ context.Context, req *Request) (*Reply, error) {
		if req.Seed != nil {
			return nil, &Error{Class: Invalid, Message: "no seeds"}
		}
		return &Reply{Usage: eval.Usage{Calls: 1, Input: 10, Output: 20}}, nil
	}))
	var stop *eval.Stop
	if _, err := m.Generate(t.Context(), &Request{MaxTokens: 5000}); !errors.As(err, &stop) {
		t.Errorf("got %v, want a stop", err)
	}
	seed := int64(1)
	for _, req := range []*Request{{MaxTokens: 100}, {MaxTokens: 100, Seed: &seed}} {
		_, _ = m.Generate(t.Context(), req)
	}
	if want := (Amount{eval.Dollars(0.00005), 30}); account.open != 0 || account.used != want {
		t.Errorf("%d open, used %+v, want %+v", account.open, account.used, want)
	}
}

// onePlace is a limiter with one place for everybody.
type onePlace struct {
	mu           sync.Mutex
	busy         bool
	starts, ends int
	tokens       int
}

func (l *onePlace) Ready(t time.Time, _ int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy {
		return t.Add(10 * time.Millisecond)
	}
	return t
}

func (l *onePlace) Start(_ time.Time, tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy, l.starts, l.tokens = true, l.starts+1, l.tokens+tokens
}

func (l *onePlace) End(_ time.Time, tokens, used int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy, l.ends, l.tokens = false, l.ends+1, l.tokens+used-tokens
}

func TestALimiterIsAskedForEveryTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, failed := new(onePlace), false
		v := &vendor{latency: time.Second, reject: func(time.Time) *Error {
			if !failed {
				failed = true
				return &Error{Class: Server, Message: "broken"}
			}
			return nil
		}}
		m := NewScheduler(Pace{Limiter: limiter}, nil).Wrap(v)
		gone, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				if _, err := m.Generate(t.Context(), &Request{Trial: i}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() { _, _ = m.Generate(gone, &Request{}) })
		time.Sleep(1500 * time.Millisecond)
		cancel()
		wg.Wait()
		if v.most.Load() != 1 || limiter.starts != limiter.ends || limiter.starts < 6 || limiter.tokens != 5*15 {
			t.Errorf("%d at a time, %d tries started, %d ended, %d tokens", v.most.Load(), limiter.starts, limiter.ends, limiter.tokens)
		}
	})
}
