package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/store"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/version"
)

// Plan is a run, decided: what is asked of whom, how it is graded, and where
// it is kept. Nothing has been asked yet.
type Plan struct {
	// What the person should know about the plan. Skipped is what a run that
	// names no suites leaves out because it needs a model, Absent because its
	// skills are not there; Unjudged counts the cases with checks that are
	// skipped because there is no judge.
	Skipped  []string
	Absent   []string
	Unjudged int
	Notes    []string

	world    *World
	opts     *Options
	loaded   *Loaded
	models   *models
	env      *eval.Env
	header   eval.Header
	journal  *store.Writer
	dir      string    // of the run
	prior    *eval.Run // results it has already
	redo     func(*eval.Result) bool
	absent   int // results that a rescored run lacks because its parent does
	checkers *code.Checkers
}

// New plans a new run. With DryRun, only what an estimate needs.
func New(ctx context.Context, w *World, o Options) (*Plan, error) {
	o.Dir = w.Dir
	if o.DryRun {
		o.Record, o.Cache = "", "" // nothing is asked, and nothing left behind
	}
	p, err := load(w, &o, nil)
	if err != nil {
		return nil, err
	}
	p.narrow()
	if o.DryRun {
		return p, nil
	}
	if err := p.settle(ctx); err != nil {
		return nil, err
	}
	if err := p.models.describe(&p.header, p); err != nil {
		return nil, p.abandon(err)
	}
	p.keepIn(RunsDir(w, o.Runs, p.loaded.Config))
	return p, nil
}

// load reads config, suites and models for options. gates are those of a stored
// run; without them, the options' and then the config's apply.
func load(w *World, o *Options, gates []eval.Gate) (*Plan, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if gates == nil {
		var err error
		if gates, err = o.gates(); err != nil {
			return nil, err
		}
	}
	l, err := Load(w, &o.Select, o, gates)
	if err != nil {
		return nil, err
	}
	if len(gates) == 0 {
		gates = l.Config.Gates
		if err := suite.CheckGates(gates, l.Suites); err != nil {
			return nil, &UsageError{err}
		}
	}
	gates, out := suite.SelectGates(gates, l.cases())
	o.settle(l.Config)
	ms, err := newModels(w, &o.Models, l.Config, o.try)
	if err != nil {
		return nil, err
	}
	checkers, err := code.NewCheckers(l.Config.Checkers, grade.PassedOn(w.Environ))
	if err != nil {
		return nil, &eval.Missing{What: strings.Split(fmt.Sprintf("%s: checkers: %v", l.Config.File, err), "\n")}
	}
	now := w.Now()
	notes := l.Notes
	for _, g := range append(l.unmeasured, out...) {
		notes = append(notes, fmt.Sprintf("gate left out, no selected case is for it: %s", g.Text))
	}
	return &Plan{
		Absent: l.absent, Notes: notes,
		world: w, opts: o, loaded: l, models: ms, checkers: checkers,
		env: &eval.Env{Timeout: o.Timeout, Now: w.Now},
		header: eval.Header{
			ID: store.NewID(now, w.Random()), Tool: version.Version, Started: now, Project: o.Project,
			Gates: gates, Checkers: checkers.Describe(), Options: o.stored(),
		},
	}, nil
}

// settle makes targets and judges, and decides what is skipped.
func (p *Plan) settle(ctx context.Context) error {
	if err := joinMissing(p.targets(), p.judging(ctx)); err != nil {
		return p.abandon(err)
	}
	gates := p.header.Gates
	for _, s := range p.loaded.Suites {
		gates = append(gates[:len(gates):len(gates)], s.Gates...)
	}
	if err := suite.CheckGateTargets(gates, p.loaded.cases()); err != nil {
		return p.abandon(&UsageError{err})
	}
	return nil
}

// judging makes the judges. Checks that need the run's judge are marked as
// skipped in a run that has none.
func (p *Plan) judging(ctx context.Context) error {
	cases := p.loaded.cases()
	judges, err := p.models.judges(ctx, cases)
	if err != nil {
		return err
	}
	p.env.Grading = &grade.Env{Judges: judges, Checkers: p.checkers, Environ: grade.PassedOn(p.world.Environ)}
	for _, c := range cases {
		if p.opts.Judge == "" && grade.SkipJudged(c.Checks, grade.NoJudge) > 0 {
			p.Unjudged++
		}
	}
	p.header.Kinds = grade.Info()
	p.header.Git = gitRevision(ctx, p.world)
	return nil
}

// abandon ends what was started for a plan that cannot be carried out.
func (p *Plan) abandon(err error) error {
	_ = closeTargets(p.env.Targets)
	return err
}

// keepIn says where the run is kept.
func (p *Plan) keepIn(root string) {
	p.dir = filepath.Join(root, p.models.folder(p.header.ID))
	p.journal = store.Create(root, filepath.Base(p.dir), p.loaded.Suites)
}

// Dir is the run's folder.
func (p *Plan) Dir() string { return p.dir }

// Config is the configuration the run uses.
func (p *Plan) Config() *suite.Config { return p.loaded.Config }

// Skills names the folder of skills.
func (p *Plan) Skills() string { return p.loaded.skills("").Where() }

// Lacking counts the results that a rescored run cannot have because the run
// whose answers it grades does not have them.
func (p *Plan) Lacking() int { return p.absent }

// Missing counts the results the plan is to make.
func (p *Plan) Missing() int {
	n := 0
	for _, c := range p.loaded.cases() {
		n += cmp.Or(c.Trials, p.opts.Trials)
	}
	if p.prior == nil {
		return n
	}
	for res, err := range p.prior.Results() {
		if err == nil && (p.redo == nil || !p.redo(res)) {
			n--
		}
	}
	return n
}

// narrow leaves out what a run that names no suites cannot do: what is not for
// a server when a server is to be asked, and what needs a model when there is
// none.
func (p *Plan) narrow() {
	l := p.loaded
	if !l.defaulted {
		return
	}
	var kept []*eval.Suite
	var skipped []string
	for _, s := range l.Suites {
		t := l.named(s.Cases[0].Target)
		switch {
		case p.opts.elsewhere() && !l.server(s.Cases[0].Target):
		case t != nil && t.Needs().Model && p.opts.Model == "":
			skipped = append(skipped, s.Name)
		default:
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return // let the run say what it is missing
	}
	l.Suites, p.Skipped = kept, skipped
}

// Resumption is what may be given anew for a run that is resumed.
type Resumption struct {
	URL, Command string
	Headers      []string
	Budget       string
	Concurrency  int
	Errors       bool // make the results again that have no answer or could not be judged
}

// Resume plans what a stored run is missing. The suites must be as they were.
func Resume(ctx context.Context, w *World, dir string, r Resumption) (*Plan, error) {
	prior, err := store.Recount(dir)
	if err != nil {
		return nil, err
	}
	fillKinds(prior)
	if prior.Parent != "" {
		return nil, usagef("run %s graded another run's answers again: use mettle rescore %s", prior.ID, prior.Parent)
	}
	o, err := r.options(prior)
	if err != nil {
		return nil, err
	}
	there := *w
	there.Dir = o.Dir
	p, err := load(&there, o, prior.Gates)
	if err != nil {
		return nil, fmt.Errorf("load the suites of run %s: %w", prior.ID, err)
	}
	p.narrow()
	if err := sameSuites(prior, p.loaded); err != nil {
		return nil, err
	}
	if now := p.checkers.Describe(); !maps.Equal(prior.Checkers, now) {
		return nil, usagef("run %s cannot be resumed: its code was checked by %s, now it would be by %s", prior.ID, code.DescribeCheckers(prior.Checkers), p.checkers)
	}
	p.prior, p.header, p.dir = prior, prior.Header, dir
	if r.Errors {
		p.redo = func(res *eval.Result) bool { return res.Status == eval.Error || res.Status == eval.Unscored }
	}
	left, damage := p.Missing(), prior.Damage()
	if left == 0 && prior.Header.Status == eval.Done && len(damage) == 0 {
		return p, nil
	}
	for _, text := range damage {
		p.Notes = append(p.Notes, "damaged, made again: "+text)
	}
	if left > 0 { // otherwise only the header is to be finished
		head := p.header
		if err := p.settle(ctx); err != nil {
			return nil, err
		}
		p.header = head
		p.header.Kinds = grade.Info()
	}
	if p.journal, err = store.Resume(dir); err != nil {
		return nil, p.abandon(err)
	}
	return p, nil
}

// options is how the run was asked for, with what is given anew.
func (r *Resumption) options(prior *eval.Run) (*Options, error) {
	o, err := optionsOf(prior)
	if err != nil {
		return nil, err
	}
	given := map[string]bool{"url": r.URL != "", "command": r.Command != "", "header": len(r.Headers) > 0}
	for _, flag := range o.Withheld {
		if !given[flag] {
			return nil, usagef("run %s was made with a --%s that may hold a secret, so it was not kept: give it again", prior.ID, flag)
		}
	}
	if r.URL != "" || r.Command != "" {
		o.URL, o.Target, o.Command = r.URL, "", r.Command
	}
	if len(r.Headers) > 0 {
		o.Headers = r.Headers
	}
	o.Budget = cmp.Or(r.Budget, o.Budget)
	o.Concurrency = cmp.Or(r.Concurrency, o.Concurrency)
	return o, nil
}

// sameSuites refuses to mix results of different questions in one run.
func sameSuites(prior *eval.Run, l *Loaded) error {
	for _, was := range prior.Suites {
		i := slices.IndexFunc(l.Suites, func(s *eval.Suite) bool { return s.File == was.File })
		if i < 0 {
			return usagef("suite %s of run %s is gone", was.File, prior.ID)
		}
		if l.Suites[i].Digest != was.Digest {
			return usagef("%s has changed since run %s: start a new run, or grade the stored answers again with mettle rescore %s", was.File, prior.ID, prior.ID)
		}
	}
	if len(l.Suites) != len(prior.Suites) {
		return usagef("there are %d suites now and run %s has %d: start a new run", len(l.Suites), prior.ID, len(prior.Suites))
	}
	return nil
}

// Rescoring is what may be given for a run that is graded again.
type Rescoring struct {
	Suites []string // instead of the run's own
	Gates  []string // instead of the run's own
	Models          // the judge, and where exchanges are kept
	Runs   string   // folder of runs, "" for the configured one
	Config string   // the caller's configuration, "" for the one that is found
	Trust  bool     // let the suites that the run names run programs, wherever it comes from
}

// Rescore plans to grade the stored answers of a run again.
func Rescore(ctx context.Context, w *World, dir string, r Rescoring) (*Plan, error) {
	parent, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	o, err := optionsOf(parent)
	if err != nil {
		return nil, err
	}
	there := *w
	gates := parent.Gates
	at, foreign, err := r.settle(w, dir, o)
	if err != nil {
		return nil, err
	}
	if len(r.Gates) > 0 {
		o.Gates, gates = r.Gates, nil
	}
	there.Dir = at
	o.judgedBy(r.Models, w)
	o.FailFast = false
	p, err := rescored(ctx, &there, o, gates, dir)
	if err != nil {
		return nil, err
	}
	if foreign {
		if err := refusePrograms(parent.ID, p.loaded.Suites); err != nil {
			return nil, p.abandon(err)
		}
	}
	p.header.Parent, p.header.Project = parent.ID, parent.Project
	p.ofParent(&parent.Header)
	cfg, err := LoadConfig(w, o.Config)
	if err != nil {
		return nil, p.abandon(err)
	}
	p.keepIn(RunsDir(w, r.Runs, cfg))
	return p, nil
}

func rescored(ctx context.Context, w *World, o *Options, gates []eval.Gate, dir string) (*Plan, error) {
	server := *o
	o.URL, o.Command, o.Target = "", "", replayTarget // nothing is asked of any server
	p, err := load(w, o, gates)
	if err != nil {
		return nil, err
	}
	server.Concurrency, server.Trials, server.Timeout, server.MaxErrors = o.Concurrency, o.Trials, o.Timeout, o.MaxErrors
	server.Models = o.Models
	p.header.Options = server.stored()
	replay, err := store.NewReplay(dir)
	if err != nil {
		return nil, err
	}
	if err := p.replays(replay); err != nil {
		return nil, p.abandon(err)
	}
	if err := p.judging(ctx); err != nil {
		return nil, p.abandon(err)
	}
	return p, p.models.describe(&p.header, p)
}

// replays has the cases answered by a stored run, under the names of the targets
// that answered them: gates and reports go by those. What the run does not have
// is left out; where it should have it, the plan's run does not get complete.
func (p *Plan) replays(run *store.Replay) error {
	p.env.Targets = map[string]eval.Target{replayTarget: run}
	asked, fresh := 0, 0
	for _, s := range p.loaded.Suites {
		s.Cases = slices.DeleteFunc(s.Cases, func(c *eval.Case) bool {
			stored, ok := run.Case(c.ID)
			if !ok {
				fresh++
				return true
			}
			c.Target, c.Trials = cmp.Or(stored.Target, replayTarget), stored.Trials
			p.env.Targets[c.Target] = run
			p.absent += stored.Planned - stored.Trials
			asked += stored.Trials
			return stored.Trials == 0
		})
	}
	if asked == 0 {
		return usagef("the run holds no answer for any case of these suites")
	}
	p.loaded.Suites = slices.DeleteFunc(p.loaded.Suites, func(s *eval.Suite) bool { return len(s.Cases) == 0 })
	if fresh > 0 {
		p.Notes = append(p.Notes, "left out, not in the stored run: "+count(fresh, "case"))
	}
	return nil
}

// ofParent takes over what the answers were made with: the targets, their
// models and prompts.
func (p *Plan) ofParent(parent *eval.Header) {
	p.header.Targets = parent.Targets
	for _, use := range parent.Models {
		if use.Role == eval.AnswerRole && !slices.Contains(p.header.Models, use) {
			p.header.Models = append(p.header.Models, use)
		}
	}
	for name, digest := range parent.Prompts {
		if _, ok := p.header.Prompts[name]; !ok {
			p.header.Prompts[name] = digest
		}
	}
}

// Open reads a stored run.
func Open(dir string) (*eval.Run, error) {
	run, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	fillKinds(run)
	return run, nil
}

// fillKinds completes the header of a format 1 run, which does not say what
// reports need to know of its checks.
func fillKinds(run *eval.Run) {
	if run.Kinds == nil {
		run.Kinds = grade.Info()
	}
}

// gitRevision asks git what the working directory is at. Nothing depends on
// the answer, so it may fail.
func gitRevision(ctx context.Context, w *World) *eval.Git {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = w.Dir, w.Environ
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	rev, err := ask("rev-parse", "HEAD")
	if err != nil {
		return nil
	}
	status, err := ask("status", "--porcelain", "--untracked-files=no")
	return &eval.Git{Revision: rev, Dirty: err != nil || status != ""}
}
