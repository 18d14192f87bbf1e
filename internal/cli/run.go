package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

type runOptions struct {
	session.Options
	outputOptions
}

func newRunCmd(w *World) *cobra.Command {
	o := new(runOptions)
	cmd := &cobra.Command{
		Use:   "run [SUITE…]",
		Short: "Run test suites against servers and models",
		Long: "Runs every case of the suites against its target, checks the answers, and reports.\n\n" +
			"A SUITE is a file, a folder, a glob, or the name of a built-in suite. Without one,\n" +
			"the suites that mettle.yaml names are run, and without those the built-in ones.\n" +
			"Flags beat the environment (METTLE_<FLAG>, MCP_URL), which beats mettle.yaml.\n" +
			"A run that was stopped in any way can be continued with mettle resume.\n\n" +
			"Cases about skills go to the model of --model, which has the skill as its only\n" +
			"context, and are judged by that of --judge. Keys come from ANTHROPIC_API_KEY and\n" +
			"OPENAI_API_KEY; ollama:<model> needs none. mettle doctor tells what works.",
		Example: "  mettle run\n" +
			"  mettle run suites/ --url http://localhost:3000\n" +
			"  mettle run suites/mina.yaml -d basic -t concept --fail-fast\n" +
			"  mettle run suites/ --command 'node server.js' --report junit=out/junit.xml\n" +
			"  mettle run suites/ --gate 'pass_rate{difficulty=basic} >= 95%'\n" +
			"  mettle run structural --skills skills/ --language both\n" +
			"  mettle run quality/langgraph --model anthropic:claude-sonnet-5-5 --judge openai:gpt-6-sol --budget 2usd\n" +
			"  mettle run coding --model ollama:qwen3 --judge ollama:gpt-oss --record tapes/coding",
	}
	o.flags(cmd.Flags())
	withEnvironment(w, cmd, func(cmd *cobra.Command, args []string) error {
		o.Suites = args
		return runRun(cmd.Context(), w, o)
	})
	return cmd
}

func runRun(ctx context.Context, w *World, o *runOptions) error {
	if err := checkReports(o.reports); err != nil {
		return err
	}
	p, err := session.New(ctx, w.session(), o.Options)
	if err != nil {
		return err
	}
	if o.DryRun {
		e, err := p.DryRun()
		if err != nil {
			return err
		}
		return printEstimate(w, e)
	}
	if err := o.settle(w, p.Config()); err != nil {
		return err
	}
	base, err := p.Baseline(ctx, newProgress(w, p, o.verbose))
	if err != nil {
		return err
	}
	return execute(ctx, w, &o.outputOptions, p, base, o.Baseline)
}

// execute runs a plan, reports, and gives the verdict.
func execute(ctx context.Context, w *World, o *outputOptions, p *session.Plan, base *eval.Run, baseName string) error {
	for _, note := range p.Notes {
		w.printf("note: %s\n", term.Sanitize(note))
	}
	progress := newProgress(w, p, o.verbose)
	run, err := p.Run(ctx, progress)
	progress.clear()
	if err != nil {
		return err
	}
	if err := o.write(w, run, p.Dir()); err != nil {
		return err
	}
	if base != nil {
		if baseName != session.BuiltinTarget {
			baseName = base.ID
		}
		out, color := o.stream(w)
		if err := report.Compare(out, eval.Compare(base, run), "this run", baseName, report.Options{Color: color, Width: w.Width, Verbose: o.verbose}); err != nil {
			return err
		}
	}
	printPlan(w, p)
	closing(w, run, p)
	return cmp.Or(verdict(run), unrecorded(w, p.Unrecorded()))
}

// printPlan says in a line each what was left out, and how to have it.
func printPlan(w *World, p *session.Plan) {
	if len(p.Absent) > 0 {
		w.printf("%s\n", term.Sanitize("left out, since their skills are not in "+p.Skills()+": "+strings.Join(p.Absent, ", ")))
	}
	if p.Unjudged > 0 {
		w.printf("checks of %s were skipped: no judge configured (give --judge provider:model, or models.judge in mettle.yaml)\n", count(p.Unjudged, "case"))
	}
	if len(p.Skipped) > 0 {
		w.printf("%s\n", term.Sanitize("skipped, no model configured: "+strings.Join(p.Skipped, ", ")+". "+session.HowToGetAModel))
	}
}

// unrecorded tells that a replay is not the run that was recorded. Its verdict
// may be certain without what is missing, and is then still another run's.
func unrecorded(w *World, missed int) error {
	if missed == 0 {
		return nil
	}
	w.printf("%s could not be had from the tape, so this is not the run that was recorded: record it again\n", count(missed, "call"))
	return &verdictError{ExitIncomplete}
}

// closing says how to go on with a run that ended early, and what went wrong
// beside its results.
func closing(w *World, run *eval.Run, p *session.Plan) {
	for _, note := range run.Notes {
		w.printf("note: %s\n", term.Sanitize(note))
	}
	if run.Header.Status == eval.Done {
		return
	}
	are := "are"
	left := run.Planned - run.Summary.Total
	if left == 1 {
		are = "is"
	}
	next := "continue with: mettle resume " + filepath.Base(p.Dir())
	if run.Parent != "" {
		next = "grade again with: mettle rescore " + run.Parent
	}
	if p.Lacking() > 0 {
		next = "the graded run does not have them: mettle resume " + run.Parent + ", then grade again"
	}
	w.printf("%d of %s %s missing; %s\n", left, count(run.Planned, "result"), are, next)
}
