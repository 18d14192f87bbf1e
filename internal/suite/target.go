package suite

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/target"
)

// targetRef is what a suite is put to: a target's name, or its settings.
type targetRef struct {
	name   string
	inline target.Target
}

// DecodeNode reads whichever it is.
func (t *targetRef) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		t.inline = target.Decode(d, n)
		return
	}
	before := len(d.Problems)
	if d.Decode(n, &t.name, "target"); len(d.Problems) == before && blank(t.name) {
		d.Errorf(n, "target is empty")
	}
}

// JSONSchema allows both.
func (targetRef) JSONSchema() kind.Schema {
	return kind.Schema{"oneOf": []kind.Schema{{"type": "string", "pattern": `\S`}, {"$ref": "#/$defs/target"}}}
}

// inlineName is what the cases of a suite with a target of its own call it. No
// target of mettle.yaml can have such a name, which holds a blank.
func inlineName(suite string) string { return suite + " (inline)" }

// targetOf is the target of a case as far as it is known: the suite's own, one
// of mettle.yaml, else a server. It is nil when the suite's own target, or the
// name, has a problem of its own.
func (l *loader) targetOf(c *eval.Case) target.Target {
	switch {
	case l.target != nil && c.Target == inlineName(l.suite.Name):
		return l.target
	case c.Target == "" && l.broken:
		return nil
	case l.named == nil:
		return new(target.MCP)
	}
	t := l.named(c.Target)
	if t == nil && (c.Target == "" || c.Target == BuiltinTarget) {
		return new(target.MCP)
	}
	return t
}

// checkCase finds what a case lacks for its target.
func (l *loader) checkCase(n *yaml.Node, c *eval.Case) {
	t := l.targetOf(c)
	if t == nil {
		return
	}
	err := t.CheckCase(c)
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			l.d.Errorf(n, "%v", one)
		}
	} else if err != nil {
		l.d.Errorf(n, "%v", err)
	}
}

// targetUse is a place where a suite names a target.
type targetUse struct {
	name    string
	problem kind.Problem // what it is when there is no such target
}

// use notes that a target is named. What there is to name stands in another
// file, so whether it is there is found later, by [Set.CheckTargets].
func (l *loader) use(n *yaml.Node, name string) {
	before := len(l.d.Problems)
	l.d.Errorf(n, "no target is named %q", name)
	if len(l.d.Problems) == before {
		return // too many problems already
	}
	l.uses = append(l.uses, targetUse{name, l.d.Problems[before]})
	l.d.Problems = l.d.Problems[:before]
}

// CheckTargets finds the places where suites name a target that is not among
// the known ones. The error is a [kind.Problems].
func (s *Set) CheckTargets(known []string) error {
	names := map[string]bool{}
	for _, name := range known {
		names[name] = true
	}
	var problems kind.Problems
	for _, u := range s.uses {
		if names[u.name] {
			continue
		}
		p := u.problem
		p.Near = kind.Near(u.name, known)
		switch {
		case p.Near != "":
		case len(known) == 0:
			p.Message += ": there is no mettle.yaml that names one"
		default:
			p.Message += ", want one of " + strings.Join(known, ", ")
		}
		problems = append(problems, p)
	}
	if len(problems) == 0 {
		return nil
	}
	return problems.Sort()
}
