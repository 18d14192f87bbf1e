package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
)

type resumeOptions struct {
	storeOptions
	run    runOptions // what may be given anew
	errors bool
}

func newResumeCmd(w *World) *cobra.Command {
	o := new(resumeOptions)
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Do what a run is missing",
		Long: "Continues a run that was interrupted, stopped or killed: only the results it does\n" +
			"not have are made. The suites must be as they were. RUN is an id, the start of\n" +
			"one, a run's folder, or latest.",
		Example: "  mettle resume latest\n  mettle resume 20260102-150405 --errors",
		Args:    cobra.ExactArgs(1),
	}
	o.storeOptions.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.errors, "errors", false, "also put cases again that got no answer")
	f.StringVar(&o.run.URL, "url", "", "the server's address, when it holds a secret or has changed")
	f.StringVar(&o.run.Command, "command", "", "the server's command line, when it holds a secret or has changed")
	f.StringArrayVar(&o.run.Headers, "header", nil, "HTTP header that holds a secret, as 'Name: value'")
	f.StringVar(&o.run.Budget, "budget", "", "most this part of the run may spend (default: as before)")
	f.IntVar(&o.run.Concurrency, "concurrency", 0, "cases at a time (default: as before)")
	f.StringVarP(&o.run.output, "output", "o", "", "JSON report's path, - for standard output (default reports/eval-<project|all>-<millis>.json)")
	f.StringArrayVar(&o.run.reports, "report", nil, "further report as format=path; - for standard output")
	f.BoolVar(&o.run.verbose, "verbose", false, "show the reasons of failed checks as they come")
	run := func(cmd *cobra.Command, args []string) error { return runResume(cmd.Context(), w, o, args[0]) }
	withEnvironment(w, cmd, run, "config", "runs") // where the cases go is the run's own to say
	return cmd
}

func runResume(ctx context.Context, w *World, o *resumeOptions, name string) error {
	if err := checkReports(o.run.reports); err != nil {
		return err
	}
	dir, err := o.find(w, name)
	if err != nil {
		return err
	}
	prior, err := store.Recount(dir)
	if err != nil {
		return err
	}
	opts, err := o.merged(prior)
	if err != nil {
		return err
	}
	if prior.Parent != "" {
		return usagef("run %s graded another run's answers again: use mettle rescore %s", prior.ID, prior.Parent)
	}
	there := *w
	there.Dir = opts.Dir
	opts.elsewhere = opts.putElsewhere()
	opts.gates = prior.Gates
	l, err := load(&there, &opts.selectOptions)
	if err != nil {
		return fmt.Errorf("load the suites of run %s: %w", prior.ID, err)
	}
	if err := sameSuites(prior, l); err != nil {
		return err
	}
	opts.settle(l.config)
	if o.missing(prior) == 0 {
		w.printf("run %s has all of its %d results; nothing is asked\n", prior.ID, prior.Planned)
		if err := writeReports(w, opts, prior, dir); err != nil {
			return err
		}
		return verdict(prior)
	}
	ms, err := newModels(&there, &opts.modelOptions, l.config, opts.try)
	if err != nil {
		return err
	}
	if err := ms.sameCheckers(prior); err != nil {
		return err
	}
	ts, err := targets(&there, opts, l, ms)
	if err != nil {
		return err
	}
	writer, err := store.Resume(dir)
	if err != nil {
		return errors.Join(err, closeTargets(ts))
	}
	return execute(ctx, w, opts, execution{head: prior.Header, loaded: l, targets: ts, models: ms, writer: writer, prior: prior, errors: o.errors})
}

// merged is how the run was asked for, with what was given anew.
func (o *resumeOptions) merged(prior *eval.Run) (*runOptions, error) {
	opts, err := optionsOf(prior)
	if err != nil {
		return nil, err
	}
	given := map[string]bool{"url": o.run.URL != "", "command": o.run.Command != "", "header": len(o.run.Headers) > 0}
	for _, flag := range opts.Withheld {
		if !given[flag] {
			return nil, usagef("run %s was made with a --%s that may hold a secret, so it was not kept: give it again", prior.ID, flag)
		}
	}
	if o.run.URL != "" || o.run.Command != "" {
		opts.URL, opts.Target, opts.Command = o.run.URL, "", o.run.Command
	}
	if len(o.run.Headers) > 0 {
		opts.Headers = o.run.Headers
	}
	if o.run.Budget != "" {
		opts.Budget = o.run.Budget
	}
	if o.run.Concurrency > 0 {
		opts.Concurrency = o.run.Concurrency
	}
	opts.output, opts.reports, opts.verbose = o.run.output, o.run.reports, o.run.verbose
	return opts, opts.check()
}

// missing counts the results to make. With --errors those without an answer
// are among them.
func (o *resumeOptions) missing(prior *eval.Run) int {
	n := prior.Planned - prior.Summary.Total
	if o.errors {
		n += prior.Summary.Errors
	}
	return n
}

// sameSuites refuses to mix results of different questions in one run.
func sameSuites(prior *eval.Run, l *loaded) error {
	for _, was := range prior.Suites {
		i := slices.IndexFunc(l.Suites, func(s *eval.Suite) bool { return s.File == was.File })
		if i < 0 {
			return usagef("suite %s of run %s is gone", was.File, prior.ID)
		}
		if l.Suites[i].Digest != was.Digest {
			return usagef("%s has changed since run %s: start a new run, or hold the stored answers against it with mettle rescore %s", was.File, prior.ID, prior.ID)
		}
	}
	if len(l.Suites) != len(prior.Suites) {
		return usagef("there are %d suites now and run %s has %d: start a new run", len(l.Suites), prior.ID, len(prior.Suites))
	}
	return nil
}
