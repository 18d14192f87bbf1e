package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
)

// gate is a condition as a file states it.
type gate struct {
	text
	parsed eval.Gate
}

// DecodeNode reads and parses the condition.
func (g *gate) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	before := len(d.Problems)
	if g.decode(d, n, "the gate"); len(d.Problems) > before {
		return
	}
	parsed, err := eval.ParseGate(g.Value)
	if err != nil {
		p := kind.Problem{Line: n.Line, Col: n.Column, Message: err.Error()}
		if !slices.Contains(eval.GateMetrics, parsed.Metric) {
			p.Near = kind.Near(parsed.Metric, eval.GateMetrics)
		}
		d.Add(p)
		return
	}
	g.parsed = parsed
	g.parsed.Pos = g.pos(d.File)
}

// JSONSchema describes a condition as far as a pattern can.
func (gate) JSONSchema() kind.Schema {
	return kind.Schema{
		"type":     "string",
		"pattern":  `^\s*(` + strings.Join(eval.GateMetrics, "|") + `)\s*(\{[^}]*\})?\s*(>=|<=|==|!=|>|<)\s*[0-9.]+\s*(%|ms|s)?\s*$`,
		"examples": []string{"pass_rate{difficulty=basic} >= 90%", "failed == 0", "latency_p95 <= 2s"},
	}
}

// gates are the suite's conditions. One that looks at nothing could never
// fail, so a label that no test has is a problem.
func (l *loader) gates(list []gate) (gates []eval.Gate) {
	for _, g := range first(list) {
		if g.parsed.Metric == "" {
			continue // its problem is kept
		}
		g.parsed.Suite = l.suite.Name
		l.vet(g.parsed)
		gates = append(gates, g.parsed)
	}
	return gates
}

func (l *loader) vet(g eval.Gate) {
	if l.file.Tests.node != nil && len(l.suite.Cases) < l.d.Len(l.file.Tests.node) {
		return // the label may stand in a test that could not be read
	}
	for _, label := range g.Labels {
		if label.Name == "target" {
			continue // the command line can choose another
		}
		if slices.ContainsFunc(l.suite.Cases, func(c *eval.Case) bool { return has(c, label) }) {
			continue
		}
		there := values(l.suite.Cases, label.Name)
		p := kind.Problem{Line: g.Pos.Line, Col: g.Pos.Col, Near: kind.Near(label.Value, there)}
		p.Message = fmt.Sprintf("no test of the suite has %s %q, so the gate could never fail", label.Name, label.Value)
		if p.Near == "" && len(there) > 0 && len(there) <= 12 {
			p.Message += ": there is " + strings.Join(there, ", ")
		}
		l.d.Add(p)
		return
	}
	if !slices.ContainsFunc(l.suite.Cases, func(c *eval.Case) bool { return hasAll(c, g.Labels) }) {
		l.problemAt(g.Pos, "no test of the suite has all that the gate is narrowed to, so it could never fail")
	}
}

// CheckGates finds gates of a whole run that look at nothing in the suites, as
// loading does for a suite's own: such a gate could never fail.
func CheckGates(gates []eval.Gate, suites []*eval.Suite) error {
	var cases []*eval.Case
	for _, s := range suites {
		cases = append(cases, s.Cases...)
	}
	for _, g := range gates {
		for _, label := range g.Labels {
			there := values(cases, label.Name)
			if label.Name == "target" || slices.Contains(there, label.Value) {
				continue
			}
			text := fmt.Sprintf("the gate %q could never fail: no case has %s %q", g.Text, label.Name, label.Value)
			if near := kind.Near(label.Value, there); near != "" {
				text += fmt.Sprintf(" (did you mean %q?)", near)
			}
			return errors.New(text)
		}
		if !slices.ContainsFunc(cases, func(c *eval.Case) bool { return hasAll(c, g.Labels) }) {
			return fmt.Errorf("the gate %q could never fail: no case has all that it is narrowed to", g.Text)
		}
	}
	return nil
}

// SelectGates splits gates into those that look at one of the cases, and those
// whose cases a selection has left out.
func SelectGates(gates []eval.Gate, cases []*eval.Case) (kept, out []eval.Gate) {
	for _, g := range gates {
		if slices.ContainsFunc(cases, func(c *eval.Case) bool { return hasAll(c, g.Labels) }) {
			kept = append(kept, g)
		} else {
			out = append(out, g)
		}
	}
	return kept, out
}

// CheckGateTargets finds gates that are narrowed to a target that no case goes
// to: they could measure nothing. Cases have the names of their targets by now.
func CheckGateTargets(gates []eval.Gate, cases []*eval.Case) error {
	var used []string
	for _, c := range cases {
		if !slices.Contains(used, c.Target) {
			used = append(used, c.Target)
		}
	}
	slices.Sort(used)
	for _, g := range gates {
		for _, label := range g.Labels {
			if label.Name != "target" || slices.Contains(used, label.Value) {
				continue
			}
			text := fmt.Sprintf("the gate %q could never fail: no case goes to the target %q", g.Text, label.Value)
			if near := kind.Near(label.Value, used); near != "" {
				return fmt.Errorf("%s (did you mean %q?)", text, near)
			}
			return fmt.Errorf("%s; the targets of this run: %s", text, strings.Join(used, ", "))
		}
	}
	return nil
}

// has tells whether a gate's label applies to a case.
func has(c *eval.Case, l eval.Label) bool {
	return slices.Contains(labelValues(c, l.Name), l.Value)
}

// hasAll tells whether all labels do, key and kind to one and the same check.
func hasAll(c *eval.Case, labels []eval.Label) bool {
	var onCheck []eval.Label
	for _, l := range labels {
		switch l.Name {
		case "target":
		case "key", "kind":
			onCheck = append(onCheck, l)
		default:
			if !has(c, l) {
				return false
			}
		}
	}
	return slices.ContainsFunc(grade.Flat(c.Checks), func(check *eval.Check) bool {
		for _, l := range onCheck {
			if (l.Name == "key" && check.Key != l.Value) || (l.Name == "kind" && check.Kind != l.Value) {
				return false
			}
		}
		return true
	})
}

// labelValues are what a property is on a case: a gate's label, or the id.
func labelValues(c *eval.Case, name string) (out []string) {
	switch name {
	case "id":
		return []string{c.ID}
	case "difficulty":
		return []string{string(c.Difficulty)}
	case "tool":
		return []string{c.Tool}
	case "project":
		return []string{c.Project}
	case "suite":
		return []string{c.Suite}
	case "tag":
		return c.Tags
	case "key":
		for _, check := range grade.Flat(c.Checks) {
			out = append(out, check.Key)
		}
	case "kind":
		for _, check := range grade.Flat(c.Checks) {
			out = append(out, check.Kind)
		}
	}
	return out
}

// values lists what a label is on any of the cases.
func values(cases []*eval.Case, name string) []string {
	seen := map[string]bool{}
	for _, c := range cases {
		for _, v := range labelValues(c, name) {
			if v != "" {
				seen[v] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
