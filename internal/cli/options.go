package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/suite"
)

// selectOptions says which suites and which of their cases are meant. They
// are the same for every command that looks at suites.
type selectOptions struct {
	Suites     []string `json:"suites,omitempty"`
	Config     string   `json:"config,omitempty"`
	Project    string   `json:"project,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Difficulty string   `json:"difficulty,omitempty"`
	IDs        []string `json:"ids,omitempty"`
	Skills     string   `json:"skills,omitempty"`
	Language   string   `json:"language,omitempty"`

	elsewhere bool        // the cases' own targets do not matter
	gates     []eval.Gate // of the whole run, to be held against the cases
}

func (o *selectOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.StringVarP(&o.Project, "project", "p", "", "only cases of this project")
	f.StringArrayVarP(&o.Tags, "tag", "t", nil, "only cases with this tag; repeat for cases that have all of them")
	f.StringVarP(&o.Difficulty, "difficulty", "d", "", "only cases of this difficulty: basic, intermediate, advanced")
	o.skillFlags(f)
	f.StringArrayVar(&o.IDs, "id", nil, "only cases whose id matches this, * and ? standing for any characters; repeat for more")
}

func (o *selectOptions) skillFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Skills, "skills", "", "folder of the skills that cases are about (default: skills in mettle.yaml, and the built-in ones for built-in suites)")
	f.StringVar(&o.Language, "language", "", "skills that suites for every skill look at: js, python, both (default js)")
}

func (o *selectOptions) selection() suite.Selection {
	return suite.Selection{Project: o.Project, Tags: o.Tags, Difficulty: o.Difficulty, IDs: o.IDs}
}

// runOptions is how a run is asked for. It is kept in the run's header, so
// that resume can ask for the same.
type runOptions struct {
	selectOptions
	modelOptions
	Target      string        `json:"target,omitempty"`
	URL         string        `json:"url,omitempty"`
	Command     string        `json:"command,omitempty"`
	ToolPrefix  string        `json:"tool_prefix,omitempty"`
	Headers     []string      `json:"headers,omitempty"` // as written: secrets stay ${NAME}
	Concurrency int           `json:"concurrency,omitempty"`
	Trials      int           `json:"trials,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"`
	FailFast    bool          `json:"fail_fast,omitempty"`
	MaxErrors   int           `json:"max_errors,omitempty"`
	Gates       []string      `json:"gates,omitempty"`
	Baseline    string        `json:"baseline,omitempty"`
	Withheld    []string      `json:"withheld,omitempty"` // flags left out because they may hold secrets
	Dir         string        `json:"dir,omitempty"`      // where suites are meant from

	try     time.Duration // limit of one try of a model, 0 for the default
	output  string
	reports []string
	runs    string
	verbose bool
	dryRun  bool
}

const (
	defaultConcurrency = 8
	defaultTimeout     = 2 * time.Minute
	defaultMaxErrors   = 100
)

func (o *runOptions) flags(f *pflag.FlagSet) {
	o.selectOptions.flags(f)
	o.modelOptions.flags(f)
	f.StringVar(&o.Target, "target", "", "name of a target in mettle.yaml that all cases are put to")
	f.StringVar(&o.URL, "url", "", "address of the MCP server that all cases are put to (also MCP_URL)")
	f.StringVar(&o.Command, "command", "", "command line of a stdio MCP server that all cases are put to")
	f.StringVar(&o.ToolPrefix, "tool-prefix", "", "put before each case's tool name, such as crypto_ (default: found on the server)")
	f.StringArrayVar(&o.Headers, "header", nil, "HTTP header for --url, as 'Name: value'; take secrets from the environment with ${NAME}")
	f.IntVar(&o.Concurrency, "concurrency", 0, fmt.Sprintf("cases at a time (default %d)", defaultConcurrency))
	f.IntVar(&o.Trials, "trials", 0, "times each case is put (default 1)")
	f.DurationVar(&o.Timeout, "timeout", 0, fmt.Sprintf("limit of one answer with its retries, and of its checks after it (default %s); also of one try of a model (default 5m)", defaultTimeout))
	f.BoolVar(&o.FailFast, "fail-fast", false, "start nothing new after the first failed case")
	f.IntVar(&o.MaxErrors, "max-errors", 0, fmt.Sprintf("stop after this many results in a row without an answer (default %d)", defaultMaxErrors))
	f.StringArrayVar(&o.Gates, "gate", nil, "condition on the whole run, such as 'pass_rate >= 90%'; repeat for more")
	f.StringVar(&o.Baseline, "baseline", "", "hold the run against this one: a stored run, or builtin for the same cases on the built-in server")
	f.StringVarP(&o.output, "output", "o", "", "JSON report's path, - for standard output (default reports/eval-<project|all>-<millis>.json)")
	f.StringArrayVar(&o.reports, "report", nil, "further report as format=path: github, json, jsonl, junit, markdown, terminal; - for standard output")
	f.StringVar(&o.runs, "runs", "", "folder runs are kept in (default .mettle/runs)")
	f.BoolVar(&o.verbose, "verbose", false, "show the reasons of failed checks as they come")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be asked and about what it would cost, and ask nothing")
}

// wherePut are the flags that say where cases are put. One of them on the
// command line leaves the environment's word on all of them unheard.
var wherePut = []string{"target", "url", "command"}

// fromEnvironment sets flags that were not given from METTLE_<NAME>, and the
// server's address from MCP_URL as the last resort.
func fromEnvironment(w *World, f *pflag.FlagSet, only []string) error {
	var errs []error
	set := func(flag *pflag.Flag, name string) {
		v := w.Getenv(name)
		if flag.Changed || v == "" {
			return
		}
		if err := f.Set(flag.Name, v); err != nil {
			errs = append(errs, usagef("environment variable %s: %w", name, err))
		}
	}
	chosen := func() bool {
		return slices.ContainsFunc(wherePut, func(name string) bool { fl := f.Lookup(name); return fl != nil && fl.Changed })
	}
	given := chosen()
	f.VisitAll(func(flag *pflag.Flag) {
		skip := flag.Name == "help" || (given && slices.Contains(wherePut, flag.Name)) || (len(only) > 0 && !slices.Contains(only, flag.Name))
		if !skip {
			set(flag, "METTLE_"+strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_")))
		}
	})
	if flag := f.Lookup("url"); flag != nil && !chosen() && len(only) == 0 {
		set(flag, "MCP_URL")
	}
	return errors.Join(errs...)
}

// notEmpty refuses flags that were given with nothing in them, which is what a
// variable that is not set looks like.
func notEmpty(f *pflag.FlagSet) error {
	var err error
	f.VisitAll(func(flag *pflag.Flag) {
		v := flag.Value.String()
		switch t := flag.Value.Type(); {
		case !flag.Changed || err != nil:
		case t == "string" && v == "":
			err = usagef("--%s is empty", flag.Name)
		case (t == "int" && v == "0") || (t == "duration" && v == "0s"):
			err = usagef("--%s is 0, want more", flag.Name)
		}
	})
	return err
}

// settle fills what neither flags nor environment said from the config, then
// from the defaults.
func (o *runOptions) settle(cfg *suite.Config) {
	if o.Concurrency == 0 {
		o.Concurrency = cfg.Concurrency
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.Trials == 0 {
		o.Trials = max(1, cfg.Trials)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Duration(cfg.Timeouts.Case)
	}
	o.try = o.Timeout
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxErrors == 0 {
		o.MaxErrors = cfg.MaxErrors
	}
	if o.MaxErrors == 0 {
		o.MaxErrors = defaultMaxErrors
	}
	if o.output == "" {
		o.output = cfg.Output.JSON
	}
	if o.reports == nil {
		o.reports = cfg.Output.Report
	}
}

func (o *runOptions) check() error {
	if err := o.modelOptions.check(); err != nil {
		return err
	}
	switch {
	case o.Concurrency < 0 || o.Concurrency > 4096:
		return usagef("--concurrency is %d, want 1 to 4096", o.Concurrency)
	case o.Trials < 0 || o.Trials > 10000:
		return usagef("--trials is %d, want 1 to 10000", o.Trials)
	case o.Timeout < 0:
		return usagef("--timeout is %s, want more than 0", o.Timeout)
	case o.MaxErrors < 0:
		return usagef("--max-errors is %d, want 1 or more", o.MaxErrors)
	}
	n := 0
	for _, s := range []string{o.Target, o.URL, o.Command} {
		if s != "" {
			n++
		}
	}
	if n > 1 {
		return usagef("--target, --url and --command exclude each other")
	}
	return nil
}

// parsedGates are the gates of the flags.
func (o *runOptions) parsedGates() ([]eval.Gate, error) {
	var out []eval.Gate
	for _, text := range o.Gates {
		g, err := eval.ParseGate(text)
		if err != nil {
			return nil, usagef("--gate: %w", err)
		}
		out = append(out, g)
	}
	return out, nil
}

// loadConfig reads the config a command works with; without one, an empty one
// whose folder is the working directory.
func loadConfig(w *World, path string) (*suite.Config, error) {
	if path == "" {
		found, err := suite.FindConfig(w.Dir)
		if err != nil {
			return nil, err
		}
		if found == "" {
			return &suite.Config{Dir: w.Dir}, nil
		}
		path = found
	}
	b, err := os.ReadFile(w.abs(path))
	if err != nil {
		return nil, usagef("read the configuration: %w", err)
	}
	cfg, err := suite.LoadConfig(suite.File{Path: w.shown(path), Data: b})
	if err != nil {
		return nil, err
	}
	cfg.Dir = filepath.Dir(w.abs(path))
	return cfg, nil
}

// runsDir is the folder runs are kept in.
func runsDir(w *World, flag string, cfg *suite.Config) string {
	switch {
	case flag != "":
		return w.abs(flag)
	case cfg.Output.Runs != "":
		return within(cfg.Dir, cfg.Output.Runs)
	}
	return filepath.Join(cfg.Dir, ".mettle", "runs")
}

// abs makes a path of the command line absolute.
func (w *World) abs(path string) string { return within(w.Dir, path) }

// within is a path as it is meant from a folder.
func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// shown is a path as a person wants to see it: short, from where they stand.
func (w *World) shown(path string) string {
	rel, err := filepath.Rel(w.Dir, w.abs(path))
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}

// optionsOf reads back how a stored run was asked for.
func optionsOf(run *eval.Run) (*runOptions, error) {
	o := new(runOptions)
	if err := json.Unmarshal(run.Options, o); err != nil {
		return nil, fmt.Errorf("read how run %s was asked for: %w", run.ID, err)
	}
	return o, nil
}

// withEnvironment lets the environment fill flags, those named or else all,
// before a command runs.
func withEnvironment(w *World, cmd *cobra.Command, run func(cmd *cobra.Command, args []string) error, only ...string) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := notEmpty(cmd.Flags()); err != nil {
			return err
		}
		if err := fromEnvironment(w, cmd.Flags(), only); err != nil {
			return err
		}
		return run(cmd, args)
	}
}
