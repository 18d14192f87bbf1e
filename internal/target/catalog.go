// Package target holds the kinds of targets: what a case can be put to. A
// target's struct is its configuration; [Kinds] lists them all.
package target

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Kinds lists every kind of target, by name.
var Kinds = kind.Catalog[eval.Target]{
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
func Decode(d *kind.Decoder, n *yaml.Node) eval.Target {
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

// Expander is implemented by targets whose settings may refer to the
// environment as ${NAME}. Expand is called once, before Prepare, and only on
// targets a run uses: a variable nobody needs may be missing.
type Expander interface {
	Expand(env Lookup) error
}

// Expanded fills in ${NAME} in one setting.
func Expanded(s string, env Lookup) (string, error) {
	e := &expander{env: env}
	out := e.text(s)
	return out, e.err()
}

// expander replaces ${NAME} in settings and remembers which were missing.
type expander struct {
	env     Lookup
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
