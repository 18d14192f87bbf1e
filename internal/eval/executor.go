package eval

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Job is one attempt to be made.
type Job struct {
	Case  *Case
	Arm   string
	Trial int
}

// Identity is the identity of the job's result.
func (j Job) Identity() Identity {
	return Identity{Suite: j.Case.Suite, Case: j.Case.ID, Arm: j.Arm, Trial: j.Trial}
}

// ErrHalt is what emit returns when nothing new is to be started; what is under
// way is finished.
var ErrHalt = errors.New("start nothing new")

// Executor decides where and when attempts are evaluated: [Pool] in this
// process, others on other machines. Execute calls emit once for each result,
// from any goroutine; emit returns when the result is written. Execute returns
// when all jobs are done, when emit asked to halt, when ctx ended, or with a
// [*Stop] of an attempt, and in each case only after what was under way has
// ended.
type Executor interface {
	Execute(ctx context.Context, jobs []Job, emit func(*Result) error) error
}

// Pool evaluates attempts in this process, Concurrency at a time. A worker
// takes a new job only when the result of its last one is written: a killed
// run repeats at most as many calls as were running.
type Pool struct {
	Env         *Env
	Concurrency int
}

// Execute evaluates the jobs in order.
func (p *Pool) Execute(ctx context.Context, jobs []Job, emit func(*Result) error) error {
	var next atomic.Int64
	var halt atomic.Bool
	var once sync.Once
	var first error
	worker := func() {
		for !halt.Load() && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(jobs) {
				return
			}
			res, err := Evaluate(ctx, p.Env, jobs[i].Case, jobs[i].Arm, jobs[i].Trial)
			if err == nil {
				err = emit(res)
			}
			if err != nil {
				halt.Store(true)
				once.Do(func() { first = err })
			}
		}
	}
	var wg sync.WaitGroup
	for range max(1, min(p.Concurrency, len(jobs))) {
		wg.Go(worker)
	}
	wg.Wait()
	return first
}
