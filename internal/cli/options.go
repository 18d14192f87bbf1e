package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mettle-eval/mettle/internal/session"
)

// selectFlags are those of every command that looks at suites.
func selectFlags(f *pflag.FlagSet, o *session.Select) {
	f.StringVar(&o.Config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.StringVarP(&o.Project, "project", "p", "", "only cases of this project")
	f.StringArrayVarP(&o.Tags, "tag", "t", nil, "only cases with this tag; repeat for cases that have all of them")
	f.StringVarP(&o.Difficulty, "difficulty", "d", "", "only cases of this difficulty: basic, intermediate, advanced")
	skillFlags(f, o)
	f.StringArrayVar(&o.IDs, "id", nil, "only cases whose id matches this, with * and ? for any characters; repeat for more")
}

func skillFlags(f *pflag.FlagSet, o *session.Select) {
	f.StringVar(&o.Skills, "skills", "", "folder of the skills that cases are about (default: skills in mettle.yaml, and the built-in ones for built-in suites)")
	f.StringVar(&o.Language, "language", "", "skills that suites for every skill look at: js, python, both (default js)")
}

const defaultCache = ".mettle/cache"

// judgeFlags are those of commands that judge.
func judgeFlags(f *pflag.FlagSet, o *session.Models) {
	f.StringVar(&o.Judge, "judge", "", "model that judges answers, as provider:model (default: no judge)")
	f.StringVar(&o.Budget, "budget", "", "most the run may spend, such as 5usd, '200k tokens' or 30m; several joined by a comma")
	f.StringVar(&o.Record, "record", "", "folder to keep every exchange with models and servers in")
	f.StringVar(&o.Replay, "replay", "", "folder of a recording to take every exchange from; nothing is asked")
	f.StringVar(&o.Cache, "cache", "", "folder of answers given before, where new ones are kept (default "+defaultCache+" when given without one)")
	f.Lookup("cache").NoOptDefVal = defaultCache
}

func (o *runOptions) flags(f *pflag.FlagSet) {
	selectFlags(f, &o.Select)
	f.StringVar(&o.Model, "model", "", "model that answers cases about skills, as provider:model: anthropic, openai, ollama, openai-compatible:model@endpoint")
	judgeFlags(f, &o.Models)
	f.StringVar(&o.Target, "target", "", "name of a target in mettle.yaml for all cases")
	f.StringVar(&o.URL, "url", "", "address of the MCP server for all cases (also MCP_URL)")
	f.StringVar(&o.Command, "command", "", "command line of the stdio MCP server for all cases")
	f.StringVar(&o.ToolPrefix, "tool-prefix", "", "prefix of the server's tool names, such as crypto_ (default: found on the server)")
	f.StringArrayVar(&o.Headers, "header", nil, "HTTP header for --url, as 'Name: value'; take secrets from the environment with ${NAME}")
	f.IntVar(&o.Concurrency, "concurrency", 0, fmt.Sprintf("cases at a time (default %d)", session.DefaultConcurrency))
	f.IntVar(&o.Trials, "trials", 0, "runs per case (default 1)")
	f.DurationVar(&o.Timeout, "timeout", 0, fmt.Sprintf("limit of one answer with its retries, and of its checks after it (default %s); also of one try of a model (default 5m)", session.DefaultTimeout))
	f.BoolVar(&o.FailFast, "fail-fast", false, "start nothing new after the first failed case")
	f.IntVar(&o.MaxErrors, "max-errors", 0, fmt.Sprintf("stop after this many results in a row without an answer or a verdict (default %d)", session.DefaultMaxErrors))
	f.StringArrayVar(&o.Gates, "gate", nil, "condition on the whole run, such as 'pass_rate >= 90%'; repeat for more")
	f.StringVar(&o.Baseline, "baseline", "", "run to compare with: a stored run, or builtin for the same cases on the built-in server")
	o.outputOptions.flags(f)
	f.StringVar(&o.Runs, "runs", "", "folder runs are kept in (default .mettle/runs)")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would be asked and about what it would cost, and ask nothing")
}

// serverFlags say which server cases go to. One of them on the command line
// turns off the environment variables of all of them.
var serverFlags = []string{"target", "url", "command"}

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
		return slices.ContainsFunc(serverFlags, func(name string) bool { fl := f.Lookup(name); return fl != nil && fl.Changed })
	}
	given := chosen()
	f.VisitAll(func(flag *pflag.Flag) {
		skip := flag.Name == "help" || (given && slices.Contains(serverFlags, flag.Name)) || (len(only) > 0 && !slices.Contains(only, flag.Name))
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
