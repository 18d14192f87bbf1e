package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/target"
)

// ConfigName is what the configuration file is called.
const ConfigName = "mettle.yaml"

// BuiltinTarget is the name of the target that needs no settings: the
// documentation server that the binary carries.
const BuiltinTarget = "builtin"

// Config is what mettle.yaml says. The zero value is a file that says nothing.
type Config struct {
	File        string
	Dir         string // the file's folder, which its paths are meant from; set by the caller
	Target      string // the target of cases that name none
	Targets     map[string]target.Target
	Suites      []string // files, folders and globs
	Concurrency int
	Trials      int
	MaxErrors   int
	Timeouts    Timeouts
	Gates       []eval.Gate // on the whole run
	Output      Output
	Skills      string // folder of skills, from Dir
	Answer      string // the model that answers, as provider:model
	Judge       string // the model that judges
	Endpoints   map[string]Endpoint
	Limits      map[string]Limit // by provider, or endpoint of mettle.yaml
	Prices      llm.Prices       // by model, as provider:model
	Prompts     string           // folder of prompts that go before our own, from Dir
	Budget      string
	Checkers    []string // programs that check code, by name
	Lint        Lint
}

// Timeouts bounds a case, and the steps of a conversation with a target that
// does not bound them itself.
type Timeouts struct {
	Case kind.Duration `yaml:"case" jsonschema:"of one answer with its retries, and of its checks after it; also of one try of a model, there 5m if not given" check:"default=2m"`
	target.Timeouts
}

// Output says where results go.
type Output struct {
	Runs   string   // folder
	JSON   string   // path of the JSON report
	Report []string // further reports, as format=path
}

// configFile is mettle.yaml as people write it.
type configFile struct {
	Schema      string     `yaml:"$schema" jsonschema:"the schema of this file, for editors; not read"`
	Target      targetName `yaml:"target" jsonschema:"the name of the target that tests are put to which name none"`
	Targets     targetMap  `yaml:"targets" jsonschema:"what tests can be put to, by name"`
	Suites      []glob     `yaml:"suites" jsonschema:"the suites of a run that names none: files, folders and globs, from this file's folder"`
	Concurrency int        `yaml:"concurrency" jsonschema:"tests at a time" check:"min=1,max=4096,default=8"`
	Trials      int        `yaml:"trials" jsonschema:"how often each test is put" check:"min=1,max=10000,default=1"`
	MaxErrors   int        `yaml:"maxErrors" jsonschema:"stop when this many results in a row have no answer, or could not be judged" check:"min=1,default=100"`
	Timeouts    Timeouts   `yaml:"timeouts" jsonschema:"limits of one test, and of the steps of a conversation with a target that has none of its own"`
	Gates       []gate     `yaml:"gates" jsonschema:"conditions on the results of the whole run, such as pass_rate >= 90%" check:"max=1000"`
	Output      outputFile `yaml:"output" jsonschema:"where results go"`
	Skills      string     `yaml:"skills" jsonschema:"folder of the skills that tests are about, from this file's folder" check:"min=1"`
	Models      Models     `yaml:"models" jsonschema:"the models that answer and judge"`

	Endpoints endpointMap      `yaml:"endpoints" jsonschema:"servers that speak OpenAI's protocol, by the name that openai-compatible:model@name uses"`
	Limits    map[string]Limit `yaml:"limits" jsonschema:"bounds on calls, by provider (anthropic, openai, ollama) or by endpoint"`
	Prices    llm.Prices       `yaml:"prices" jsonschema:"prices that go before the ones mettle knows, by provider:model"`
	Prompts   string           `yaml:"prompts" jsonschema:"folder of prompts, from this file's folder; a file there goes before ours of the same name" check:"min=1"`
	Budget    budget           `yaml:"budget" jsonschema:"most that a run may spend, such as 5usd, 200k tokens or 30m"`
	Checkers  []checkerName    `yaml:"checkers" jsonschema:"programs on PATH that check the syntax of code instead of mettle's own parsers: python3, rustfmt, solc"`
	Lint      lintFile         `yaml:"lint" jsonschema:"what mettle lint looks for in skills"`
}

type outputFile struct {
	Runs   string      `yaml:"runs" jsonschema:"folder that runs are kept in, from this file's folder" check:"min=1,default=.mettle/runs"`
	JSON   string      `yaml:"json" jsonschema:"path of the JSON report" check:"min=1,default=reports/eval-<project|all>-<millis>.json"`
	Report []reportArg `yaml:"report" jsonschema:"further reports, as format=path"`
}

// LoadConfig reads mettle.yaml. The error is a [kind.Problems] that holds
// everything wrong with it.
func LoadConfig(f File) (*Config, error) {
	d, root := kind.Parse(f.Path, f.Data)
	if d.Empty() {
		return &Config{File: f.Path}, nil // as good as none
	}
	var c configFile
	if root != nil {
		given := d.Struct(root, "the configuration", &c)
		c.knownTarget(d)
		c.Lint.check(d)
		c.knownEndpoints(d)
		c.knownLimits(d, given["limits"].Value)
		c.soundPrices(d, given["prices"].Value)
	}
	if len(d.Problems) > 0 {
		return nil, d.Problems.Sort()
	}
	return c.config(f.Path), nil
}

func (c *configFile) config(path string) *Config {
	out := &Config{
		File: path, Target: c.Target.Value, Targets: c.Targets.byName,
		Concurrency: c.Concurrency, Trials: c.Trials, MaxErrors: c.MaxErrors, Timeouts: c.Timeouts,
		Output: Output{Runs: c.Output.Runs, JSON: c.Output.JSON},
		Skills: c.Skills, Answer: c.Models.Answer.Value, Judge: c.Models.Judge.Value,
		Endpoints: c.Endpoints.byName, Limits: c.Limits, Prices: c.Prices, Prompts: c.Prompts, Budget: c.Budget.Value,
		Lint: c.Lint.lint(),
	}
	for _, g := range c.Suites {
		out.Suites = append(out.Suites, g.Value)
	}
	for _, name := range c.Checkers {
		out.Checkers = append(out.Checkers, name.Value)
	}
	for _, g := range c.Gates {
		out.Gates = append(out.Gates, g.parsed)
	}
	for _, r := range c.Output.Report {
		out.Output.Report = append(out.Output.Report, r.Value)
	}
	return out
}

// knownTarget finds a default target that is not there.
func (c *configFile) knownTarget(d *kind.Decoder) {
	name := c.Target.Value
	if name == "" || name == BuiltinTarget || slices.Contains(c.Targets.names, name) {
		return
	}
	p := kind.Problem{Line: c.Target.line, Col: c.Target.col, Near: kind.Near(name, c.Targets.names)}
	p.Message = fmt.Sprintf("no target is named %q", name)
	if len(c.Targets.names) == 0 {
		p.Message += ": there is nothing under targets"
	}
	d.Add(p)
}

// targetMap holds targets by name.
type targetMap struct {
	byName map[string]target.Target
	names  []string // those with problems too
}

// DecodeNode reads every target.
func (t *targetMap) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	members, ok := d.Members(n, "targets")
	if !ok {
		return
	}
	t.byName = make(map[string]target.Target, len(members))
	for _, m := range members {
		name := m.Key.Value
		t.names = append(t.names, name)
		switch {
		case name == BuiltinTarget:
			d.Errorf(m.Key, "the name %q is taken by the documentation server that mettle carries", name)
		case !isName(name):
			d.Errorf(m.Key, "the target's name is %q, want letters, digits, dots, dashes and underscores", name)
		}
		if made := target.Decode(d, m.Value); made != nil {
			t.byName[name] = made
		}
	}
}

// namePattern says as JSON Schema what isName does.
const namePattern = `^[\p{L}\p{N}._-]{1,200}$`

func isName(s string) bool {
	strange := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N) && !strings.ContainsRune("._-", r)
	}
	return s != "" && utf8.RuneCountInString(s) <= 200 && !strings.ContainsFunc(s, strange)
}

// JSONSchema is that of a mapping of targets.
func (targetMap) JSONSchema() kind.Schema {
	return kind.Schema{
		"type": "object", "additionalProperties": kind.Schema{"$ref": "#/$defs/target"},
		"propertyNames": kind.Schema{"pattern": namePattern, "not": kind.Schema{"const": BuiltinTarget}},
	}
}

// targetName is the name of a target.
type targetName struct{ text }

// DecodeNode reads the name.
func (t *targetName) DecodeNode(d *kind.Decoder, n *yaml.Node) { t.decode(d, n, "target") }

// glob is a file, a folder, or a pattern for files.
type glob struct{ text }

// DecodeNode reads the pattern and makes sure that it is one.
func (g *glob) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	before := len(d.Problems)
	if g.decode(d, n, "the suite"); len(d.Problems) > before {
		return
	}
	if err := checkGlob(g.Value); err != nil {
		d.Errorf(n, "%v", err)
	}
}

// checkerName is the name of a program that checks code.
type checkerName struct{ text }

// DecodeNode reads the name and makes sure that there is such a program.
func (c *checkerName) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	before := len(d.Problems)
	if c.decode(d, n, "the checker"); len(d.Problems) > before {
		return
	}
	if names := code.CheckerNames(); !slices.Contains(names, c.Value) {
		d.Add(kind.Problem{
			Line: c.line, Col: c.col, Near: kind.Near(c.Value, names),
			Message: fmt.Sprintf("unknown checker %q, want one of %s", c.Value, strings.Join(names, ", ")),
		})
	}
}

// JSONSchema lists the names.
func (checkerName) JSONSchema() kind.Schema {
	return kind.Schema{"type": "string", "pattern": "^(" + strings.Join(code.CheckerNames(), "|") + ")$"}
}

// reportArg is a report format with the path to write it to.
type reportArg struct{ text }

// DecodeNode reads the text and makes sure that it has both parts. Which
// formats there are is not known here.
func (r *reportArg) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	before := len(d.Problems)
	if r.decode(d, n, "the report"); len(d.Problems) > before {
		return
	}
	if format, path, ok := strings.Cut(r.Value, "="); !ok || blank(format) || blank(path) {
		d.Errorf(n, "the report is %q, want format=path, such as junit=reports/junit.xml", r.Value)
	}
}

// JSONSchema asks for both parts.
func (reportArg) JSONSchema() kind.Schema {
	return kind.Schema{"type": "string", "pattern": `^\s*[^=\s][^=]*=\s*\S`}
}

// TargetNames lists the names that suites can use.
func (c *Config) TargetNames() []string {
	return append(slices.Sorted(maps.Keys(c.Targets)), BuiltinTarget)
}

// FindConfig looks for mettle.yaml in a folder and those above it. It gives ""
// when there is none.
func FindConfig(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", ConfigName, err)
	}
	for {
		path := filepath.Join(dir, ConfigName)
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("find %s: %w", ConfigName, err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}
