package eval_test

import (
	"context"
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

// recorder is a listener that remembers what it is told.
type recorder struct {
	mu       sync.Mutex
	started  *eval.Run
	events   []eval.Event
	results  []*eval.Result
	finished *eval.Run
}

func (r *recorder) Name() string { return "recorder" }

func (r *recorder) Start(run *eval.Run) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = run
	return nil
}

func (r *recorder) Event(e eval.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

func (r *recorder) Results(batch []*eval.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, batch...)
	return nil
}

func (r *recorder) Finish(run *eval.Run) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = run
	return nil
}

func (r *recorder) seen() []*eval.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.results)
}

// troubled is a listener that does one thing whenever it is told something.
type troubled struct {
	name     string
	do       func(what string) error
	patience time.Duration
}

func (l *troubled) Name() string                 { return l.name }
func (l *troubled) Spools() bool                 { return true }
func (l *troubled) Start(*eval.Run) error        { return l.do("start") }
func (l *troubled) Event(eval.Event) error       { return l.do("event") }
func (l *troubled) Results([]*eval.Result) error { return l.do("results") }
func (l *troubled) Finish(run *eval.Run) error {
	_ = fmt.Sprint(run.Notes) // to be found by the race detector
	return l.do("finish")
}

type patient struct{ *troubled }

func (p patient) Patience() time.Duration { return p.patience }

// slowly answers after a second, with a call reported.
func slowly(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
	call := a.Begin(eval.ToolEvent, "ask", nil)
	time.Sleep(time.Second)
	call.End(nil, nil, nil)
	return answer(ctx, a)
}

func TestListenersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := new(recorder)
		r := newRunner(slowly, new(memory))
		r.Listeners = []eval.Listener{told}
		got := run(t, t.Context(), r, suiteOf(10))
		if told.started == nil || len(told.events) != 10 || len(told.results) != 10 || told.finished == nil {
			t.Fatalf("told of %d events, %d results; finished: %v", len(told.events), len(told.results), told.finished)
		}
		if told.started.Header.Status != eval.Running || told.finished.Verdict != eval.Passed || len(got.Notes) != 0 {
			t.Errorf("started as %s, finished %s, notes %v", told.started.Header.Status, told.finished.Verdict, got.Notes)
		}
	})
}

func TestListenersInTroubleChangeNothing(t *testing.T) {
	in := func(places string, f func() error) func(string) error {
		return func(what string) error {
			if strings.Contains(places, what) {
				return f()
			}
			return nil
		}
	}
	errs := func() error { return errors.New("HTTP 500") }
	panics := func() error { panic("nil map") }
	for _, tt := range []struct {
		name  string
		do    func(hang func() error) func(string) error
		notes []string
		spool int // identities
		waits time.Duration
	}{
		{
			"hangs from the start", func(hang func() error) func(string) error { return in("start", hang) },
			[]string{"l: not done 200ms after the run, so the run did not wait for it"},
			20, 200 * time.Millisecond,
		},
		{
			"hangs at an event", func(hang func() error) func(string) error { return in("event", hang) },
			[]string{"l: not done 200ms after the run, so the run did not wait for it"},
			20, 200 * time.Millisecond,
		},
		{
			"hangs with results in its hands", func(hang func() error) func(string) error { return in("results", hang) },
			[]string{"l: not done 200ms after the run, so the run did not wait for it"},
			20, 200 * time.Millisecond,
		},
		{
			"hangs at the end", func(hang func() error) func(string) error { return in("finish", hang) },
			[]string{"l: not done 200ms after the run, so the run did not wait for it"},
			0, 200 * time.Millisecond,
		},
		{
			"always errors", func(func() error) func(string) error { return in("start event results finish", errs) },
			[]string{"l: HTTP 500 (%d errors)"},
			20, 0,
		},
		{"errors at the end", func(func() error) func(string) error { return in("finish", errs) }, []string{"l: HTTP 500"}, 0, 0},
		{"always panics", func(func() error) func(string) error { return in("start event results finish", panics) }, []string{"l: panic: nil map"}, 20, 0},
		{"panics at the end", func(func() error) func(string) error { return in("finish", panics) }, []string{"l: panic: nil map"}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				hang := func() error { <-release; return nil }
				journal, healthy := new(memory), new(recorder)
				r := newRunner(slowly, journal)
				r.Listeners = []eval.Listener{&troubled{name: "l", do: tt.do(hang)}, healthy}
				start := time.Now()
				got := run(t, t.Context(), r, suiteOf(20))
				took := time.Since(start)
				close(release)
				if got.Verdict != eval.Passed || got.Header.Status != eval.Done || got.Summary.Passed != 20 || got.Finished.Sub(start) != 5*time.Second {
					t.Errorf("%s, %s, %+v", got.Header.Status, got.Verdict, got.Summary.Counts)
				}
				if took != 5*time.Second+tt.waits {
					t.Errorf("took %s, want 5s and %s", took, tt.waits)
				}
				if strings.Contains(tt.notes[0], "%d") { // batches differ
					var n int
					if len(got.Notes) != 1 || scan(got.Notes[0], tt.notes[0], &n) != nil || n < 23 {
						t.Errorf("notes %q", got.Notes)
					}
				} else if diff := cmp.Diff(tt.notes, got.Notes); diff != "" {
					t.Errorf("notes (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(got.Notes, journal.finished.Notes); diff != "" {
					t.Errorf("notes kept (-want +got):\n%s", diff)
				}
				if ids := journal.spooled["l"]; len(ids) != tt.spool || len(distinct(ids)) != tt.spool || len(journal.spooled["recorder"]) != 0 {
					t.Errorf("spooled %v", journal.spooled)
				}
				if len(healthy.results) != 20 || healthy.finished == nil {
					t.Errorf("the other listener was told of %d results", len(healthy.results))
				}
			})
		})
	}
}

func scan(text, format string, n *int) error {
	_, err := fmt.Sscanf(text, format, n)
	return err
}

func distinct(ids []eval.Identity) map[eval.Identity]bool {
	out := map[eval.Identity]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// TestTheRunWaitsForAllListenersAtTheSameTime: neither several that hang nor
// one that takes its time with each thing makes the run wait longer.
func TestTheRunWaitsForAllListenersAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hangs := func(string) error { <-release; return nil }
		slow := func(string) error { time.Sleep(3 * time.Second); return nil }
		journal := new(memory)
		r := newRunner(slowly, journal)
		r.Listeners = []eval.Listener{
			&troubled{name: "a", do: hangs}, &troubled{name: "b", do: hangs}, &troubled{name: "slow", do: slow},
			patient{&troubled{name: "patient", do: hangs, patience: 4 * time.Second}},
		}
		start := time.Now()
		got := run(t, t.Context(), r, suiteOf(20))
		if took := time.Since(start); took != 9*time.Second {
			t.Errorf("took %s, want 5s and the 4s that a listener asks for", took)
		}
		if len(got.Notes) != 4 || !strings.Contains(got.Notes[3], "patient: not done 4s after the run") {
			t.Errorf("notes %q", got.Notes)
		}
		for _, name := range []string{"a", "b", "slow", "patient"} {
			if len(journal.spooled[name]) == 0 {
				t.Errorf("nothing spooled for %s", name)
			}
		}
		close(release)
		time.Sleep(time.Hour) // the slow one takes what it has
	})
}

// TestAFullQueueHoldsNoMore: what a listener does not take is bounded, and its
// identity is kept for later.
func TestAFullQueueHoldsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var mu sync.Mutex
		told := map[string]int{}
		l := &troubled{name: "l", do: func(what string) error {
			<-release
			mu.Lock()
			defer mu.Unlock()
			told[what]++
			return nil
		}}
		journal := new(memory)
		r := newRunner(func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
			for range 10 {
				a.Begin(eval.ToolEvent, "ask", nil).End(nil, nil, nil)
			}
			return answer(ctx, a)
		}, journal)
		r.Listeners = []eval.Listener{l}
		const cases = 6000
		got := run(t, t.Context(), r, suiteOf(cases))
		if got.Summary.Passed != cases || len(distinct(journal.spooled["l"])) != cases || len(journal.spooled["l"]) != cases {
			t.Errorf("%d passed, %d spooled", got.Summary.Passed, len(journal.spooled["l"]))
		}
		close(release)
		synctest.Wait()
		if told["event"] > 4096 || told["results"] > 0 {
			t.Errorf("told of %v after the run went on without it", told)
		}
	})
}

// TestResultsAreCountedOnceOnDisk: nothing is counted or told that is not
// synced.
func TestResultsAreCountedOnceOnDisk(t *testing.T) {
	journal := new(memory)
	told := &watching{journal: journal}
	r := newRunner(answer, journal)
	r.Listeners = []eval.Listener{told}
	got := run(t, t.Context(), r, suiteOf(500))
	if got.Summary.Total != 500 || told.early > 0 {
		t.Errorf("%d counted; told of %d results before they were synced", got.Summary.Total, told.early)
	}
}

type watching struct {
	recorder
	journal *memory
	early   int
}

func (w *watching) Results(batch []*eval.Result) error {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	for _, res := range batch {
		if !slices.Contains(w.journal.results[:w.journal.synced], res) {
			w.early++
		}
	}
	return nil
}
