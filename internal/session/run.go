package session

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
	"github.com/mettle-eval/mettle/internal/target"
)

// Run carries the plan out. The run is kept whatever happens to the listeners;
// they are told of results that are on disk.
func (p *Plan) Run(ctx context.Context, listeners ...eval.Listener) (*eval.Run, error) {
	if p.journal == nil { // nothing is missing
		return p.prior, nil
	}
	defer func() {
		if err := closeTargets(p.env.Targets); err != nil {
			p.world.notef("note: %v", err) // the results are in all the same
		}
	}()
	defer p.journal.Close()
	if err := p.models.ready(ctx); err != nil {
		return nil, err
	}
	runner := &eval.Runner{
		Env: p.env, Executor: &eval.Pool{Env: p.env, Concurrency: p.opts.Concurrency}, Journal: p.journal, Listeners: listeners,
		Trials: p.opts.Trials, FailFast: p.opts.FailFast, MaxErrors: p.opts.MaxErrors, MaxUnscored: p.opts.MaxErrors, Absent: p.absent, Redo: p.redo,
	}
	if p.header.Parent != "" {
		runner.MaxErrors = 0 // of the run whose answers are graded
	}
	if p.prior != nil {
		runner.Prior = p.prior.Results()
	}
	p.taped(runner)
	run, err := runner.Run(ctx, p.header, p.loaded.Suites)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && p.journal.Started() && p.header.Parent == "":
		return nil, fmt.Errorf("%w; what was done is kept: continue with mettle resume %s", err, filepath.Base(p.dir))
	}
	return run, err
}

// Unrecorded counts the calls of a replay that are not on its tape: with any,
// the run is not the one that was recorded.
func (p *Plan) Unrecorded() int {
	if p.models.replay == nil {
		return 0
	}
	return int(p.models.replay.missed.Load())
}

// Done counts the results that are there before the run.
func (p *Plan) Done() (n int) {
	if p.prior == nil {
		return 0
	}
	for res, err := range p.prior.Results() {
		if err == nil && (p.redo == nil || !p.redo(res)) {
			n++
		}
	}
	return n
}

// Baseline is the run that the plan's is compared with, nil for none: a stored
// one, or the same cases on the built-in server, which are run now.
func (p *Plan) Baseline(ctx context.Context, listeners ...eval.Listener) (*eval.Run, error) {
	root := filepath.Dir(p.dir)
	switch p.opts.Baseline {
	case "":
		return nil, nil
	case BuiltinTarget:
	default:
		dir, err := store.Find(root, p.opts.Baseline)
		if err != nil {
			return nil, usagef("--baseline: %w, and it is not the word %s", err, BuiltinTarget)
		}
		return Open(dir)
	}
	base, err := p.onBuiltin()
	if err != nil {
		return nil, err
	}
	p.world.notef("the baseline first: the built-in server")
	base.keepIn(root)
	run, err := base.Run(ctx, listeners...)
	if err != nil {
		return nil, fmt.Errorf("run the baseline: %w", err)
	}
	return run, ctx.Err()
}

// onBuiltin is the plan with the built-in server as the target of the cases
// that are for servers; the others are left out.
func (p *Plan) onBuiltin() (*Plan, error) {
	o := *p.opts // as it would be asked for by itself, and to the end
	o.Target, o.URL, o.Command, o.Headers, o.Baseline, o.FailFast = BuiltinTarget, "", "", nil, "", false
	base, env, set, loaded := *p, *p.env, *p.loaded.Set, *p.loaded
	base.opts, base.env, base.loaded = &o, &env, &loaded
	loaded.Set, set.Suites = &set, nil
	for _, s := range p.loaded.Suites {
		moved := *s
		moved.Cases = nil
		for _, c := range s.Cases {
			if t, ok := p.env.Targets[c.Target].(target.Target); ok && !t.Needs().Server {
				continue
			}
			copied := *c
			copied.Target = BuiltinTarget
			moved.Cases = append(moved.Cases, &copied)
		}
		if len(moved.Cases) > 0 {
			set.Suites = append(set.Suites, &moved)
		}
	}
	now := p.world.Now()
	base.header.ID, base.header.Started, base.header.Options = store.NewID(now, p.world.Random()), now, o.stored()
	if err := base.targets(); err != nil {
		return nil, base.abandon(err)
	}
	return &base, nil
}

// taped has the run recorded, or makes it the recorded one.
func (p *Plan) taped(runner *eval.Runner) {
	switch {
	case p.models.replay != nil:
		p.models.replay.replayed(p.env, &p.header)
	case p.opts.Record != "":
		runner.Journal = newRecording(runner.Journal, p.models.tape, runner.Prior)
	}
}
