package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/session"
)

type rescoreOptions struct {
	storeOptions
	session.Rescoring
	outputOptions
}

func newRescoreCmd(w *World) *cobra.Command {
	o := new(rescoreOptions)
	cmd := &cobra.Command{
		Use:   "rescore RUN [SUITE…]",
		Short: "Grade the stored answers of a run again",
		Long: "Grades the answers of a stored run by the suites as they are now and keeps the\n" +
			"outcome as a new run. No server is asked. Without a SUITE, those of the run are read\n" +
			"again. Cases that the run did not ask are left out; a run that is missing results\n" +
			"stays incomplete. RUN is an id, the start of one, a run's folder, or latest.\n\n" +
			"A run that was not made in this project, such as one that was downloaded, is graded\n" +
			"with your own configuration, and suites that it names may not run programs (exec\n" +
			"checks) unless --trust is given.",
		Example: "  mettle rescore latest\n  mettle rescore 20260102-1504 suites/mina.yaml",
		Args:    cobra.MinimumNArgs(1),
	}
	o.storeOptions.flags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&o.Gates, "gate", nil, "condition on the whole run; repeat for more (default: the run's)")
	f.BoolVar(&o.Trust, "trust", false, "use the configuration and run the programs that the run names, wherever it comes from")
	o.outputOptions.flags(f)
	judgeFlags(f, &o.Models)
	run := func(cmd *cobra.Command, args []string) error {
		o.Suites = args[1:]
		return runRescore(cmd.Context(), w, o, args[0])
	}
	withEnvironment(w, cmd, run, "config", "runs")
	return cmd
}

func runRescore(ctx context.Context, w *World, o *rescoreOptions, name string) error {
	if err := checkReports(o.reports); err != nil {
		return err
	}
	dir, err := o.find(w, name)
	if err != nil {
		return err
	}
	o.Runs, o.Config = o.runs, o.config
	p, err := session.Rescore(ctx, w.session(), dir, o.Rescoring)
	if err != nil {
		return err
	}
	if err := o.settle(w, p.Config()); err != nil {
		return err
	}
	return execute(ctx, w, &o.outputOptions, p, nil, "")
}
