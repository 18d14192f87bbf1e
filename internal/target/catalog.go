// Package target holds the kinds of targets: what a case can be put to. A
// target's struct is its configuration; [Kinds] lists them all.
package target

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/tape"
	"github.com/mettle-eval/mettle/internal/process"
	"github.com/mettle-eval/mettle/internal/secret"
	"github.com/mettle-eval/mettle/internal/skill"
)

// Target is a kind of target with its settings. Nothing outside this package
// asks which kind it is. Targets that connect to something also implement
// [eval.Preparer], [eval.Describer] and io.Closer.
type Target interface {
	eval.Target
	// Needs tells what the target must be given by Use.
	Needs() Needs
	// CheckCase finds what is wrong with a case for this target. It is called
	// when suites are loaded, before Use.
	CheckCase(c *eval.Case) error
	// Use hands over what the target needs, and fills in ${NAME}. It is called
	// once, before Prepare and Estimate, and only on targets that a run uses: a
	// variable of another one may be missing. What is missing is told as
	// [eval.Missing]; any other error is a mistake in the settings.
	Use(s Supplies) error
	// Estimate tells about how many tokens one answer takes, none when no model
	// is asked. It needs Use, but no model.
	Estimate(c *eval.Case) (llm.Tokens, error)
}

// Needs is what a target must be given.
type Needs struct {
	Model     bool
	ModelName string // of its own model, as provider:model; empty for the run's
	Skills    bool
	Server    bool // an MCP server; the command line may name another one
}

// Supplies is what targets are given. A target takes what it needs of it.
type Supplies struct {
	Name        string           // of the target, as cases use it
	Env         Lookup           // for ${NAME} in settings; nil to leave them as they are
	Environ     []string         // of which a command gets what programs need to start
	Base        string           // folder that relative paths start from
	Version     string           // mettle's own, told to servers
	Connections int              // calls that will run side by side
	Timeouts    Timeouts         // where the settings have none
	ToolPrefix  string           // replaces that of the settings
	Skills      *skill.Library   // where skills are
	ModelName   string           // as provider:model
	Model       llm.Model        // with its tape around it; nil when nothing is asked
	Prompts     fs.FS            // prompts that replace our own; nil for none
	Secrets     *secret.Redactor // what must not be in answers; settings that came from the environment are added. nil for those of Environ
	Tape        *tape.Tape       // for the calls of servers; nil for none
}

// TypicalAnswer is the length that is expected of an answer, in tokens.
const TypicalAnswer = 900

// Kinds lists every kind of target, by name.
var Kinds = kind.Catalog[Target]{
	mcpKind,
	skillKind,
	skillFileKind,
}

// typed is what every target has beside its own settings.
type typed struct {
	Type string `yaml:"type" json:"type" jsonschema:"what kind of target this is" check:"required"`
}

// Decode reads one target: type chooses the kind, the rest are its settings.
// It gives nil when there were problems.
func Decode(d *kind.Decoder, n *yaml.Node) Target {
	before := len(d.Problems)
	name, node := typeOf(d, n)
	if node == nil {
		return nil
	}
	k, ok := Kinds.Find(name)
	if !ok {
		d.Unknown(node, "target type", name, Kinds.Names())
		return nil
	}
	t := k.New()
	members := d.Struct(n, "the "+name+" target", new(typed), t)
	if c, ok := t.(kind.Checker); ok && len(d.Problems) == before {
		if err := c.Check(); err != nil {
			at := n
			var fe *kind.FieldError
			if errors.As(err, &fe) && members[fe.Field].Value != nil {
				at = members[fe.Field].Value
			}
			d.Errorf(at, "%v", err)
		}
	}
	if len(d.Problems) > before {
		return nil
	}
	return t
}

func typeOf(d *kind.Decoder, n *yaml.Node) (string, *yaml.Node) {
	members, ok := d.Members(n, "the target")
	if !ok {
		return "", nil
	}
	for _, m := range members {
		if m.Key.Value == "type" {
			return m.Value.Value, m.Value
		}
	}
	d.Errorf(n, "the target has no type, want one of %s", strings.Join(Kinds.Names(), ", "))
	return "", nil
}

// Schema is the JSON Schema of a target of any kind.
func Schema() kind.Schema {
	var any []kind.Schema
	for _, k := range Kinds {
		s := kind.SchemaOf(new(typed), k.New())
		s["title"], s["description"] = k.Name, k.Doc
		s["properties"].(kind.Schema)["type"] = kind.Schema{"const": k.Name, "description": k.Doc}
		any = append(any, s)
	}
	return kind.Schema{"oneOf": any}
}

// Lookup gives the value of an environment variable.
type Lookup func(name string) (string, bool)

// Expanded fills in ${NAME} in one setting. What it is filled with is a secret.
func Expanded(s string, env Lookup, secrets *secret.Redactor) (string, error) {
	e := &expander{env: env, secrets: secrets}
	out := e.text(s)
	return out, e.err()
}

// expander replaces ${NAME} in settings and remembers which were missing.
type expander struct {
	env     Lookup
	secrets *secret.Redactor
	missing []string
}

func (e *expander) text(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			b.WriteString("${" + rest)
			return b.String()
		}
		v, ok := e.env(name)
		if !ok || v == "" {
			e.missing = append(e.missing, name)
		}
		if !process.Inherits(name) { // every program has those
			e.secrets.AddVariable(name, v)
		}
		b.WriteString(v)
		s = after
	}
}

func (e *expander) err() error {
	if len(e.missing) == 0 {
		return nil
	}
	m := &eval.Missing{}
	for _, name := range e.missing {
		m.What = append(m.What, fmt.Sprintf("the environment variable %s, which the settings refer to, is not set", name))
	}
	return m
}
