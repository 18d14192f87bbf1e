package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// Runner runs suites: it prepares targets and graders, has an [Executor]
// evaluate every case, keeps each result in the [Journal], counts it, and tells
// the listeners. Everything else is a target that wraps a target, a listener,
// or another executor.
type Runner struct {
	Env         *Env
	Executor    Executor
	Trials      int                       // runs per case, where it does not say; at least 1
	FailFast    bool                      // start nothing new after a failed case
	MaxErrors   int                       // stop when this many results in a row have no answer; 0 for never
	MaxUnscored int                       // stop when this many results in a row could not be judged; 0 for never
	Absent      int                       // results that the run is missing and cannot make: it does not get complete
	Prior       iter.Seq2[*Result, error] // results the run has already: counted, not made again
	Redo        func(*Result) bool        // which of them are made again all the same; nil for none
	Journal     Journal                   // nil to keep nothing
	Listeners   []Listener
}

const failFastWhy = "a case failed and the run was asked to stop at the first failure"

// Run prepares what the suites use, evaluates every case, and returns the
// finished run. A run that ends early, because ctx ended or by its own rules,
// is not an error: its status says so. An error means that the run could not
// start or that its results could not be kept.
func (r *Runner) Run(ctx context.Context, head Header, suites []*Suite) (*Run, error) {
	run := &Run{Header: head}
	run.Header.Status, run.Format, run.Trials = Running, FormatVersion, max(1, r.Trials)
	run.Why, run.Finished = "", time.Time{} // of an earlier part of the run
	run.Suites = nil
	for _, s := range suites {
		run.Suites = append(run.Suites, *s)
	}
	jobs := r.plan(suites)
	run.Planned = len(jobs) + r.Absent

	tally := NewTally(EffectiveGates(run.Gates, run.Suites), run.Kinds)
	jobs, old, err := r.withoutPrior(jobs, tally)
	if err != nil {
		return run, err
	}
	if len(jobs) > 0 { // a run that has all its results only needs its end
		if err := r.prepare(ctx, suites, run); err != nil {
			return run, err
		}
	}
	if r.Journal != nil {
		if err := r.Journal.Start(run); err != nil {
			return run, err
		}
		r.Env.Keep = r.Journal.Keep
	}
	heard := newBroadcast(r.Listeners, r.Journal)
	heard.start(run, r.Env.now())
	r.Env.Observe = heard.event
	if err := r.work(ctx, run, jobs, tally, heard); err != nil {
		heard.abandon()
		return run, err
	}
	for id, res := range old {
		if !tally.has(id) {
			tally.Add(res)
		}
	}
	return run, r.finish(run, tally, heard)
}

// plan lists every case as often as it is tried, first trials first, so that
// the trials of a case are spread over the run.
func (r *Runner) plan(suites []*Suite) (jobs []Job) {
	for trial := 1; ; trial++ {
		before := len(jobs)
		for _, s := range suites {
			for _, c := range s.Cases {
				if n := c.Trials; trial <= n || (n == 0 && trial <= max(1, r.Trials)) {
					jobs = append(jobs, Job{Case: c, Trial: trial})
				}
			}
		}
		if len(jobs) == before {
			return jobs
		}
	}
}

// withoutPrior counts the results that are there and gives the jobs that are
// left. Results that are made again are counted when the new ones do not come.
func (r *Runner) withoutPrior(jobs []Job, tally *Tally) (left []Job, old map[Identity]*Result, err error) {
	if r.Prior == nil {
		return jobs, nil, nil
	}
	done, old := map[Identity]bool{}, map[Identity]*Result{}
	for res, err := range r.Prior {
		if err != nil {
			return nil, nil, err
		}
		if r.Redo != nil && r.Redo(res) {
			old[res.Identity()] = res
			continue
		}
		done[res.Identity()] = true
		tally.Add(res)
	}
	return slices.DeleteFunc(jobs, func(j Job) bool { return done[j.Identity()] }), old, nil
}

// prepare asks every target and grader in use what it is missing, and joins
// what all of them say.
func (r *Runner) prepare(ctx context.Context, suites []*Suite, run *Run) error {
	byTarget := map[string][]*Case{}
	var names []string
	var graders []Preparer
	asked := map[Preparer]bool{}
	for _, s := range suites {
		for _, c := range s.Cases {
			if byTarget[c.Target] == nil {
				names = append(names, c.Target)
			}
			byTarget[c.Target] = append(byTarget[c.Target], c)
			for _, check := range c.Checks {
				if p, ok := check.Grader.(Preparer); ok && !asked[p] {
					asked[p] = true
					graders = append(graders, p)
				}
			}
		}
	}
	var errs []error
	for _, name := range names {
		t, ok := r.Env.Targets[name]
		if !ok {
			errs = append(errs, fmt.Errorf("no target is named %q", name))
			continue
		}
		if p, ok := t.(Preparer); ok {
			errs = append(errs, p.Prepare(ctx, r.Env, byTarget[name]))
		}
		if d, ok := t.(Describer); ok && errors.Join(errs...) == nil {
			if run.Targets == nil {
				run.Targets = map[string]map[string]string{}
			}
			run.Targets[name] = d.Describe()
		}
	}
	for _, g := range graders {
		errs = append(errs, g.Prepare(ctx, r.Env, nil))
	}
	return joinDistinct(errs)
}

// joinDistinct joins errors, those that say the same once: a key that is
// missing is missing for every check that needs it.
func joinDistinct(errs []error) error {
	said := map[string]bool{}
	var distinct []error
	var add func(errs []error)
	add = func(errs []error) {
		for _, err := range errs {
			if many, ok := err.(interface{ Unwrap() []error }); ok {
				add(many.Unwrap())
			} else if err != nil && !said[err.Error()] {
				said[err.Error()] = true
				distinct = append(distinct, err)
			}
		}
	}
	add(errs)
	return errors.Join(distinct...)
}

// work has the jobs executed until all are done or the run ends early, and says
// in the header how it ended.
func (r *Runner) work(ctx context.Context, run *Run, jobs []Job, tally *Tally, heard *broadcast) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &book{runner: r, tally: tally, heard: heard, written: make(chan *Result, unsynced), abort: cancel}
	counted := make(chan struct{})
	go func() { defer close(counted); b.count() }()
	err := r.Executor.Execute(inner, jobs, b.emit)
	close(b.written)
	<-counted

	var stop *Stop
	run.Header.Status, run.Why = Stopped, b.why
	switch {
	case b.err != nil:
		return b.err
	case errors.As(err, &stop):
		run.Why = stop.Why
	case b.done == len(jobs) && r.Absent > 0:
		run.Why = fmt.Sprintf("%d of %d answers are missing in the run that they are taken from", r.Absent, run.Planned)
	case b.done == len(jobs):
		run.Header.Status = Done
		if run.Why != failFastWhy {
			run.Why = ""
		}
	case ctx.Err() != nil:
		run.Header.Status, run.Why = Interrupted, ""
	case b.why == "" && err != nil:
		return err
	}
	return nil
}

// unsynced is how many results may wait to be synced to disk. Their workers go
// on meanwhile: what is written survives the end of the process, and what is
// counted survives a power cut.
const unsynced = 1024

// book takes results in: it writes each to the journal, syncs those written
// since, and only then counts them and tells the listeners.
type book struct {
	runner  *Runner
	tally   *Tally
	heard   *broadcast
	written chan *Result
	abort   func()

	mu   sync.Mutex
	done int
	row  int    // results without an answer since the last with a verdict
	open int    // results that could not be judged since then
	why  string // why nothing new is to be started
	err  error  // the journal's
}

// emit writes a result to the journal. It returns [ErrHalt] when nothing new is
// to be started.
func (b *book) emit(res *Result) error {
	if b.runner.Journal != nil {
		if err := b.runner.Journal.Append(res); err != nil {
			b.fail(err)
			return err
		}
		res.shed()
	}
	b.written <- res
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	switch res.Status {
	case Error:
		b.row++
	case Unscored:
		b.open++
	default:
		b.row, b.open = 0, 0
	}
	switch {
	case b.runner.FailFast && res.Status == Fail:
		b.why = failFastWhy
	case b.why != "":
	case res.Status == Error && b.runner.MaxErrors > 0 && b.row >= b.runner.MaxErrors:
		b.why = fmt.Sprintf("%d results in a row have no answer, the last: %s", b.row, res.Fault.Message)
	case res.Status == Unscored && b.runner.MaxUnscored > 0 && b.open >= b.runner.MaxUnscored:
		b.why = fmt.Sprintf("%d results in a row could not be judged, the last: %s", b.open, res.undecided())
	}
	if b.why != "" {
		return ErrHalt
	}
	return b.err
}

// undecided is why a result is unscored.
func (r *Result) undecided() string {
	for _, s := range r.Scores {
		if s.Status == Unscored && s.Severity != WarnSeverity {
			return s.Key + ": " + s.Reason
		}
	}
	return "no reason given"
}

func (b *book) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
		b.abort()
	}
}

func (b *book) failed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

// count counts what is on disk. Whatever was written while the last sync took
// its time is synced together.
func (b *book) count() {
	for first := range b.written {
		batch := []*Result{first}
		for len(batch) < cap(b.written) && len(b.written) > 0 {
			batch = append(batch, <-b.written)
		}
		if b.failed() {
			continue // what a failed disk says of later results is not to be trusted
		}
		if b.runner.Journal != nil {
			if err := b.runner.Journal.Sync(); err != nil {
				b.fail(err)
				continue
			}
		}
		for _, res := range batch {
			b.tally.Add(res)
		}
		b.heard.results(batch)
	}
}

func (r *Runner) finish(run *Run, tally *Tally, heard *broadcast) error {
	run.Finished = r.Env.now()
	run.Summary = tally.Summary()
	run.Outcomes = tally.Outcomes()
	run.Cases = tally.Verdicts()
	run.Judge()
	if r.Journal != nil {
		if err := r.Journal.Finish(run); err != nil {
			heard.abandon()
			return err
		}
	}
	if notes := heard.finish(run); len(notes) > 0 {
		run.Notes = append(run.Notes, notes...)
		if r.Journal != nil {
			return r.Journal.Finish(run)
		}
	}
	return nil
}
