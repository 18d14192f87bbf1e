package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
)

type rescoreOptions struct {
	storeOptions
	run runOptions
}

func newRescoreCmd(w *World) *cobra.Command {
	o := new(rescoreOptions)
	cmd := &cobra.Command{
		Use:   "rescore RUN [SUITE…]",
		Short: "Grade a run's stored answers again, asking no server",
		Long: "Holds the answers of a stored run against the suites as they are now and keeps the\n" +
			"outcome as a new run. Without a SUITE, those of the run are read again.\n" +
			"RUN is an id, the start of one, a run's folder, or latest.",
		Example: "  mettle rescore latest\n  mettle rescore 20260102-1504 suites/mina.yaml",
		Args:    cobra.MinimumNArgs(1),
	}
	o.storeOptions.flags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&o.run.Gates, "gate", nil, "condition on the whole run; repeat for more (default: the run's)")
	f.StringVarP(&o.run.output, "output", "o", "", "JSON report's path, - for standard output (default reports/eval-<project|all>-<millis>.json)")
	f.StringArrayVar(&o.run.reports, "report", nil, "further report as format=path; - for standard output")
	f.BoolVar(&o.run.verbose, "verbose", false, "show the reasons of failed checks as they come")
	o.run.judgeFlags(f)
	run := func(cmd *cobra.Command, args []string) error {
		return runRescore(cmd.Context(), w, o, args[0], args[1:])
	}
	withEnvironment(w, cmd, run, "config", "runs")
	return cmd
}

func runRescore(ctx context.Context, w *World, o *rescoreOptions, name string, suites []string) error {
	if err := checkReports(o.run.reports); err != nil {
		return err
	}
	dir, err := o.find(w, name)
	if err != nil {
		return err
	}
	parent, err := store.Open(dir)
	if err != nil {
		return err
	}
	opts, err := optionsOf(parent)
	if err != nil {
		return err
	}
	there := *w
	if len(suites) > 0 {
		opts.Suites, opts.Dir = suites, w.Dir
	}
	there.Dir, opts.elsewhere, opts.gates = opts.Dir, true, parent.Gates
	if len(o.run.Gates) > 0 {
		opts.Gates = o.run.Gates
		if opts.gates, err = opts.parsedGates(); err != nil {
			return err
		}
	}
	opts.judgedBy(&o.run.modelOptions, w)
	if err := opts.modelOptions.check(); err != nil {
		return err
	}
	l, err := load(&there, &opts.selectOptions)
	if err != nil {
		return err
	}
	replay, err := store.NewReplay(dir)
	if err != nil {
		return err
	}
	if err := answered(l, replay); err != nil {
		return err
	}
	opts.settle(l.config)
	opts.output, opts.reports, opts.verbose, opts.FailFast, opts.MaxErrors = o.run.output, o.run.reports, o.run.verbose, false, 0
	ms, err := newModels(&there, &opts.modelOptions, l.config, opts.try)
	if err != nil {
		return err
	}
	head := opts.header(ctx, w)
	if err := ms.describe(&head, l); err != nil {
		return err
	}
	head.Project, head.Gates, head.Parent = parent.Project, opts.gates, parent.ID
	root, err := o.dir(w)
	if err != nil {
		return err
	}
	return execute(ctx, w, opts, execution{
		head: head, loaded: l, models: ms, writer: store.Create(root, head.ID, l.Suites),
		targets: map[string]eval.Target{replayTarget: replay},
	})
}

const replayTarget = "replay"

// answered points every case at the stored run, as often as that has it. A
// case that the run has no answer for stays in: that there is none to grade is
// an error, and a run with errors is not complete.
func answered(l *loaded, replay *store.Replay) error {
	found := false
	for _, s := range l.Suites {
		for _, c := range s.Cases {
			n := replay.Trials(c.ID)
			c.Target, c.Trials = replayTarget, max(1, n)
			found = found || n > 0
		}
	}
	if !found {
		return usagef("the run holds no answer for any case of these suites")
	}
	return nil
}
