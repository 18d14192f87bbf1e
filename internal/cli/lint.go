package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/version"
)

// lintOptions is how linting is asked for.
type lintOptions struct {
	config    string
	profile   string
	rules     []string // as name=severity
	baseline  string
	failOn    string
	format    string
	output    string
	stdinName string

	fix           bool
	diff          bool
	writeBaseline bool
	quiet         bool
}

func newLintCmd(w *World) *cobra.Command {
	o := new(lintOptions)
	cmd := &cobra.Command{
		Use:   "lint [PATH…]",
		Short: "Find what is wrong with Agent Skills, and mend what is certain",
		Long: "Reads SKILL.md files and says what is wrong with them, where, and how to mend it. PATH\n" +
			"is a SKILL.md file, the folder of a skill, a folder that holds skills at any depth, or\n" +
			"- for standard input. Without one it is the folder that skills in mettle.yaml names,\n" +
			"else the working directory.\n\n" +
			"A profile says which rules hold: spec (the Agent Skills specification), claude-code,\n" +
			"langchain, strict, or one of mettle.yaml. mettle explain RULE says what a rule is about.\n" +
			"A comment silences one: <!-- mettle-ignore RULE: the reason -->.\n\n" +
			"Exits with 0 when there is nothing of severity error, with 1 when there is, and with 2\n" +
			"when nothing was found to read or something could not be read.",
		Example: "  mettle lint skills/\n" +
			"  mettle lint --profile claude-code --fix .claude/skills\n" +
			"  mettle lint --format sarif -o lint.sarif\n" +
			"  mettle lint --baseline lint-baseline.json --write-baseline",
	}
	o.flags(cmd)
	withEnvironment(w, cmd, func(cmd *cobra.Command, args []string) error {
		return runLint(cmd.Context(), w, o, args)
	}, "config", "profile", "rule", "fail-on", "format")
	return cmd
}

func (o *lintOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.StringVar(&o.profile, "profile", "", "the rules that hold: "+strings.Join(suite.ProfileNames(nil), ", ")+" or one of mettle.yaml (default spec)")
	f.StringArrayVar(&o.rules, "rule", nil, "severity of a rule or a family of rules, such as link-broken=off; repeat for more")
	f.BoolVar(&o.fix, "fix", false, "mend what can be mended with certainty, then show what is left")
	f.BoolVar(&o.diff, "diff", false, "show what --fix would change, and change nothing; exit with 1 if it is anything")
	f.StringVar(&o.baseline, "baseline", "", "file of old findings, which are not shown")
	f.BoolVar(&o.writeBaseline, "write-baseline", false, "write the findings of now to the baseline")
	f.StringVar(&o.failOn, "fail-on", "", "the least severity that fails: error, warning or info (default error)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show only findings that fail")
	f.StringVarP(&o.format, "format", "f", "terminal", strings.Join(lintFormatNames(), ", "))
	f.StringVarP(&o.output, "output", "o", "-", "file to write, - for standard output")
	f.StringVar(&o.stdinName, "stdin-name", "", "path that standard input is taken to be the file of")
	complete := func(flag string, values []string) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails for flags that are not there
	}
	complete("profile", suite.ProfileNames(nil))
	complete("format", lintFormatNames())
	complete("fail-on", []string{"error", "warning", "info"})
}

func lintFormatNames() (names []string) {
	for _, f := range report.LintFormats {
		names = append(names, f.Name)
	}
	return names
}

// check refuses what cannot be meant together.
func (o *lintOptions) check() error {
	switch {
	case o.fix && o.diff, o.fix && o.writeBaseline, o.diff && o.writeBaseline:
		return usagef("--fix, --diff and --write-baseline exclude each other")
	case o.diff && o.format != "terminal":
		return usagef("--diff is a format of its own: leave --format %s out", o.format)
	}
	return nil
}

// runLint lints what the arguments name and gives the verdict.
func runLint(ctx context.Context, w *World, o *lintOptions, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	cfg, err := loadConfig(w, o.config)
	if err != nil {
		return err
	}
	j, err := newLintJob(w, o, cfg)
	if err != nil {
		return err
	}
	if j.files, err = findSkills(w, o, cfg, args); err != nil {
		return err
	}
	switch {
	case o.writeBaseline:
		err = j.rememberFindings(ctx)
	case o.output != "-":
		if err := fsx.Writable(w.abs(o.output)); err != nil {
			return usagef("the report cannot be written: %w", err)
		}
		err = fsx.Replace(w.abs(o.output), func(out io.Writer) error { return j.report(ctx, out, report.Options{}) })
	default:
		err = j.report(ctx, w.Stdout, report.Options{Color: w.color(w.OutTTY), Width: w.Width})
	}
	if errors.Is(err, context.Canceled) {
		w.printf("mettle: interrupted; %d of %s linted\n", j.totals.Files, count(len(j.files), "file"))
		return &verdictError{ExitInterrupted}
	}
	if err != nil {
		return err
	}
	return j.verdict()
}

// lintJob is linting under way.
type lintJob struct {
	world  *World
	opts   *lintOptions
	root   string // the configuration's folder
	files  []lintFile
	failOn skill.Severity
	totals report.LintTotals

	linter   *skill.Linter
	settings skill.Options
	format   report.LintFormat

	baselinePath string
	baseline     *skill.Baseline
	seen         map[string]bool // fingerprints of the baseline that were found again
	changes      int             // files that --diff would change
}

// newLintJob settles what flags, environment and configuration say.
func newLintJob(w *World, o *lintOptions, cfg *suite.Config) (*lintJob, error) {
	j := &lintJob{world: w, opts: o, root: cfg.Dir, failOn: skill.Severity(cmp.Or(o.failOn, string(cfg.Lint.FailOn), string(skill.Error)))}
	if !slices.Contains([]skill.Severity{skill.Error, skill.Warning, skill.Info}, j.failOn) {
		return nil, usagef("--fail-on is %q, want error, warning or info", j.failOn)
	}
	var ok bool
	if j.format, ok = report.FindLint(o.format); !ok {
		return nil, unknown("format", o.format, lintFormatNames())
	}
	rules, err := severities(cfg.Lint.Rules, o.rules)
	if err != nil {
		return nil, err
	}
	j.settings = skill.Options{
		Profile: cmp.Or(o.profile, cfg.Lint.Profile, skill.Spec), Profiles: cfg.Lint.Profiles, Rules: rules,
		Suppress: cfg.Lint.Suppress, KeepSuppressed: true, // they are counted, and some formats show them
	}
	if names := suite.ProfileNames(cfg.Lint.Profiles); !slices.Contains(names, j.settings.Profile) {
		return nil, unknown("profile", j.settings.Profile, names)
	}
	if j.linter, err = skill.NewLinter(j.settings); err != nil {
		return nil, &usageError{err}
	}
	return j, j.readBaseline(cfg)
}

// severities puts those of flags over those of the configuration.
func severities(config map[string]skill.Severity, flags []string) (map[string]skill.Severity, error) {
	out := map[string]skill.Severity{}
	for name, s := range config {
		out[name] = s
	}
	for _, f := range flags {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return nil, usagef("--rule is %q, want a rule and its severity, such as link-broken=off", f)
		}
		if names := suite.RuleNames(); !slices.Contains(names, name) {
			return nil, unknown("rule", name, names)
		}
		if levels := []string{"error", "warning", "info", "off"}; !slices.Contains(levels, value) {
			return nil, usagef("--rule %s: the severity is %q, want error, warning, info or off", name, value)
		}
		out[name] = skill.Severity(value)
	}
	return out, nil
}

// lintRun is what a report says about the job.
func (j *lintJob) lintRun() report.LintRun {
	run := report.LintRun{
		Tool: version.Version, Profile: j.settings.Profile, FailOn: j.failOn,
		Baseline: j.baseline != nil, Suppress: j.settings.Suppress,
	}
	for _, r := range skill.Rules() {
		if s := j.linter.Severity(r); s != skill.Off {
			run.Rules = append(run.Rules, report.LintRule{Rule: r, Level: s})
		}
	}
	return run
}

// report lints all files and writes what is found as it is found.
func (j *lintJob) report(ctx context.Context, out io.Writer, o report.Options) error {
	if j.opts.diff {
		return j.diff(ctx, out, o)
	}
	writer := j.format.New(out, j.lintRun(), o)
	err := j.lint(ctx, func(f report.LintFile) error {
		j.totals.Add(f)
		if j.opts.quiet {
			f.Findings = slices.DeleteFunc(f.Findings, func(x skill.Finding) bool { return !report.Reaches(x.Severity, j.failOn) })
		}
		return writer.File(f)
	})
	if err != nil {
		return err
	}
	if err := writer.Close(&j.totals); err != nil {
		return err
	}
	j.talk()
	return nil
}

// talk says what a person should know besides the findings.
func (j *lintJob) talk() {
	if n := j.staleEntries(); n > 0 {
		j.world.printf("mettle: %s of the baseline found no more; --write-baseline takes them out\n", count(n, "finding"))
	}
}

// verdict is nil for skills that pass. A finding that fails beats a file that
// could not be read: it is certain, whatever else there is.
func (j *lintJob) verdict() error {
	switch {
	case j.opts.writeBaseline && j.totals.Problems == 0:
		return nil
	case j.opts.diff && j.changes > 0, !j.opts.diff && j.totals.Failed(j.failOn):
		return &verdictError{ExitNotMet}
	case j.totals.Problems > 0:
		return usagef("%d of %s could not be read or written", j.totals.Problems, count(len(j.files), "file"))
	}
	return nil
}

// unknown is the error of a name that is not one of some.
func unknown(what, name string, names []string) error {
	if near := kind.Near(name, names); near != "" {
		return usagef("unknown %s %q (did you mean %q?)", what, name, near)
	}
	if len(names) > 12 {
		return usagef("unknown %s %q; mettle explain lists them", what, name)
	}
	return usagef("unknown %s %q, want one of %s", what, name, strings.Join(names, ", "))
}
