package eval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

// check wraps a grader function as a check of error severity.
func check(key string, g eval.GraderFunc) *eval.Check {
	return &eval.Check{Key: key, Kind: key, Weight: 1, Severity: eval.ErrorSeverity, Grader: g}
}

func passes(context.Context, *eval.Attempt) (eval.Score, error) {
	return eval.PassIf(true, "fine"), nil
}

func suiteOf(n int, checks ...*eval.Check) *eval.Suite {
	if len(checks) == 0 {
		checks = []*eval.Check{check("ok", passes)}
	}
	s := &eval.Suite{Name: "s"}
	for i := range n {
		s.Cases = append(s.Cases, &eval.Case{ID: fmt.Sprintf("c%02d", i), Suite: "s", Checks: checks})
	}
	return s
}

// memory is a journal that remembers what it was given.
type memory struct {
	mu       sync.Mutex
	results  []*eval.Result
	synced   int // of results
	finished *eval.Run
	spooled  map[string][]eval.Identity
	kept     []string

	failAppend, failSync error // from the result failAt on
	failAt               int
}

func (m *memory) Start(*eval.Run) error { return nil }

func (m *memory) Append(res *eval.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failAppend != nil && len(m.results) >= m.failAt {
		return m.failAppend
	}
	m.results = append(m.results, res)
	return nil
}

func (m *memory) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failSync != nil && len(m.results) >= m.failAt {
		return m.failSync
	}
	m.synced = len(m.results)
	return nil
}

func (m *memory) Finish(run *eval.Run) error {
	finished := *run
	m.finished = &finished
	return nil
}

func (m *memory) Keep(data []byte) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append(m.kept, string(data))
	return fmt.Sprintf("digest-%d", len(m.kept)), nil
}

func (m *memory) Spool(listener string, results []eval.Identity) error {
	if m.spooled == nil {
		m.spooled = map[string][]eval.Identity{}
	}
	m.spooled[listener] = results
	return nil
}

func answer(context.Context, *eval.Attempt) (*eval.Response, error) {
	return &eval.Response{Text: "yes"}, nil
}

func newRunner(t eval.TargetFunc, journal ...*memory) *eval.Runner {
	env := &eval.Env{Targets: map[string]eval.Target{"": t}, Now: time.Now}
	r := &eval.Runner{Env: env, Executor: &eval.Pool{Env: env, Concurrency: 4}}
	if len(journal) > 0 {
		r.Journal = journal[0]
	}
	return r
}

// oneByOne makes a runner evaluate one attempt at a time.
func oneByOne(r *eval.Runner) *eval.Runner {
	r.Executor.(*eval.Pool).Concurrency = 1
	return r
}

func run(t *testing.T, ctx context.Context, r *eval.Runner, suites ...*eval.Suite) *eval.Run {
	t.Helper()
	got, err := r.Run(ctx, eval.Header{ID: "r"}, suites)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWorkersRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		r := newRunner(func(context.Context, *eval.Attempt) (*eval.Response, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return &eval.Response{Text: "x"}, nil
		})
		start := time.Now()
		got := run(t, t.Context(), r, suiteOf(20))
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("20 cases of a second, 4 at a time, took %s", took)
		}
		if most.Load() != 4 {
			t.Errorf("%d ran at a time, want 4", most.Load())
		}
		if got.Summary.Passed != 20 || got.Verdict != eval.Passed {
			t.Errorf("passed %d, verdict %s", got.Summary.Passed, got.Verdict)
		}
	})
}

func TestTimeoutIsAnErrorAndNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := new(memory)
		r := newRunner(func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
			if a.Case.ID == "c01" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return answer(ctx, a)
		}, journal)
		r.Env.Timeout = 3 * time.Second
		got := run(t, t.Context(), r, suiteOf(3))
		want := eval.Counts{Total: 3, Passed: 2, Errors: 1}
		if diff := cmp.Diff(want, got.Summary.Counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		if got.Verdict != eval.Incomplete {
			t.Errorf("verdict %s, want incomplete", got.Verdict)
		}
		i := slices.IndexFunc(journal.results, func(r *eval.Result) bool { return r.Status == eval.Error })
		if f := journal.results[i].Fault; f.Class != eval.TimeoutFault || !strings.Contains(f.Message, "3s") {
			t.Errorf("fault %+v", f)
		}
	})
}

func TestFailFastStartsNothingNew(t *testing.T) {
	r := newRunner(answer, new(memory))
	oneByOne(r).FailFast = true
	bad := check("bad", func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
		c := a.Case
		return eval.PassIf(c.ID != "c02", "seen %s", c.ID), nil
	})
	s := suiteOf(500, bad)
	got := run(t, t.Context(), r, s)
	if got.Header.Status != eval.Stopped || got.Verdict != eval.Failed {
		t.Errorf("status %s, verdict %s", got.Header.Status, got.Verdict)
	}
	if got.Summary.Failed != 1 || got.Summary.Total >= 500 {
		t.Errorf("%d failed of %d that ran", got.Summary.Failed, got.Summary.Total)
	}
}

func TestTooManyErrorsInARowStopTheRun(t *testing.T) {
	r := newRunner(func(context.Context, *eval.Attempt) (*eval.Response, error) {
		return nil, errors.New("connection refused")
	})
	oneByOne(r).MaxErrors = 3
	got := run(t, t.Context(), r, suiteOf(500))
	if got.Header.Status != eval.Stopped || got.Verdict != eval.Incomplete {
		t.Errorf("status %s, verdict %s", got.Header.Status, got.Verdict)
	}
	if got.Summary.Failed != 0 || got.Summary.Errors < 3 || got.Summary.Errors > 50 {
		t.Errorf("%d failed, %d errors", got.Summary.Failed, got.Summary.Errors)
	}
	if !strings.Contains(got.Why, "connection refused") {
		t.Errorf("why: %s", got.Why)
	}
}

// TestAJudgeThatIsDownStopsTheRun: as many unscored results in a row as errors.
// An error between them is not a verdict.
func TestAJudgeThatIsDownStopsTheRun(t *testing.T) {
	r := newRunner(func(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
		if a.Case.ID == "c11" {
			return nil, errors.New("connection refused")
		}
		return &eval.Response{Text: a.Case.ID}, nil
	})
	oneByOne(r).MaxUnscored = 3
	judged := check("judge", func(_ context.Context, a *eval.Attempt) (eval.Score, error) {
		if a.Case.ID < "c10" {
			return passes(t.Context(), a)
		}
		return eval.Score{}, errors.New("ask the judge: unauthorized")
	})
	got := run(t, t.Context(), r, suiteOf(90, judged))
	if got.Header.Status != eval.Stopped || got.Verdict != eval.Incomplete {
		t.Errorf("status %s, verdict %s", got.Header.Status, got.Verdict)
	}
	if n := got.Summary; n.Passed != 10 || n.Errors != 1 || n.Unscored < 3 || n.Unscored > 10 {
		t.Errorf("%+v", n.Counts)
	}
	if got.Why != "3 results in a row could not be judged, the last: judge: ask the judge: unauthorized" {
		t.Errorf("why: %s", got.Why)
	}
}

// TestAbsentResultsKeepARunIncomplete, whatever the others are.
func TestAbsentResultsKeepARunIncomplete(t *testing.T) {
	r := newRunner(answer)
	r.Absent = 2
	got := run(t, t.Context(), r, suiteOf(3))
	if got.Header.Status != eval.Stopped || got.Verdict != eval.Incomplete || got.Planned != 5 || got.Summary.Passed != 3 {
		t.Errorf("status %s, verdict %s, %d planned, %d passed", got.Header.Status, got.Verdict, got.Planned, got.Summary.Passed)
	}
	if got.Why != "2 of 5 answers are missing in the run that they are taken from" {
		t.Errorf("why: %s", got.Why)
	}
}

func TestInterruptionKeepsWhatIsDoneAndDropsWhatIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		journal := new(memory)
		r := newRunner(func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
			select {
			case <-time.After(time.Second):
				return answer(ctx, a)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, journal)
		time.AfterFunc(2500*time.Millisecond, cancel)
		got := run(t, ctx, r, suiteOf(20))
		if got.Header.Status != eval.Interrupted || got.Summary.Total != 8 || got.Summary.Errors != 0 {
			t.Errorf("status %s, %d results, %d errors; want interrupted, 8, 0", got.Header.Status, got.Summary.Total, got.Summary.Errors)
		}
		if journal.finished == nil {
			t.Error("the journal was not finished")
		}

		again := newRunner(answer, journal)
		prior := slices.Clone(journal.results)
		again.Prior = func(yield func(*eval.Result, error) bool) {
			for _, r := range prior {
				if !yield(r, nil) {
					return
				}
			}
		}
		got = run(t, t.Context(), again, suiteOf(20))
		if got.Summary.Total != 20 || got.Planned != 20 || len(journal.results) != 20 {
			t.Errorf("after resuming: %d results counted, %d made", got.Summary.Total, len(journal.results))
		}
	})
}

func TestTrialsAreSpreadOverTheRun(t *testing.T) {
	var order []string
	r := newRunner(func(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
		order = append(order, fmt.Sprintf("%s/%d", a.Case.ID, a.Trial))
		return answer(ctx, a)
	})
	oneByOne(r).Trials = 2
	s := suiteOf(2)
	s.Cases[1].Trials = 3
	got := run(t, t.Context(), r, s)
	if diff := cmp.Diff([]string{"c00/1", "c01/1", "c00/2", "c01/2", "c01/3"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if got.Planned != 5 || got.Summary.Cases != 2 {
		t.Errorf("planned %d, cases %d", got.Planned, got.Summary.Cases)
	}
}

func TestExpensiveGradersRunSideBySideAfterTheCheapOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cheapAt, expensiveAt atomic.Int64
		start := time.Now()
		cheap := check("cheap", func(context.Context, *eval.Attempt) (eval.Score, error) {
			cheapAt.Store(int64(time.Since(start)))
			return eval.PassIf(true, ""), nil
		})
		d := func(context.Context, *eval.Attempt) (eval.Score, error) {
			expensiveAt.Store(int64(time.Since(start)))
			time.Sleep(time.Second)
			return eval.PassIf(true, ""), nil
		}
		checks := []*eval.Check{check("d1", nil), cheap, check("d2", nil), check("d3", nil)}
		for _, c := range []int{0, 2, 3} {
			checks[c].Grader = expensive{d}
		}
		journal := new(memory)
		run(t, t.Context(), newRunner(answer, journal), suiteOf(1, checks...))
		if took := time.Since(start); took != time.Second {
			t.Errorf("three graders of a second took %s", took)
		}
		if cheapAt.Load() > expensiveAt.Load() {
			t.Error("an expensive grader ran before the cheap one")
		}
		var keys []string
		for _, s := range journal.results[0].Scores {
			keys = append(keys, s.Key)
		}
		if diff := cmp.Diff([]string{"d1", "cheap", "d2", "d3"}, keys); diff != "" {
			t.Errorf("scores are not in check order:\n%s", diff)
		}
	})
}

type expensive struct{ eval.GraderFunc }

func (expensive) Expensive() bool { return true }

func TestAJournalThatFailsEndsTheRun(t *testing.T) {
	full := errors.New("disk full")
	for name, journal := range map[string]*memory{
		"append": {failAppend: full, failAt: 3},
		"sync":   {failSync: full, failAt: 3},
	} {
		told := new(recorder)
		r := newRunner(answer, journal)
		r.Listeners = []eval.Listener{told}
		got, err := r.Run(t.Context(), eval.Header{}, []*eval.Suite{suiteOf(5000)})
		if !errors.Is(err, full) {
			t.Fatalf("%s: error %v", name, err)
		}
		if got.Summary != nil || journal.finished != nil {
			t.Errorf("%s: the run was finished", name)
		}
		if len(journal.results) == 5000 {
			t.Errorf("%s: the run went on", name)
		}
		for _, res := range told.seen() {
			if !slices.Contains(journal.results[:journal.synced], res) {
				t.Errorf("%s: a listener was told of %s, which is not on disk", name, res.Case.ID)
			}
		}
	}
}

type needy struct{ eval.TargetFunc }

func (needy) Prepare(context.Context, *eval.Env, []*eval.Case) error {
	return &eval.Missing{What: []string{"the key", "the server"}}
}

func TestWhatIsMissingIsToldBeforeTheFirstCase(t *testing.T) {
	r := newRunner(answer)
	r.Env.Targets = map[string]eval.Target{"": needy{func(context.Context, *eval.Attempt) (*eval.Response, error) {
		t.Error("a case was put")
		return nil, nil
	}}}
	s := suiteOf(2)
	s.Cases[1].Target = "elsewhere"
	_, err := r.Run(t.Context(), eval.Header{}, []*eval.Suite{s})
	for _, want := range []string{"the key", "the server", `"elsewhere"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestPanicsBecomeErrorsAndUnscored(t *testing.T) {
	journal := new(memory)
	r := newRunner(func(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
		switch a.Case.ID {
		case "c00":
			panic("boom")
		case "c01":
			return nil, nil
		}
		return &eval.Response{}, nil
	}, journal)
	s := suiteOf(3, check("p", func(context.Context, *eval.Attempt) (eval.Score, error) { panic("grader") }))
	got := run(t, t.Context(), r, s)
	want := eval.Counts{Total: 3, Errors: 2, Unscored: 1}
	if diff := cmp.Diff(want, got.Summary.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestResultsToMakeAgainCountUntilTheyAre(t *testing.T) {
	s := suiteOf(4)
	prior := func(yield func(*eval.Result, error) bool) {
		for i, status := range []eval.Status{eval.Pass, eval.Error, eval.Error, eval.Pass} {
			if !yield(&eval.Result{Case: s.Cases[i], Trial: 1, Status: status, Fault: &eval.Fault{Class: "transport"}}, nil) {
				return
			}
		}
	}
	redo := func(r *eval.Result) bool { return r.Status == eval.Error }
	journal := new(memory)
	r := newRunner(answer, journal)
	r.Prior, r.Redo = prior, redo
	got := run(t, t.Context(), r, s)
	if want := (eval.Counts{Total: 4, Passed: 4}); got.Summary.Counts != want || len(journal.results) != 2 {
		t.Errorf("counts %+v after %d new results", got.Summary.Counts, len(journal.results))
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r = newRunner(answer)
	r.Prior, r.Redo = prior, redo
	got = run(t, ended, r, s)
	if want := (eval.Counts{Total: 4, Passed: 2, Errors: 2}); got.Summary.Counts != want || got.Header.Status != eval.Interrupted {
		t.Errorf("stopped before: %+v, %s", got.Summary.Counts, got.Header.Status)
	}
}
