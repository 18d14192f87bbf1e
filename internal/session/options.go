package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/process"
	"github.com/mettle-eval/mettle/internal/secret"
	"github.com/mettle-eval/mettle/internal/suite"
)

// Select says which suites and which of their cases are meant.
type Select struct {
	Suites     []string `json:"suites,omitempty"`
	Config     string   `json:"config,omitempty"`
	Project    string   `json:"project,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Difficulty string   `json:"difficulty,omitempty"`
	IDs        []string `json:"ids,omitempty"`
	Skills     string   `json:"skills,omitempty"`
	Language   string   `json:"language,omitempty"`
}

func (o *Select) selection() suite.Selection {
	return suite.Selection{Project: o.Project, Tags: o.Tags, Difficulty: o.Difficulty, IDs: o.IDs}
}

// Models says which models a run asks, what may be spent on them, and where
// exchanges are kept.
type Models struct {
	Model  string `json:"model,omitempty"`
	Judge  string `json:"judge,omitempty"`
	Budget string `json:"budget,omitempty"`
	Record string `json:"record,omitempty"`
	Replay string `json:"replay,omitempty"`
	Cache  string `json:"cache,omitempty"`
}

// Check finds what cannot be meant.
func (o *Models) Check() error {
	n := 0
	for _, s := range []string{o.Record, o.Replay, o.Cache} {
		if s != "" {
			n++
		}
	}
	if n > 1 {
		return usagef("--record, --replay and --cache exclude each other")
	}
	for flag, name := range map[string]string{"model": o.Model, "judge": o.Judge} {
		if name == "" {
			continue
		}
		if _, err := llm.ParseSpec(name); err != nil {
			return usagef("--%s: %w", flag, err)
		}
	}
	return nil
}

// settle fills in from the config what the options leave open.
func (o *Models) settle(cfg *suite.Config) {
	o.Model = cmp.Or(o.Model, cfg.Answer)
	o.Judge = cmp.Or(o.Judge, cfg.Judge)
	o.Budget = cmp.Or(o.Budget, cfg.Budget)
}

// judgedBy takes the judge, the budget and the folders that a rescore is given.
// Folders are relative to where the person is now.
func (o *Models) judgedBy(given Models, w *World) {
	o.Judge = cmp.Or(given.Judge, o.Judge)
	if given.Replay != "" {
		o.Judge = given.Judge // the recording knows who was asked
	}
	o.Budget = given.Budget
	o.Record, o.Replay, o.Cache = "", "", ""
	for from, to := range map[*string]*string{&given.Record: &o.Record, &given.Replay: &o.Replay, &given.Cache: &o.Cache} {
		if *from != "" {
			*to = w.Abs(*from)
		}
	}
}

// Options is how a run is asked for. It is kept in the run's header, so that
// [Resume] can ask for the same.
type Options struct {
	Select
	Models
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
	Dir         string        `json:"dir,omitempty"`      // what suites and other paths are relative to

	Runs   string `json:"-"` // folder of runs, "" for the configured one
	DryRun bool   `json:"-"` // estimate, and ask nothing

	try time.Duration // limit of one try of a model, 0 for the default
}

// Defaults of [Options].
const (
	DefaultConcurrency = 8
	DefaultTimeout     = 2 * time.Minute
	DefaultMaxErrors   = 100
)

// Check finds what cannot be meant, without looking at any file.
func (o *Options) Check() error {
	if err := o.Models.Check(); err != nil {
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

// settle fills in from the config what the options leave open, then from the
// defaults.
func (o *Options) settle(cfg *suite.Config) {
	o.Concurrency = cmp.Or(o.Concurrency, cfg.Concurrency, DefaultConcurrency)
	o.Trials = cmp.Or(o.Trials, cfg.Trials, 1)
	o.try = cmp.Or(o.Timeout, time.Duration(cfg.Timeouts.Case))
	o.Timeout = cmp.Or(o.try, DefaultTimeout)
	o.MaxErrors = cmp.Or(o.MaxErrors, cfg.MaxErrors, DefaultMaxErrors)
}

// elsewhere tells whether all cases go to one server, whatever they say.
func (o *Options) elsewhere() bool { return o.URL != "" || o.Command != "" || o.Target != "" }

// gates are the gates of the options.
func (o *Options) gates() ([]eval.Gate, error) {
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

// stored is what the run's header keeps of the options. What may hold a secret
// is left out and named, so that a resumed run asks for it.
func (o *Options) stored() json.RawMessage {
	kept := *o
	kept.Withheld = nil
	if url, secret := secret.URL(o.URL); secret {
		kept.URL, kept.Withheld = url, append(kept.Withheld, "url")
	}
	if words, err := process.Split(o.Command); err == nil && slices.ContainsFunc(words, secretWord) {
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

// secretWord guesses whether a word of a command holds a secret. A reference
// to the environment does not.
func secretWord(word string) bool { return !strings.Contains(word, "${") && secret.Word(word) }

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

// optionsOf reads back how a stored run was asked for.
func optionsOf(run *eval.Run) (*Options, error) {
	o := new(Options)
	if err := json.Unmarshal(run.Options, o); err != nil {
		return nil, fmt.Errorf("read the options of run %s: %w", run.ID, err)
	}
	return o, nil
}
