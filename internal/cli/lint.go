package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/report"
	lintreport "github.com/mettle-eval/mettle/internal/report/lint"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/term"
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
		Short: "Lint Agent Skills; --fix applies safe fixes",
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
	f.StringVar(&o.profile, "profile", "", "the rules that hold: "+strings.Join(lint.ProfileNames(nil), ", ")+" or one of mettle.yaml (default spec)")
	f.StringArrayVar(&o.rules, "rule", nil, "severity of a rule or a family of rules, such as link-broken=off; repeat for more")
	f.BoolVar(&o.fix, "fix", false, "mend what can be mended with certainty, then show what is left")
	f.BoolVar(&o.diff, "diff", false, "show what --fix would change, and change nothing; exit with 1 if it is anything")
	f.StringVar(&o.baseline, "baseline", "", "file of old findings, which are not shown")
	f.BoolVar(&o.writeBaseline, "write-baseline", false, "write the findings of now to the baseline")
	f.StringVar(&o.failOn, "fail-on", "", "the least severity that fails: error, warning or info (default error)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show only findings that fail")
	f.StringVarP(&o.format, "format", "f", "terminal", strings.Join(lintreport.Names(), ", "))
	f.StringVarP(&o.output, "output", "o", "-", "file to write, - for standard output")
	f.StringVar(&o.stdinName, "stdin-name", "", "path that standard input is taken to be the file of")
	complete := func(flag string, values []string) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails for flags that are not there
	}
	complete("profile", lint.ProfileNames(nil))
	complete("format", lintreport.Names())
	complete("fail-on", []string{"error", "warning", "info"})
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
	cfg, err := session.LoadConfig(w.session(), o.config)
	if err != nil {
		return err
	}
	c, err := newLintCall(w, o, cfg)
	if err != nil {
		return err
	}
	if c.Files, err = findSkills(w, o, cfg, args); err != nil {
		return err
	}
	switch {
	case o.writeBaseline:
		err = c.remember(ctx)
	case o.output != "-":
		if err := fsx.Writable(w.abs(o.output)); err != nil {
			return usagef("the report cannot be written: %w", err)
		}
		err = fsx.Replace(w.abs(o.output), func(out io.Writer) error { return c.report(ctx, out, report.Options{}) })
	default:
		err = c.report(ctx, w.reportOut(o.format), report.Options{Color: w.color(w.OutTTY), Width: w.Width})
	}
	if errors.Is(err, context.Canceled) {
		w.printf("mettle: interrupted; %d of %s linted\n", c.Totals.Files, count(len(c.Files), "file"))
		return &verdictError{ExitInterrupted}
	}
	if err != nil {
		return err
	}
	return c.verdict()
}

// findSkills lists the files that the arguments name.
func findSkills(w *World, o *lintOptions, cfg *suite.Config, args []string) ([]lint.File, error) {
	if len(args) == 0 {
		args = []string{"."}
		if cfg.Skills != "" {
			args[0] = w.shown(filepath.Join(cfg.Dir, cfg.Skills))
		}
	}
	files, err := lint.Search{Dir: w.Dir, Root: cfg.Dir, Stdin: w.Stdin, StdinName: o.stdinName, Fix: o.fix}.Files(args)
	if err != nil {
		return nil, &usageError{Err: err}
	}
	return files, nil
}

// lintCall is a job of the linter and how its outcome is shown.
type lintCall struct {
	*lint.Job
	world   *World
	opts    *lintOptions
	run     lintreport.Run
	format  lintreport.Format
	old     *lint.Baseline // the baseline as it was read
	changes int            // files that --diff would change
}

// newLintCall settles what flags, environment and configuration say.
func newLintCall(w *World, o *lintOptions, cfg *suite.Config) (*lintCall, error) {
	c := &lintCall{world: w, opts: o}
	failOn := lint.Severity(cmp.Or(o.failOn, string(cfg.Lint.FailOn), string(lint.Error)))
	if !slices.Contains([]lint.Severity{lint.Error, lint.Warning, lint.Info}, failOn) {
		return nil, usagef("--fail-on is %q, want error, warning or info", failOn)
	}
	var ok bool
	if c.format, ok = lintreport.Find(o.format); !ok {
		return nil, unknown("format", o.format, lintreport.Names())
	}
	rules, err := severities(cfg.Lint.Rules, o.rules)
	if err != nil {
		return nil, err
	}
	settings := lint.Options{
		Profile: cmp.Or(o.profile, cfg.Lint.Profile, lint.Spec), Profiles: cfg.Lint.Profiles, Rules: rules,
		Suppress: cfg.Lint.Suppress, KeepSuppressed: true, // they are counted, and some formats show them
	}
	if names := lint.ProfileNames(cfg.Lint.Profiles); !slices.Contains(names, settings.Profile) {
		return nil, unknown("profile", settings.Profile, names)
	}
	if err := c.readBaseline(cfg); err != nil {
		return nil, err
	}
	if !o.writeBaseline {
		settings.Baseline = c.old
	}
	if c.Job, err = lint.NewJob(settings); err != nil {
		return nil, &usageError{Err: err}
	}
	c.Root, c.Fix = cfg.Dir, o.fix
	c.run = lintreport.Run{
		Tool: version.Version, Profile: settings.Profile, FailOn: failOn, Baseline: c.old != nil, Suppress: settings.Suppress,
	}
	for _, r := range lint.Rules() {
		if s := c.Severity(r); s != lint.Off {
			c.run.Rules = append(c.run.Rules, lintreport.Rule{Rule: r, Level: s})
		}
	}
	return c, nil
}

// severities puts those of flags over those of the configuration.
func severities(config map[string]lint.Severity, flags []string) (map[string]lint.Severity, error) {
	out := maps.Clone(config)
	if out == nil {
		out = map[string]lint.Severity{}
	}
	for _, f := range flags {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return nil, usagef("--rule is %q, want a rule and its severity, such as link-broken=off", f)
		}
		if names := lint.RuleNames(); !slices.Contains(names, name) {
			return nil, unknown("rule", name, names)
		}
		if levels := []string{"error", "warning", "info", "off"}; !slices.Contains(levels, value) {
			return nil, usagef("--rule %s: the severity is %q, want error, warning, info or off", name, value)
		}
		out[name] = lint.Severity(value)
	}
	return out, nil
}

// readBaseline reads the old findings, if there is a file of them.
func (c *lintCall) readBaseline(cfg *suite.Config) error {
	switch {
	case c.opts.baseline != "":
		c.opts.baseline = c.world.abs(c.opts.baseline)
	case cfg.Lint.Baseline != "":
		c.opts.baseline = filepath.Join(cfg.Dir, cfg.Lint.Baseline)
	case c.opts.writeBaseline:
		return usagef("--write-baseline needs the file's name: give --baseline, or lint.baseline in %s", suite.ConfigName)
	default:
		return nil
	}
	f, err := os.Open(c.opts.baseline)
	if errors.Is(err, fs.ErrNotExist) && c.opts.writeBaseline {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no baseline %s; --write-baseline makes one", c.world.shown(c.opts.baseline))
	}
	if err != nil {
		return usagef("read the baseline: %w", err)
	}
	defer f.Close()
	if c.old, err = lint.ReadBaseline(f); err != nil {
		return usagef("%s: %w", c.world.shown(c.opts.baseline), err)
	}
	return nil
}

// remember writes the findings of now to the baseline.
func (c *lintCall) remember(ctx context.Context) error {
	next, n, err := c.Remember(ctx, c.old, func(r lint.Result) {
		if r.Err != nil {
			c.world.printf("%s\n", term.Sanitize("mettle: "+r.Err.Error()))
		}
	})
	if err != nil {
		return err
	}
	if err := fsx.Replace(c.opts.baseline, next.Write); err != nil {
		return usagef("write the baseline: %w", err)
	}
	c.world.printf("%s of %s written to %s\n", count(n, "finding"), count(len(c.Files), "file"), c.world.shown(c.opts.baseline))
	return nil
}

// report lints all files and writes what is found as it is found.
func (c *lintCall) report(ctx context.Context, out io.Writer, o report.Options) error {
	if c.opts.diff {
		return c.diff(ctx, out, o)
	}
	writer := c.format.New(out, c.run, o)
	err := c.Run(ctx, func(r lint.Result) error {
		if c.opts.quiet {
			r.Findings = slices.DeleteFunc(r.Findings, func(f lint.Finding) bool { return !f.Severity.Reaches(c.run.FailOn) })
		}
		return writer.File(r)
	})
	if err != nil {
		return err
	}
	if err := writer.Close(&c.Totals); err != nil {
		return err
	}
	if n := c.Stale(); n > 0 {
		c.world.printf("mettle: %s of the baseline found no more; --write-baseline takes them out\n", count(n, "finding"))
	}
	return nil
}

// diff shows what --fix would change. For a program it is exact, so that it can
// be applied; on a terminal what the files hold is made harmless first.
func (c *lintCall) diff(ctx context.Context, out io.Writer, o report.Options) error {
	fixed := 0
	err := c.Changes(ctx, func(x lint.Change) error {
		if x.Err != nil {
			c.world.printf("mettle: %s\n", term.Sanitize(x.Err.Error()))
		}
		if len(x.Diff) == 0 {
			return nil
		}
		c.changes++
		fixed += x.Fixed
		if o.Color || c.world.OutTTY && c.opts.output == "-" {
			x.Diff = lintreport.Diff(x.Diff, o.Color)
		}
		_, err := out.Write(x.Diff)
		return err
	})
	if err != nil {
		return err
	}
	if c.changes == 0 {
		c.world.printf("nothing to fix in %s\n", count(len(c.Files), "file"))
		return nil
	}
	c.world.printf("--fix would fix %s in %s\n", count(fixed, "finding"), count(c.changes, "file"))
	return nil
}

// verdict is nil for skills that pass. A finding that fails beats a file that
// could not be read: it is certain, whatever else there is.
func (c *lintCall) verdict() error {
	switch {
	case c.opts.writeBaseline && c.Totals.Problems == 0:
		return nil
	case c.opts.diff && c.changes > 0, !c.opts.diff && c.Totals.Failed(c.run.FailOn):
		return &verdictError{ExitNotMet}
	case c.Totals.Problems > 0:
		return usagef("%d of %s could not be read or written", c.Totals.Problems, count(len(c.Files), "file"))
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
