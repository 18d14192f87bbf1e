package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Runner puts cases to targets. It schedules, times out, grades and emits;
// everything else is a target that wraps a target, or a sink.
type Runner struct {
	Targets     map[string]Target         // by the name cases use
	Concurrency int                       // cases at a time; at least 1
	Trials      int                       // times each case is put, where it does not say; at least 1
	Timeout     time.Duration             // of one answer, and of its checks after it, where they do not bound themselves; 0 for none
	FailFast    bool                      // start nothing new after a failed case
	MaxErrors   int                       // stop when this many results in a row have no answer; 0 for never
	Prior       iter.Seq2[*Result, error] // results the run has already: counted, not made again
	Redo        func(*Result) bool        // which of them are made again all the same; nil for none
	Sinks       []Sink                    // the store first
	Now         func() time.Time

	// Timing tells when a case was put and how long it took, where that is
	// known from elsewhere: a replayed run reports the times of the recording.
	Timing func(c *Case, trial int) (started time.Time, took time.Duration, ok bool)
}

const failFastWhy = "a case failed and the run was asked to stop at the first failure"

// batchSize bounds how many results are handed to the sinks, and so synced to
// disk, at a time.
const batchSize = 256

type job struct {
	c     *Case
	trial int
}

// Run prepares what the suites use, puts every case to its target, and gives
// back the finished run. A run that ends early, because ctx ended or by its own
// rules, is not an error: its status says so. An error means that the run
// could not start or that its results could not be kept.
func (r *Runner) Run(ctx context.Context, head Header, suites []*Suite) (*Run, error) {
	run := &Run{Header: head}
	run.Header.Status, run.Format, run.Trials = Running, FormatVersion, max(1, r.Trials)
	run.Why, run.Finished = "", time.Time{} // of an earlier part of the run
	run.Suites = nil
	for _, s := range suites {
		run.Suites = append(run.Suites, *s)
	}
	jobs := r.plan(suites)
	run.Planned = len(jobs)

	tally := NewTally(EffectiveGates(run.Gates, run.Suites))
	jobs, old, err := r.withoutPrior(jobs, tally)
	if err != nil {
		return run, err
	}
	if err := r.prepare(ctx, suites, run); err != nil {
		return run, err
	}
	for _, s := range r.Sinks {
		if err := s.Start(run); err != nil {
			return run, err
		}
	}
	if err := r.work(ctx, run, jobs, tally); err != nil {
		return run, err
	}
	for a, res := range old {
		if !tally.has(a) {
			tally.Add(res)
		}
	}
	return run, r.finish(run, tally)
}

// plan lists every case as often as it is tried, first trials first, so that
// the trials of a case are spread over the run.
func (r *Runner) plan(suites []*Suite) (jobs []job) {
	for trial := 1; ; trial++ {
		before := len(jobs)
		for _, s := range suites {
			for _, c := range s.Cases {
				if n := c.Trials; trial <= n || (n == 0 && trial <= max(1, r.Trials)) {
					jobs = append(jobs, job{c, trial})
				}
			}
		}
		if len(jobs) == before {
			return jobs
		}
	}
}

// attempt is a case put once.
type attempt struct {
	id    string
	trial int
}

// withoutPrior counts the results that are there and gives the jobs that are
// left. Results that are made again are counted when the new ones do not come.
func (r *Runner) withoutPrior(jobs []job, tally *Tally) (left []job, old map[attempt]*Result, err error) {
	if r.Prior == nil {
		return jobs, nil, nil
	}
	done, old := map[attempt]bool{}, map[attempt]*Result{}
	for res, err := range r.Prior {
		if err != nil {
			return nil, nil, err
		}
		a := attempt{res.Case.ID, res.Trial}
		if r.Redo != nil && r.Redo(res) {
			old[a] = res
			continue
		}
		done[a] = true
		tally.Add(res)
	}
	return slices.DeleteFunc(jobs, func(j job) bool { return done[attempt{j.c.ID, j.trial}] }), old, nil
}

// prepare asks every target and grader in use what it is missing, and joins
// what all of them say.
func (r *Runner) prepare(ctx context.Context, suites []*Suite, run *Run) error {
	byTarget := map[string][]*Case{}
	var names []string
	var graders []Preparer
	for _, s := range suites {
		for _, c := range s.Cases {
			if byTarget[c.Target] == nil {
				names = append(names, c.Target)
			}
			byTarget[c.Target] = append(byTarget[c.Target], c)
			for _, check := range c.Checks {
				if p, ok := check.Grader.(Preparer); ok && !slices.Contains(graders, p) {
					graders = append(graders, p)
				}
			}
		}
	}
	var errs []error
	for _, name := range names {
		t, ok := r.Targets[name]
		if !ok {
			errs = append(errs, fmt.Errorf("no target is named %q", name))
			continue
		}
		if p, ok := t.(Preparer); ok {
			errs = append(errs, p.Prepare(ctx, Env{Cases: byTarget[name]}))
		}
		if d, ok := t.(Describer); ok && errors.Join(errs...) == nil {
			if run.Targets == nil {
				run.Targets = map[string]map[string]string{}
			}
			run.Targets[name] = d.Describe()
		}
	}
	for _, g := range graders {
		errs = append(errs, g.Prepare(ctx, Env{}))
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

// work runs the jobs and feeds the sinks until all are done or the run ends
// early. A worker takes a new job only when the result of its last one is on
// disk: a killed run has at most as many calls to make again as were running.
func (r *Runner) work(ctx context.Context, run *Run, jobs []job, tally *Tally) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	w := &workers{runner: r, jobs: jobs, results: make(chan *kept)}
	var wg sync.WaitGroup
	for range max(1, min(r.Concurrency, len(jobs))) {
		wg.Go(func() { w.loop(inner) })
	}
	go func() { wg.Wait(); close(w.results) }()

	run.Header.Status = Done
	var failed error
	done, row := 0, 0 // row: results in a row without an answer
	for batch := range batches(w.results) {
		if failed == nil {
			if failed = r.emit(batch, tally); failed != nil {
				stop()
			}
		}
		for _, k := range batch {
			done++
			if row = inARow(row, k.Result); r.MaxErrors > 0 && row >= r.MaxErrors && !w.halt.Load() {
				w.halt.Store(true)
				run.Why = fmt.Sprintf("%d results in a row have no answer, the last: %s", row, k.Fault.Message)
			}
			if r.FailFast && k.Status == Fail {
				run.Why = failFastWhy
			}
			close(k.onDisk)
		}
	}
	switch {
	case w.stop.Load() != nil:
		run.Header.Status, run.Why = Stopped, w.stop.Load().Why
	case done == len(jobs):
		if run.Why != failFastWhy {
			run.Why = ""
		}
	case ctx.Err() != nil:
		run.Header.Status, run.Why = Interrupted, ""
	default:
		run.Header.Status = Stopped
	}
	return failed
}

// workers share the jobs of a run.
type workers struct {
	runner  *Runner
	jobs    []job
	next    atomic.Int64
	halt    atomic.Bool // start nothing new
	stop    atomic.Pointer[Stop]
	results chan *kept
}

// kept is a result on its way to the disk.
type kept struct {
	*Result
	onDisk chan struct{}
}

func (w *workers) loop(ctx context.Context) {
	for !w.halt.Load() && ctx.Err() == nil {
		i := int(w.next.Add(1)) - 1
		if i >= len(w.jobs) {
			return
		}
		res, stop := w.runner.one(ctx, w.jobs[i])
		if stop != nil {
			w.stop.CompareAndSwap(nil, stop)
			w.halt.Store(true)
		}
		if res == nil {
			continue
		}
		if w.runner.FailFast && res.Status == Fail {
			w.halt.Store(true)
		}
		k := &kept{res, make(chan struct{})}
		w.results <- k
		<-k.onDisk
	}
}

func inARow(row int, res *Result) int {
	if res.Status == Error {
		return row + 1
	}
	return 0
}

// batches hands on what is there, waiting only when nothing is.
func batches(results <-chan *kept) iter.Seq[[]*kept] {
	return func(yield func([]*kept) bool) {
		for first := range results {
			batch := []*kept{first}
		drain:
			for len(batch) < batchSize {
				select {
				case res, ok := <-results:
					if !ok {
						break drain
					}
					batch = append(batch, res)
				default:
					break drain
				}
			}
			if !yield(batch) {
				return
			}
		}
	}
}

func (r *Runner) emit(batch []*kept, tally *Tally) error {
	results := make([]*Result, len(batch))
	for i, k := range batch {
		results[i] = k.Result
	}
	count := func() {
		for _, res := range results {
			tally.Add(res)
		}
	}
	if len(r.Sinks) == 0 {
		count()
	}
	for i, s := range r.Sinks {
		if err := s.Results(results); err != nil {
			return err
		}
		if i == 0 {
			count()
		}
	}
	return nil
}

func (r *Runner) finish(run *Run, tally *Tally) error {
	run.Finished = r.Now()
	run.Summary = tally.Summary()
	run.Outcomes = tally.Outcomes()
	run.Cases = tally.Verdicts()
	run.Judge()
	var errs []error
	for _, s := range r.Sinks {
		errs = append(errs, s.Finish(run))
	}
	return errors.Join(errs...)
}

// one puts one case to its target and grades the answer. It gives no result
// when the run was ended meanwhile: such a case was not done, and a resumed run
// does it.
func (r *Runner) one(ctx context.Context, j job) (*Result, *Stop) {
	res := &Result{Case: j.c, Target: j.c.Target, Trial: j.trial, Started: r.Now()}
	ctx = context.WithValue(ctx, trialKey{}, j.trial)
	response, err := r.answer(ctx, j.c)
	if stop := stopOf(err); stop != nil || ctx.Err() != nil {
		return nil, stop
	}
	if err != nil {
		res.Status, res.Fault = Error, FaultOf(err)
		r.time(res)
		return res, nil
	}
	res.Response = response
	res.Scores = r.grade(ctx, j.c, response)
	if stop := stopIn(res.Scores); stop != nil || ctx.Err() != nil {
		return nil, stop
	}
	res.settle()
	r.time(res)
	return res, nil
}

// time says how long a result took.
func (r *Runner) time(res *Result) {
	res.Duration = r.Now().Sub(res.Started)
	if r.Timing == nil {
		return
	}
	if started, took, ok := r.Timing(res.Case, res.Trial); ok {
		res.Started, res.Duration = started, took
	}
}

// limited bounds ctx by the runner's timeout, unless what it is for does so
// itself.
func (r *Runner) limited(ctx context.Context, what any) (context.Context, context.CancelFunc) {
	if b, ok := what.(Bounded); r.Timeout <= 0 || ok && b.Bounded() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, r.Timeout)
}

func (r *Runner) answer(ctx context.Context, c *Case) (*Response, error) {
	own, cancel := r.limited(ctx, r.Targets[c.Target])
	defer cancel()
	response, err := respond(own, r.Targets[c.Target], c)
	if err != nil && own.Err() != nil && ctx.Err() == nil {
		return nil, &lateError{r.Timeout, err}
	}
	return response, err
}

// lateError is an answer that did not come in time.
type lateError struct {
	limit time.Duration
	err   error
}

func (e *lateError) Error() string { return fmt.Sprintf("no answer within %s: %v", e.limit, e.err) }
func (e *lateError) Unwrap() error { return e.err }

// Class names the fault for [FaultOf].
func (e *lateError) Class() string { return TimeoutFault }

type trialKey struct{}

// TrialOf tells a target which trial of the case a call belongs to, from 1.
func TrialOf(ctx context.Context) int {
	if n, ok := ctx.Value(trialKey{}).(int); ok {
		return n
	}
	return 1
}

func respond(ctx context.Context, t Target, c *Case) (resp *Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, &internalError{p}
		}
	}()
	resp, err = t.Respond(ctx, c)
	if err == nil && resp == nil {
		err = &internalError{"the target gave neither an answer nor an error"}
	}
	return resp, err
}

type internalError struct{ what any }

func (e *internalError) Error() string {
	return fmt.Sprintf("internal error in the target: %v", e.what)
}

// Class names the fault for [FaultOf].
func (e *internalError) Class() string { return InternalFault }

// grade runs a case's checks, the cheap ones first and in order, then the dear
// ones side by side. Scores stand in check order. Checks have a time limit of
// their own: a slow answer leaves a judge no less time.
func (r *Runner) grade(ctx context.Context, c *Case, resp *Response) []Score {
	scores := make([]Score, len(c.Checks))
	limited, cancel := r.limited(ctx, nil)
	defer cancel()
	one := func(i int) {
		own := limited
		if b, ok := c.Checks[i].Grader.(Bounded); ok && b.Bounded() {
			own = ctx
		}
		scores[i] = c.Checks[i].Grade(own, c, resp)
	}
	var wg sync.WaitGroup
	for i, check := range c.Checks {
		if !isDear(check.Grader) {
			one(i)
		}
	}
	for i, check := range c.Checks {
		if isDear(check.Grader) {
			wg.Go(func() { one(i) })
		}
	}
	wg.Wait()
	return scores
}

func isDear(g Grader) bool {
	d, ok := g.(Dear)
	return ok && d.Dear()
}
