package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/store"
)

func newCompareCmd(w *World) *cobra.Command {
	o := new(storeOptions)
	verbose := false
	cmd := &cobra.Command{
		Use:   "compare RUN BASE",
		Short: "Hold a stored run against another, side by side",
		Long: "Prints two stored runs side by side: pass rates by difficulty, tool and project, and\n" +
			"the cases that one of them does better. A run is an id, the start of one, a run's\n" +
			"folder, or latest.",
		Example: "  mettle compare latest 20260102-1504",
		Args:    cobra.ExactArgs(2),
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&verbose, "verbose", false, "name every case")
	withEnvironment(w, cmd, func(_ *cobra.Command, args []string) error {
		var runs [2]*eval.Run
		for i, name := range args {
			dir, err := o.find(w, name)
			if err != nil {
				return err
			}
			if runs[i], err = store.Open(dir); err != nil {
				return err
			}
		}
		return report.Compare(w.Stdout, eval.Compare(runs[1], runs[0]), runs[0].ID, runs[1].ID,
			report.Options{Color: w.color(w.OutTTY), Width: w.Width, Verbose: verbose})
	})
	return cmd
}

// baselineRun is the run that a new one is held against: a stored one, or the
// same cases put to the built-in server first.
func (o *runOptions) baselineRun(ctx context.Context, w *World, l *loaded, ms *models) (*eval.Run, error) {
	root := runsDir(w, o.runs, l.config)
	if o.Baseline != builtinTarget {
		dir, err := store.Find(root, o.Baseline)
		if err != nil {
			return nil, usagef("--baseline: %w, and it is not the word %s", err, builtinTarget)
		}
		return store.Open(dir)
	}
	t, err := startBuiltin(o)
	if err != nil {
		return nil, err
	}
	b := *o // as it would be asked for by itself, and to the end
	b.Target, b.URL, b.Command, b.Headers, b.Baseline, b.FailFast = builtinTarget, "", "", nil, "", false
	l = l.putTo(builtinTarget)
	w.printf("the baseline first: the built-in server\n")
	head := b.header(ctx, w)
	run, err := b.perform(ctx, w, execution{
		head: head, loaded: l, targets: map[string]eval.Target{builtinTarget: t}, models: ms, writer: store.Create(root, head.ID, l.Suites),
	})
	if err != nil {
		return nil, fmt.Errorf("run the baseline: %w", err)
	}
	return run, ctx.Err()
}

// putTo gives the same cases with another server as their target; those that
// are not for servers are left out.
func (l *loaded) putTo(target string) *loaded {
	set := *l.Set
	set.Suites = nil
	for _, s := range l.Suites {
		suite := *s
		suite.Cases = nil
		for _, c := range s.Cases {
			if !isMCP(l.named(c.Target)) {
				continue
			}
			moved := *c
			moved.Target = target
			suite.Cases = append(suite.Cases, &moved)
		}
		if len(suite.Cases) > 0 {
			set.Suites = append(set.Suites, &suite)
		}
	}
	moved := *l
	moved.Set = &set
	return &moved
}
