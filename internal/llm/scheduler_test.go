package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vendor is a model whose vendor has a limit.
type vendor struct {
	latency  time.Duration
	turnAway time.Duration            // how long a rejection takes
	reject   func(t time.Time) *Error // nil to serve
	usage    func(req *Request) eval.Usage

	served, rejected, late atomic.Int64 // late: rejected after the first ten seconds
	now, most              atomic.Int64
	start                  time.Time
}

func (v *vendor) Generate(ctx context.Context, req *Request) (*Reply, error) {
	if n := v.now.Add(1); n > v.most.Load() {
		v.most.Store(n)
	}
	defer v.now.Add(-1)
	if v.reject != nil {
		if e := v.reject(time.Now()); e != nil {
			v.rejected.Add(1)
			if !v.start.IsZero() && time.Since(v.start) > 10*time.Second {
				v.late.Add(1)
			}
			if err := sleep(ctx, v.turnAway); err != nil {
				return nil, err
			}
			return nil, e
		}
	}
	if err := sleep(ctx, v.latency); err != nil {
		return nil, err
	}
	v.served.Add(1)
	u := eval.Usage{Calls: 1, Input: 10, Output: 5}
	if v.usage != nil {
		u = v.usage(req)
	}
	return &Reply{Text: "yes", Finish: Stop, Usage: u}, nil
}

func tooMany(after time.Duration) *Error {
	return &Error{Class: RateLimited, Provider: "test", Model: "m", Status: 429, RetryAfter: after, Message: "slow down"}
}

// perSecond rejects what comes faster than n a second, after a burst.
func perSecond(n, burst float64, after time.Duration) func(time.Time) *Error {
	var mu sync.Mutex
	level, at := burst, time.Time{}
	return func(t time.Time) *Error {
		mu.Lock()
		defer mu.Unlock()
		if !at.IsZero() {
			level = min(burst, level+t.Sub(at).Seconds()*n)
		}
		at = t
		if level < 1 {
			return tooMany(after)
		}
		level--
		return nil
	}
}

// byChance rejects a share of the calls, whatever their rate.
func byChance(share float64) func(time.Time) *Error {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(1, 2))
	return func(time.Time) *Error {
		mu.Lock()
		defer mu.Unlock()
		if r.Float64() < share {
			return tooMany(0)
		}
		return nil
	}
}

// either rejects what one of them rejects.
func either(a, b func(time.Time) *Error) func(time.Time) *Error {
	return func(t time.Time) *Error {
		if e := a(t); e != nil {
			return e
		}
		return b(t)
	}
}

// seeded is a random source that gives the same numbers every time. The
// scheduler asks it under its lock.
func seeded() func() float64 { return rand.New(rand.NewPCG(3, 4)).Float64 }

// all makes n calls at once and gives how long they took together.
func all(t *testing.T, m Model, n int) time.Duration {
	t.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	var lost atomic.Int64
	for range n {
		wg.Go(func() {
			if _, err := m.Generate(t.Context(), &Request{Messages: []Message{{Role: User, Text: "hello"}}}); err != nil {
				lost.Add(1)
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if lost.Load() > 0 {
		t.Fatalf("%d of %d calls are lost", lost.Load(), n)
	}
	return time.Since(start)
}

func TestAHealthyVendorIsNotSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{latency: 500 * time.Millisecond}
		took := all(t, NewScheduler(Pace{Concurrency: 64}, seeded()).Wrap(v), 200*4)
		ideal := 200 * 4 * 500 * time.Millisecond / 64
		t.Logf("%s, ideal %s (%.3fx), %d at a time", took, ideal, took.Seconds()/ideal.Seconds(), v.most.Load())
		if took > ideal*11/10 || v.most.Load() > 64 {
			t.Errorf("took %s with %d at a time, want no more than a tenth over %s with 64", took, v.most.Load(), ideal)
		}
	})
}

func TestALimitedVendorIsUsedToItsLimit(t *testing.T) {
	for _, tt := range []struct {
		name     string
		rate     float64
		burst    float64
		after    time.Duration
		turnAway time.Duration
		calls    int
		chance   float64
	}{
		{"20 a second", 20, 20, 0, 20 * time.Millisecond, 600, 0},
		{"20 a second, no burst", 20, 2, 0, 20 * time.Millisecond, 600, 0},
		{"50 a second", 50, 50, 0, 20 * time.Millisecond, 1500, 0},
		{"100 a second", 100, 100, 0, 20 * time.Millisecond, 3000, 0},
		{"100 a second, slow rejections", 100, 100, 0, 500 * time.Millisecond, 3000, 0},
		{"100 a second, no burst", 100, 5, 0, 5 * time.Millisecond, 3000, 0},
		{"2 a second", 2, 2, 0, 20 * time.Millisecond, 100, 0},
		{"50 a second, retry after one", 50, 50, time.Second, 20 * time.Millisecond, 1500, 0},
		{"60 a second, and every fifth by chance", 60, 60, 0, 20 * time.Millisecond, 1800, 0.2},
		{"30 a second, and every fifth by chance", 30, 30, 0, 20 * time.Millisecond, 900, 0.2},
		{"10 a second, retry after one", 10, 10, time.Second, 20 * time.Millisecond, 400, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &vendor{latency: 500 * time.Millisecond, turnAway: tt.turnAway, reject: either(byChance(tt.chance), perSecond(tt.rate, tt.burst, tt.after)), start: time.Now()}
				took := all(t, NewScheduler(Pace{Concurrency: 64}, seeded()).Wrap(v), tt.calls)
				allowed := time.Duration(float64(tt.calls) / tt.rate * float64(time.Second))
				share := float64(v.late.Load()) / float64(v.late.Load()+v.served.Load())
				t.Logf("%s, the limit allows %s (%.2fx), %d rejected, %.1f %% after ten seconds",
					took, allowed, took.Seconds()/allowed.Seconds(), v.rejected.Load(), share*100)
				if took > allowed*13/10 {
					t.Errorf("took %s, want no more than 1.3 times %s", took, allowed)
				}
				if share > 0.25+tt.chance {
					t.Errorf("%.0f %% of the calls were rejected, want the rate to be found", share*100)
				}
			})
		})
	}
}

func TestAVendorThatRejectsEveryFifthCallIsAskedNoSlower(t *testing.T) {
	for _, tt := range []struct {
		turnAway time.Duration
		calls    int
	}{
		{5 * time.Millisecond, 2000},
		{500 * time.Millisecond, 2000},
		{5 * time.Millisecond, 800},
		{100 * time.Millisecond, 800},
	} {
		turnAway, calls := tt.turnAway, tt.calls
		t.Run(fmt.Sprint(turnAway, calls), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &vendor{latency: 500 * time.Millisecond, turnAway: turnAway, reject: byChance(0.2)}
				took := all(t, NewScheduler(Pace{Concurrency: 64}, seeded()).Wrap(v), calls)
				// Every call takes a quarter of a rejection on average.
				allowed := time.Duration(calls) * (v.latency + turnAway/4) / 64
				t.Logf("%s, ideal %s (%.2fx), %d rejected", took, allowed, took.Seconds()/allowed.Seconds(), v.rejected.Load())
				if took > allowed*13/10 {
					t.Errorf("took %s, want no more than 1.3 times %s", took, allowed)
				}
			})
		})
	}
}

func TestABurstOfRejectionsIsNoReasonToStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		v := &vendor{latency: 500 * time.Millisecond, turnAway: 10 * time.Millisecond, reject: func(at time.Time) *Error {
			if since := at.Sub(start); since > 2900*time.Millisecond && since < 3400*time.Millisecond {
				return tooMany(0)
			}
			return nil
		}}
		took := all(t, NewScheduler(Pace{}, seeded()).Wrap(v), 1600)
		ideal := 1600 * v.latency / 64
		t.Logf("%s, ideal %s (%.2fx), %d rejected", took, ideal, took.Seconds()/ideal.Seconds(), v.rejected.Load())
		if took > ideal+5*time.Second {
			t.Errorf("took %s, want half a second to cost no more than five", took)
		}
	})
}

// Answers take seconds: the limit is found long before most of them are there.
func TestALimitIsFoundWhileAnswersTakeSeconds(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			r := rand.New(rand.NewPCG(seed, 9))
			v := &vendor{turnAway: 30 * time.Millisecond, reject: perSecond(5, 5, 0)}
			m := ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) {
				mu.Lock()
				latency := time.Duration(2e9 + 4e9*r.Float64())
				mu.Unlock()
				one := &vendor{latency: latency, turnAway: v.turnAway, reject: v.reject}
				return one.Generate(ctx, req)
			})
			took := all(t, NewScheduler(Pace{}, seeded()).Wrap(m), 300)
			t.Logf("%s, the limit allows a minute (%.2fx)", took, took.Minutes())
			if took > 78*time.Second {
				t.Errorf("took %s, want no more than 1.3 times a minute", took)
			}
		})
	}
}

func TestRetryAfterHoldsTheWholeKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var told atomic.Bool
		v := &vendor{latency: time.Millisecond, reject: func(at time.Time) *Error {
			switch {
			case told.CompareAndSwap(false, true):
				return tooMany(20 * time.Second)
			case at.Sub(start) > time.Second && at.Sub(start) < 20*time.Second:
				t.Errorf("a call was made %s after the vendor asked for 20 s", at.Sub(start))
			}
			return nil
		}}
		s := NewScheduler(Pace{}, seeded())
		m := s.Wrap(v)
		other := s.Wrap(ModelFunc(v.Generate))
		var wg sync.WaitGroup
		wg.Go(func() { all(t, m, 1) })
		time.Sleep(2 * time.Second)
		wg.Go(func() { all(t, other, 10) })
		wg.Wait()
		if took := time.Since(start); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("took %s, want 20 s", took)
		}
	})
}

func TestRequestsAndTokensAMinuteAreKept(t *testing.T) {
	count := func(t *testing.T, p Pace, calls int, usage func(*Request) eval.Usage) (worst int, took time.Duration) {
		t.Helper()
		var mu sync.Mutex
		var starts []time.Time
		v := &vendor{latency: 100 * time.Millisecond, usage: usage, reject: func(at time.Time) *Error {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, at)
			return nil
		}}
		took = all(t, NewScheduler(p, seeded()).Wrap(v), calls)
		for i := range starts {
			n := 0
			for j := i; j < len(starts) && starts[j].Sub(starts[i]) < time.Minute; j++ {
				n++
			}
			worst = max(worst, n)
		}
		return worst, took
	}
	t.Run("requests", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			worst, took := count(t, Pace{RequestsPerMinute: 120}, 360, nil)
			if worst > 122 || took > 181*time.Second {
				t.Errorf("%d calls in a minute and %s for 360, want 120 and three minutes", worst, took)
			}
		})
	})
	t.Run("tokens", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			// A call is thought to take some 1,040 tokens and takes 500.
			usage := func(*Request) eval.Usage { return eval.Usage{Calls: 1, Input: 400, Output: 100} }
			worst, took := count(t, Pace{TokensPerMinute: 30_000}, 180, usage)
			if worst > 63 || took > 185*time.Second {
				t.Errorf("%d calls in a minute and %s for 180, want 60 and three minutes", worst, took)
			}
		})
	})
}

func TestOnlyWhatMayPassIsTriedAgain(t *testing.T) {
	for _, class := range []Class{Auth, NotFound, Invalid, Quota, Unrecorded} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			m := NewScheduler(Pace{}, seeded()).Wrap(ModelFunc(func(context.Context, *Request) (*Reply, error) {
				n++
				return nil, &Error{Class: class, Message: "no"}
			}))
			if _, err := m.Generate(t.Context(), &Request{}); ClassOf(err) != class || n != 1 {
				t.Errorf("%s: %d tries, %v", class, n, err)
			}
		})
	}
}

func TestTriesAreBoundAndSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		m := NewScheduler(Pace{Tries: 4}, seeded()).Wrap(ModelFunc(func(context.Context, *Request) (*Reply, error) {
			at = append(at, time.Since(start))
			return nil, &Error{Class: Server, Provider: "test", Model: "m", Status: 500, Message: "broken"}
		}))
		_, err := m.Generate(t.Context(), &Request{})
		if err == nil || err.Error() != "test:m: broken (HTTP 500); tried 4 times" || ClassOf(err) != Server {
			t.Errorf("got %v", err)
		}
		if len(at) != 4 {
			t.Fatalf("%d tries, want 4", len(at))
		}
		for i, most := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
			if pause := at[i+1] - at[i]; pause < most/2 || pause > most {
				t.Errorf("pause %d is %s, want from %s to %s", i+1, pause, most/2, most)
			}
		}
	})
}

func TestEachTryHasItsTimeAndWaitingIsNoneOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// One at a time, ten seconds each, and no more than twelve for a try:
		// the last waits for a minute and is served all the same.
		v := &vendor{latency: 10 * time.Second}
		took := all(t, NewScheduler(Pace{Concurrency: 1, Timeout: 12 * time.Second}, seeded()).Wrap(v), 7)
		if took != 70*time.Second {
			t.Errorf("took %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := NewScheduler(Pace{Timeout: 3 * time.Second}, seeded()).Wrap(ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
			if n++; n < 3 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			if err := sleep(ctx, 2*time.Second); err != nil {
				return nil, err
			}
			return &Reply{Text: "late"}, nil
		}))
		r, err := m.Generate(t.Context(), &Request{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Tries != 3 || r.Latency != 2*time.Second {
			t.Errorf("%d tries, latency %s, want 3 and that of the last alone", r.Tries, r.Latency)
		}
	})
}

func TestTheCallersContextEndsEverything(t *testing.T) {
	for name, m := range map[string]Model{
		"while it runs": ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		"between tries": ModelFunc(func(context.Context, *Request) (*Reply, error) { return nil, tooMany(time.Minute) }),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				s := NewScheduler(Pace{Concurrency: 2}, seeded())
				start := time.Now()
				var wg sync.WaitGroup
				for range 5 { // some of them wait for their turn
					wg.Go(func() {
						if _, err := s.Wrap(m).Generate(ctx, &Request{}); !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("got %v", err)
						}
					})
				}
				wg.Wait()
				if took := time.Since(start); took != 5*time.Second {
					t.Errorf("ended after %s", took)
				}
				if s.inUse != 0 || len(s.queue) != 0 {
					t.Errorf("%d places are in use and %d wait when all are gone", s.inUse, len(s.queue))
				}
			})
		})
	}
}

func TestAnOutageHoldsCallsAndLosesNone(t *testing.T) {
	for _, class := range []Class{Server, Overloaded, Transport, RateLimited} {
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				v := &vendor{latency: 100 * time.Millisecond, turnAway: 10 * time.Millisecond, reject: func(at time.Time) *Error {
					if at.Sub(start) < 3*time.Minute {
						return &Error{Class: class, Message: "down"}
					}
					return nil
				}}
				s := NewScheduler(Pace{Concurrency: 16}, seeded())
				var notes []string
				var mu sync.Mutex
				s.Note = func(text string) {
					mu.Lock()
					defer mu.Unlock()
					notes = append(notes, text)
				}
				took := all(t, s.Wrap(v), 100)
				t.Logf("%s, %d tries failed, notes %q", took, v.rejected.Load(), notes)
				if took > 200*time.Second || v.rejected.Load() > 150 {
					t.Errorf("took %s and %d failed tries, want little over three minutes and few", took, v.rejected.Load())
				}
				if len(notes) != 2 || !strings.Contains(notes[0], "held") || !strings.Contains(notes[1], "again") {
					t.Errorf("notes are %q", notes)
				}
			})
		})
	}
}

func TestAVendorThatDoesNotComeBackStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{reject: func(time.Time) *Error {
			return &Error{Class: Overloaded, Provider: "anthropic", Model: "m", Status: 529, Message: "overloaded"}
		}}
		m := NewScheduler(Pace{Hold: 2 * time.Minute}, seeded()).Wrap(v)
		start := time.Now()
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				_, err := m.Generate(t.Context(), &Request{})
				var stop *eval.Stop
				if !errors.As(err, &stop) || ClassOf(err) != Overloaded {
					t.Errorf("got %v, want the run to be stopped", err)
					return
				}
				if !strings.HasPrefix(stop.Why, "anthropic: no reply for 2m") || !strings.HasSuffix(stop.Why, "in a row failed, the last: overloaded") {
					t.Errorf("the run is told %q", stop.Why)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("ended after %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{reject: func(time.Time) *Error { return tooMany(6 * time.Hour) }}
		start := time.Now()
		_, err := NewScheduler(Pace{}, seeded()).Wrap(v).Generate(t.Context(), &Request{})
		var stop *eval.Stop
		if !errors.As(err, &stop) || time.Since(start) > time.Second {
			t.Errorf("after %s got %v, want the run to be stopped at once", time.Since(start), err)
		}
	})
}

// Without money every call fails: the cases that are left are for another day.
func TestAnAccountWithoutMoneyStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewScheduler(Pace{}, seeded()).Wrap(ModelFunc(func(context.Context, *Request) (*Reply, error) {
			return nil, &Error{Class: Quota, Provider: "openai", Model: "m", Status: 429, Message: "You exceeded your current quota"}
		}))
		_, err := m.Generate(t.Context(), &Request{})
		var stop *eval.Stop
		if !errors.As(err, &stop) || ClassOf(err) != Quota || stop.Why != "openai: You exceeded your current quota" {
			t.Errorf("got %v, want the run to be stopped", err)
		}
		if want := "openai:m: You exceeded your current quota (HTTP 429)"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestACallThatBreaksTheVendorEndsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewScheduler(Pace{Concurrency: 4}, seeded()).Wrap(ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) {
			if err := sleep(ctx, 10*time.Millisecond); err != nil {
				return nil, err
			}
			if req.System == "poison" {
				return nil, &Error{Class: Server, Message: "broken"}
			}
			return &Reply{}, nil
		}))
		var wg sync.WaitGroup
		var good, bad atomic.Int64
		for i := range 60 {
			wg.Go(func() {
				req := &Request{}
				if i < 3 {
					req.System = "poison"
				}
				_, err := m.Generate(t.Context(), req)
				var stop *eval.Stop
				switch {
				case err == nil:
					good.Add(1)
				case errors.As(err, &stop):
					t.Error(err)
				default:
					bad.Add(1)
				}
			})
		}
		wg.Wait()
		if good.Load() != 57 || bad.Load() != 3 {
			t.Errorf("%d good and %d bad, want 57 and 3", good.Load(), bad.Load())
		}
	})
}

func TestWhatTheVendorSaysIsLeftIsHeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		m := NewScheduler(Pace{Concurrency: 1}, seeded()).Wrap(ModelFunc(func(context.Context, *Request) (*Reply, error) {
			at = append(at, time.Since(start))
			return &Reply{Limits: &Limits{
				Requests: Limit{Most: 60, Left: 0, Reset: time.Minute},
				Tokens:   Limit{Left: -1},
			}}, nil
		}))
		all(t, m, 5)
		for i := range 5 {
			if at[i] != time.Duration(i)*time.Second {
				t.Errorf("call %d was made at %s, want one a second", i, at[i])
			}
		}
	})
}

func TestAModelThatPanicsKeepsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := NewScheduler(Pace{Concurrency: 1}, seeded()).Wrap(ModelFunc(func(context.Context, *Request) (*Reply, error) {
			if n++; n == 1 {
				panic("no")
			}
			return &Reply{}, nil
		}))
		if _, err := m.Generate(t.Context(), &Request{}); err == nil || err.Error() != "the model broke: no" {
			t.Errorf("got %v", err)
		}
		all(t, m, 2)
	})
}

func TestCallsAreServedInTheOrderTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		m := NewScheduler(Pace{Concurrency: 1}, seeded()).Wrap(ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) {
			order = append(order, req.System)
			return &Reply{}, sleep(ctx, time.Second)
		}))
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() { _, _ = m.Generate(t.Context(), &Request{System: fmt.Sprint(i)}) })
			synctest.Wait()
		}
		wg.Wait()
		if got := strings.Join(order, ""); got != "01234" {
			t.Errorf("the order is %s", got)
		}
	})
}
