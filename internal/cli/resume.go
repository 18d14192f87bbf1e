package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/session"
)

type resumeOptions struct {
	storeOptions
	session.Resumption
	outputOptions
}

func newResumeCmd(w *World) *cobra.Command {
	o := new(resumeOptions)
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Resume an interrupted run",
		Long: "Continues a run that was interrupted, stopped or killed: only the results it does\n" +
			"not have are made, and those that are damaged on disk. The suites must be as they\n" +
			"were. With --errors, results whose answer could not be had (error) or not be judged\n" +
			"(unscored) are made again too. RUN is an id, the start of one, a run's folder, or\n" +
			"latest.",
		Example: "  mettle resume latest\n  mettle resume 20260102-150405 --errors",
		Args:    cobra.ExactArgs(1),
	}
	o.storeOptions.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.Errors, "errors", false, "also redo the results without an answer or a verdict")
	f.StringVar(&o.URL, "url", "", "address of the server, when it holds a secret or has changed")
	f.StringVar(&o.Command, "command", "", "command line of the server, when it holds a secret or has changed")
	f.StringArrayVar(&o.Headers, "header", nil, "HTTP header that holds a secret, as 'Name: value'")
	f.StringVar(&o.Budget, "budget", "", "most this part of the run may spend (default: as before)")
	f.IntVar(&o.Concurrency, "concurrency", 0, "cases at a time (default: as before)")
	o.outputOptions.flags(f)
	run := func(cmd *cobra.Command, args []string) error { return runResume(cmd.Context(), w, o, args[0]) }
	withEnvironment(w, cmd, run, "config", "runs") // where the cases go is the run's own to say
	return cmd
}

func runResume(ctx context.Context, w *World, o *resumeOptions, name string) error {
	if err := checkReports(o.reports); err != nil {
		return err
	}
	dir, err := o.find(w, name)
	if err != nil {
		return err
	}
	p, err := session.Resume(ctx, w.session(), dir, o.Resumption)
	if err != nil {
		return err
	}
	if err := o.settle(w, p.Config()); err != nil {
		return err
	}
	if p.Missing() == 0 {
		w.printf("run %s has all of its results; nothing is asked\n", name)
	}
	return execute(ctx, w, &o.outputOptions, p, nil, "")
}
