package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Env is what attempts use beside their case: targets, judges, clock, limits.
// It is handed over and never carried in a context. One Env serves all attempts
// of a run; it does not change once the first has started.
type Env struct {
	Targets map[string]Target // by the name cases use
	Timeout time.Duration     // of one answer, and of its expensive checks after it, unless they bound their own time; 0 for none
	Now     func() time.Time

	// Grading is what package grade hands to its graders: judges, prompts,
	// checkers, the environment of programs. The core passes it on.
	Grading any

	// Keep stores an artifact of an attempt and returns its digest. Without it
	// artifacts are dropped.
	Keep func(data []byte) (digest string, err error)

	// Observe is told of every finished call as it happens. It must not block.
	Observe func(Event)

	// Timing replaces the times of a result by those known from elsewhere: a
	// replayed run reports the times of the recording.
	Timing func(*Result)
}

func (e *Env) now() time.Time {
	if e == nil || e.Now == nil {
		return time.Time{}
	}
	return e.Now()
}

// Identity says which result of a run is meant.
type Identity struct {
	Suite string `json:"suite,omitempty"`
	Case  string `json:"case"`
	Arm   string `json:"arm,omitempty"` // empty unless the run compares arms
	Trial int    `json:"trial"`         // from 1
}

func (id Identity) String() string {
	s := id.Case
	if id.Arm != "" {
		s += "/" + id.Arm
	}
	if id.Trial > 1 {
		s += fmt.Sprintf("#%d", id.Trial)
	}
	return s
}

// Attempt is one case, one arm, one trial, while it is alive: the target
// answers it, the checks grade the answer, and then it is closed.
type Attempt struct {
	Case     *Case
	Arm      string    // empty unless the run compares arms
	Trial    int       // from 1
	Response *Response // nil until the target has answered
	Env      *Env

	life  *life
	scope *scope // the check whose calls are reported; nil for the target's own
}

// life is what the copies of an attempt that graders get have in common.
type life struct {
	start time.Time

	mu      sync.Mutex
	events  []Event
	closers []func() error
}

// Identity is the identity of the attempt's result.
func (a *Attempt) Identity() Identity {
	return Identity{Suite: a.Case.Suite, Case: a.Case.ID, Arm: a.Arm, Trial: max(1, a.Trial)}
}

// OnClose registers what is to be done when the attempt has been graded, such
// as removing a workspace. The last one registered is done first.
func (a *Attempt) OnClose(f func() error) {
	if a.life == nil {
		a.life = new(life)
	}
	a.life.mu.Lock()
	defer a.life.mu.Unlock()
	a.life.closers = append(a.life.closers, f)
}

// Keep stores a file or transcript of the attempt in the run folder and adds
// it to the response's artifacts.
func (a *Attempt) Keep(r *Response, name string, data []byte) error {
	if a.Env == nil || a.Env.Keep == nil {
		return nil
	}
	digest, err := a.Env.Keep(data)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	r.Artifacts = append(r.Artifacts, Artifact{Name: name, Digest: digest, Size: len(data)})
	return nil
}

func (a *Attempt) close() error {
	a.life.mu.Lock()
	closers := a.life.closers
	a.life.closers = nil
	a.life.mu.Unlock()
	var errs []error
	for _, f := range slices.Backward(closers) {
		errs = append(errs, closing(f))
	}
	return errors.Join(errs...)
}

func closing(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// Evaluate is the whole of one attempt: the target answers, the checks grade,
// the attempt is closed. An error means that there is no result: a [*Stop]
// ends the run, any other error is that of ctx. Every executor calls this.
func Evaluate(ctx context.Context, env *Env, c *Case, arm string, trial int) (*Result, error) {
	a := &Attempt{Case: c, Arm: arm, Trial: trial, Env: env, life: &life{start: env.now()}}
	res := &Result{Case: c, Target: c.Target, Arm: arm, Trial: trial, Started: a.life.start}
	stop := a.run(ctx, res)
	if err := a.close(); err != nil {
		res.Notes = append(res.Notes, "close the attempt: "+err.Error())
	}
	switch {
	case stop != nil:
		return nil, stop
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	res.Events = a.life.finished()
	res.Duration = env.now().Sub(res.Started)
	if env.Timing != nil {
		env.Timing(res)
	}
	return res, nil
}

// run fills in the result. It returns why the run is to end, if it is.
func (a *Attempt) run(ctx context.Context, res *Result) error {
	response, err := a.answer(ctx)
	if stop := stopOf(err); stop != nil {
		return stop
	}
	if err != nil {
		res.Status, res.Fault = Error, FaultOf(err)
		return nil
	}
	a.Response, res.Response = response, response
	res.Scores = a.grade(ctx)
	if why := stopIn(res.Scores); why != "" {
		return &Stop{Why: why}
	}
	res.settle()
	return nil
}

// limited bounds ctx by the environment's timeout, unless what it is for bounds
// its own time.
func (e *Env) limited(ctx context.Context, what any) (context.Context, context.CancelFunc) {
	if b, ok := what.(Bounded); e.Timeout <= 0 || ok && b.Bounded() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.Timeout)
}

func (a *Attempt) answer(ctx context.Context) (*Response, error) {
	t := a.Env.Targets[a.Case.Target]
	own, cancel := a.Env.limited(ctx, t)
	defer cancel()
	response, err := respond(own, t, a)
	if err != nil && own.Err() != nil && ctx.Err() == nil {
		return nil, &lateError{a.Env.Timeout, err}
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

func respond(ctx context.Context, t Target, a *Attempt) (resp *Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, &internalError{p}
		}
	}()
	if t == nil {
		return nil, &internalError{fmt.Sprintf("no target is named %q", a.Case.Target)}
	}
	resp, err = t.Respond(ctx, a)
	if err == nil && resp == nil {
		err = &internalError{"the target returned neither an answer nor an error"}
	}
	return resp, err
}

type internalError struct{ what any }

func (e *internalError) Error() string {
	return fmt.Sprintf("internal error in the target: %v", e.what)
}

// Class names the fault for [FaultOf].
func (e *internalError) Class() string { return InternalFault }

// grade runs the case's checks, the cheap ones first and in order, then the
// expensive ones. Scores are in check order.
func (a *Attempt) grade(ctx context.Context) []Score {
	checks := a.Case.Checks
	scores := make([]Score, len(checks))
	expensive := false
	for i, check := range checks {
		if IsExpensive(check.Grader) {
			expensive = true
			continue
		}
		scores[i] = check.Grade(ctx, a)
	}
	if expensive {
		a.gradeExpensive(ctx, scores)
	}
	return scores
}

// gradeExpensive runs the expensive checks side by side. They have a time limit
// of their own: a slow answer leaves them no less time.
func (a *Attempt) gradeExpensive(ctx context.Context, scores []Score) {
	limited, cancel := a.Env.limited(ctx, nil)
	defer cancel()
	var wg sync.WaitGroup
	for i, check := range a.Case.Checks {
		if !IsExpensive(check.Grader) {
			continue
		}
		own := limited
		if b, ok := check.Grader.(Bounded); ok && b.Bounded() {
			own = ctx
		}
		wg.Go(func() { scores[i] = check.Grade(own, a) })
	}
	wg.Wait()
}

// IsExpensive tells whether a grader costs money or seconds.
func IsExpensive(g Grader) bool {
	e, ok := g.(Expensive)
	return ok && e.Expensive()
}

// stopIn finds why the run is to end in scores or those inside them.
func stopIn(scores []Score) string {
	for i := range scores {
		if why := cmp.Or(scores[i].Stop, stopIn(scores[i].Checks)); why != "" {
			return why
		}
	}
	return ""
}
