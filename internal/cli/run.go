package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/process"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/secret"
	"github.com/mettle-eval/mettle/internal/store"
	"github.com/mettle-eval/mettle/internal/term"
	"github.com/mettle-eval/mettle/internal/version"
)

func newRunCmd(w *World) *cobra.Command {
	o := new(runOptions)
	cmd := &cobra.Command{
		Use:   "run [SUITE…]",
		Short: "Put the cases of suites to servers and models, and report",
		Long: "Puts every case of the suites to its target, checks the answers, and reports.\n\n" +
			"A SUITE is a file, a folder, a glob, or the name of a built-in suite. Without one,\n" +
			"the suites that mettle.yaml names are run, and without those the built-in ones.\n" +
			"Flags beat the environment (METTLE_<FLAG>, MCP_URL), which beats mettle.yaml.\n" +
			"A run that was stopped in any way can be continued with mettle resume.\n\n" +
			"Cases about skills are put to the model of --model, which has the skill as its only\n" +
			"context, and judged by that of --judge. Keys come from ANTHROPIC_API_KEY and\n" +
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
		o.Suites, o.Dir = args, w.Dir
		return runRun(cmd.Context(), w, o)
	})
	return cmd
}

func runRun(ctx context.Context, w *World, o *runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := checkReports(o.reports); err != nil {
		return err
	}
	var err error
	if o.gates, err = o.parsedGates(); err != nil {
		return err
	}
	o.elsewhere = o.putElsewhere()
	l, err := load(w, &o.selectOptions)
	if err != nil {
		return err
	}
	o.settle(l.config)
	if o.dryRun {
		o.Record, o.Cache = "", "" // nothing is asked, and nothing left behind
	}
	ms, err := newModels(w, &o.modelOptions, l.config, o.try)
	if err != nil {
		return err
	}
	l.narrow(o)
	if o.dryRun {
		return dryRun(w, o, l, ms)
	}
	if err := o.checkDestinations(w); err != nil {
		return err
	}
	var base *eval.Run
	if o.Baseline != "" {
		if base, err = o.baselineRun(ctx, w, l, ms); err != nil {
			return err
		}
	}
	ts, err := targets(w, o, l, ms)
	if err != nil {
		return err
	}
	head := o.header(ctx, w)
	head.Gates = o.gates
	if err := ms.describe(&head, l); err != nil {
		return err
	}
	writer := store.Create(runsDir(w, o.runs, l.config), ms.folder(head.ID), l.Suites)
	return execute(ctx, w, o, execution{head: head, loaded: l, targets: ts, models: ms, writer: writer, base: base})
}

// header says what a run about to start is.
func (o *runOptions) header(ctx context.Context, w *World) eval.Header {
	now := w.Now()
	return eval.Header{
		ID: store.NewID(now, w.Random()), Tool: version.Version, Started: now, Project: o.Project,
		Git: gitRevision(ctx, w), Options: o.stored(),
	}
}

// execution is a run about to happen, new or resumed.
type execution struct {
	head    eval.Header
	loaded  *loaded
	targets map[string]eval.Target
	models  *models
	writer  *store.Writer
	prior   *eval.Run // of a resumed run
	errors  bool      // make those of its results again that have no answer
	base    *eval.Run // to hold it against
}

// execute runs, reports, and gives the verdict.
func execute(ctx context.Context, w *World, o *runOptions, x execution) error {
	run, err := o.perform(ctx, w, x)
	if err != nil {
		return err
	}
	if err := writeReports(w, o, run, x.writer.Dir()); err != nil {
		return err
	}
	if x.base != nil {
		if err := compareWith(w, o, run, x.base); err != nil {
			return err
		}
	}
	x.loaded.tellWithheld(w, x.models)
	closing(w, run, filepath.Base(x.writer.Dir()))
	incomplete := x.models.replay.whole(w)
	return cmp.Or(verdict(run), incomplete)
}

// perform runs, and leaves the reporting to others.
func (o *runOptions) perform(ctx context.Context, w *World, x execution) (*eval.Run, error) {
	defer func() {
		if err := closeTargets(x.targets); err != nil {
			w.printf("note: %s\n", term.Sanitize(err.Error())) // the results are in all the same
		}
	}()
	defer x.writer.Close()
	progress := newProgress(w, o.verbose)
	runner := &eval.Runner{
		Targets: x.targets, Concurrency: o.Concurrency, Trials: o.Trials, Timeout: o.Timeout,
		FailFast: o.FailFast, MaxErrors: o.MaxErrors, Sinks: []eval.Sink{x.writer, progress}, Now: w.Now,
	}
	if x.prior != nil {
		runner.Prior = x.prior.Results()
		progress.done = x.prior.Summary.Total
		if x.errors {
			runner.Redo = func(r *eval.Result) bool { return r.Status == eval.Error }
			progress.done -= x.prior.Summary.Errors
		}
	}
	inner, err := x.models.around(grade.WithEnviron(ctx, w.Environ), runner, &x.head)
	if err != nil {
		return nil, err
	}
	run, err := runner.Run(inner, x.head, x.loaded.Suites)
	progress.clear()
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return run, err
}

// compareWith prints the run beside its baseline, under the report.
func compareWith(w *World, o *runOptions, run, base *eval.Run) error {
	name := base.ID
	if o.Baseline == builtinTarget {
		name = builtinTarget
	}
	out, color := w.reportStream(o)
	return report.Compare(out, eval.Compare(base, run), "this run", name, report.Options{Color: color, Width: w.Width, Verbose: o.verbose})
}

// putElsewhere tells whether all cases go to one target, whatever they say.
func (o *runOptions) putElsewhere() bool { return o.URL != "" || o.Command != "" || o.Target != "" }

// stored is what the run's header keeps of the options. What may hold a
// secret is left out and named, so that a resumed run asks for it.
func (o *runOptions) stored() json.RawMessage {
	kept := *o
	kept.Withheld = nil
	if url, found := secret.URL(o.URL); found {
		kept.URL, kept.Withheld = url, append(kept.Withheld, "url")
	}
	if words, err := process.Split(o.Command); err == nil && slices.ContainsFunc(words, new(probeOptions).secretWord) {
		kept.Command, kept.Withheld = words[0], append(kept.Withheld, "command")
	}
	kept.Headers = nil
	for _, h := range o.Headers {
		if _, value, _ := strings.Cut(h, ":"); onlyReferences(value) {
			kept.Headers = append(kept.Headers, h)
		} else if !slices.Contains(kept.Withheld, "header") {
			kept.Withheld = append(kept.Withheld, "header")
		}
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return b
}

// onlyReferences tells whether a header's value is taken from the environment
// as a whole, but for the word that says what kind of credential it is.
func onlyReferences(value string) bool {
	for word := range strings.FieldsSeq(value) {
		if (!strings.HasPrefix(word, "${") || strings.Index(word, "}") != len(word)-1) && word != "Bearer" && word != "Basic" {
			return false
		}
	}
	return true
}

// closing says how to go on with a run that ended early.
func closing(w *World, run *eval.Run, folder string) {
	if run.Header.Status == eval.Done {
		return
	}
	are := "are"
	left := run.Planned - run.Summary.Total
	if left == 1 {
		are = "is"
	}
	next := "continue with: mettle resume " + folder
	if run.Parent != "" {
		next = "grade again with: mettle rescore " + run.Parent
	}
	w.printf("%d of %s %s missing; %s\n", left, count(run.Planned, "result"), are, next)
}

// checkReports finds a mistyped --report before anything is asked.
func checkReports(reports []string) error {
	for _, r := range reports {
		name, path, ok := strings.Cut(r, "=")
		if !ok || path == "" {
			return usagef("--report %q is not format=path", r)
		}
		if _, ok := report.Find(name); !ok {
			return usagef("--report: unknown format %q, want one of %s", name, strings.Join(formatNames(), ", "))
		}
	}
	return nil
}

func formatNames() (names []string) {
	for _, f := range report.Formats {
		names = append(names, f.Name)
	}
	return names
}

// writeReports writes the terminal report, the JSON report and those asked
// for. The terminal report gives way when standard output is wanted for data.
func writeReports(w *World, o *runOptions, run *eval.Run, dir string) error {
	output := o.output
	if output == "" {
		name := run.Project
		if name == "" {
			name = "all"
		}
		output = filepath.Join("reports", fmt.Sprintf("eval-%s-%d.json", fileName(name), w.Now().UnixMilli()))
	}
	reports := append([]string{"json=" + output}, o.reports...)
	screen, color := w.reportStream(o)
	for _, r := range reports {
		if r == "json="+noReport {
			continue
		}
		name, path, _ := strings.Cut(r, "=")
		// Reports say what the run was, not where on this machine it is kept: a
		// replay writes the same.
		if err := writeReport(w, run, name, path, report.Options{Verbose: o.verbose || name == "terminal"}); err != nil {
			return err
		}
	}
	terminal, _ := report.Find("terminal") // last: whoever reads it may stop reading
	if err := terminal.Write(screen, run, report.Options{Color: color, Width: w.Width, Verbose: o.verbose, Dir: w.shown(dir)}); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// reportStream is where the report for people goes: standard output, unless
// that is wanted for data.
func (w *World) reportStream(o *runOptions) (io.Writer, bool) {
	if o.output == "-" || slices.ContainsFunc(o.reports, func(r string) bool { return strings.HasSuffix(r, "=-") }) {
		return w.Stderr, w.color(w.ErrTTY)
	}
	return w.Stdout, w.color(w.OutTTY)
}

// fileName keeps a name from being more than a name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r < ' ' || r == 0x7f {
			return '-'
		}
		return r
	}, strings.Trim(s, "."))
}

func writeReport(w *World, run *eval.Run, name, path string, o report.Options) error {
	format, _ := report.Find(name)
	if path == "-" {
		return format.Write(w.Stdout, run, o)
	}
	err := fsx.Replace(w.abs(path), func(out io.Writer) error { return format.Write(out, run, o) })
	if err != nil {
		return fmt.Errorf("write the %s report: %w; the run is kept: mettle report writes it again", name, err)
	}
	w.printf("%s\n", term.Paint(w.color(w.ErrTTY)).Dim(name+" report: "+w.shown(path)))
	return nil
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
