package grade

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/theory/jsonpath/spec"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/kind"
)

// common are the fields every check has, whatever its kind.
type common struct {
	Type     string   `yaml:"type" jsonschema:"the kind of check" check:"required"`
	Key      string   `yaml:"key" jsonschema:"name of the check in reports and gates, unique in its case; the kind's name if not given" check:"max=80"`
	Weight   *float64 `yaml:"weight" jsonschema:"how much the check counts in the case's score" check:"min=0,default=1"`
	Severity string   `yaml:"severity" jsonschema:"whether a fail of the check fails the case, or is only shown" check:"enum=error|warn,default=error"`
	Not      bool     `yaml:"not" jsonschema:"turn a pass into a fail and a fail into a pass; unscored stays" check:"default=false"`
	Of       string   `yaml:"of" jsonschema:"the part of the response the check looks at: the answer, the answer and its source list, all the text with its metadata and sources, or the structured content as JSON" check:"enum=answer|answer+sources|raw|structured,default=answer"`
}

// CommonFields lists the fields every check has, for help and reference pages.
func CommonFields() []kind.Field { return kind.Fields(new(common)) }

// DecodeCheck reads one check: type chooses the kind, the rest are its
// parameters and the common ones. It gives nil when there were problems; the
// decoder has all of them.
func DecodeCheck(d *kind.Decoder, n *yaml.Node) *eval.Check {
	before := len(d.Problems)
	pos := eval.Pos{File: d.File, Line: n.Line, Col: n.Column}
	r := d.Resolve(n)
	if r == nil {
		return nil
	}
	// Whoever reads a list of checks may hold this node open, to find anchors
	// that contain themselves. Without its anchor it can be entered once more.
	inner := *r
	inner.Anchor, n = "", &inner
	k, ok := findKind(d, n)
	if !ok {
		return nil
	}
	var c common
	g := k.New()
	given := d.Struct(n, k.Name, &c, g)
	if len(d.Problems) > before {
		return nil
	}
	if p, ok := g.(placed); ok {
		p.place(filepath.Dir(d.File))
	}
	checkCommon(d, c, g, given)
	if checker, ok := g.(kind.Checker); ok {
		report(d, n, checker.Check())
	}
	if len(d.Problems) > before {
		return nil
	}
	return c.around(g, k, pos)
}

// placed is implemented by graders that need to know the folder of the suite
// they stand in.
type placed interface{ place(dir string) }

// findKind looks up a check's type. Other problems of the mapping are left to
// the caller, who reads it again.
func findKind(d *kind.Decoder, n *yaml.Node) (k kind.Kind[eval.Grader], ok bool) {
	before := len(d.Problems)
	members, isMapping := d.Members(n, "the check")
	if !isMapping {
		return k, false
	}
	i := slices.IndexFunc(members, func(m kind.Member) bool { return m.Key.Value == "type" })
	if i < 0 {
		d.Errorf(n, "the check has no type")
		return k, false
	}
	var name string
	d.Problems = d.Problems[:before]
	if d.Decode(members[i].Value, &name, "type"); len(d.Problems) > before {
		return k, false
	}
	if k, ok = Kinds.Find(name); !ok {
		d.Unknown(members[i].Value, "check type", name, Kinds.Names())
	}
	return k, ok
}

// around makes the check.
func (c common) around(g eval.Grader, k kind.Kind[eval.Grader], pos eval.Pos) *eval.Check {
	check := &eval.Check{
		Key: k.Name, Kind: k.Name, Weight: 1, Severity: eval.ErrorSeverity,
		Not: c.Not, Of: eval.Part(c.Of), Mode: k.Mode, Grader: g, Pos: pos,
	}
	if named, ok := g.(interface{ defaultKey() string }); ok {
		check.Key = named.defaultKey()
	}
	if c.Key != "" {
		check.Key = c.Key
	}
	if c.Weight != nil {
		check.Weight = *c.Weight
	}
	if c.Severity != "" {
		check.Severity = eval.Severity(c.Severity)
	}
	if check.Of == eval.AnswerPart {
		check.Of = "" // the default, so that rules say only what is special
	}
	if c.Not {
		check.Mode = cmp.Or(k.NotMode, "not "+k.Name)
	}
	return check
}

// keyMarks are the characters that have a meaning where keys are named: in
// gates, and in the keys of keywords and imports.
const keyMarks = ",={}:\"'"

func checkCommon(d *kind.Decoder, c common, g eval.Grader, given map[string]kind.Member) {
	if strings.ContainsAny(c.Key, keyMarks) || strings.TrimSpace(c.Key) != c.Key {
		d.Errorf(given["key"].Value, "key is %q: it may not hold any of %s, nor spaces at its ends", c.Key, keyMarks)
	}
	if _, blind := g.(interface{ readsNoText() }); blind && c.Of != "" && c.Of != string(eval.AnswerPart) {
		d.Errorf(given["of"].Value, "of has no meaning for %s, which does not look at the text", c.Type)
	}
}

// report keeps what a kind's own check found, at the fields at fault.
func report(d *kind.Decoder, n *yaml.Node, err error) {
	if err == nil {
		return
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			report(d, n, one)
		}
		return
	}
	var field *kind.FieldError
	if errors.As(err, &field) {
		n = locate(d, n, field.Field)
	}
	d.Errorf(n, "%s", err.Error())
}

// locate finds the node of a field such as checks[1].key, or the nearest one
// around it that is there.
func locate(d *kind.Decoder, n *yaml.Node, field string) *yaml.Node {
	steps, err := jsondoc.Parse(field)
	if err != nil {
		return n
	}
	for _, s := range steps {
		r := d.Resolve(n)
		name, isName := s.Selectors()[0].(spec.Name)
		index, isIndex := s.Selectors()[0].(spec.Index)
		switch {
		case r == nil:
			return n
		case isIndex && r.Kind == yaml.SequenceNode && int(index) < len(r.Content):
			n = r.Content[index]
			continue
		case !isName || r.Kind != yaml.MappingNode:
			return n
		}
		before := len(d.Problems)
		members, _ := d.Members(r, field)
		d.Problems = d.Problems[:before] // told already
		i := slices.IndexFunc(members, func(m kind.Member) bool { return m.Key.Value == string(name) })
		if i < 0 {
			return n
		}
		n = members[i].Value
	}
	return n
}

// Mentions tells whether a check, or one inside it, is of one of the kinds.
func Mentions(c *eval.Check, kinds ...string) bool {
	if c == nil {
		return false
	}
	if slices.Contains(kinds, c.Kind) {
		return true
	}
	composed, ok := c.Grader.(interface{ checks() []*eval.Check })
	return ok && slices.ContainsFunc(composed.checks(), func(inner *eval.Check) bool { return Mentions(inner, kinds...) })
}

// Flat lists checks with those inside them.
func Flat(checks []*eval.Check) []*eval.Check {
	out := slices.Clone(checks)
	for _, c := range checks {
		if composed, ok := c.Grader.(interface{ checks() []*eval.Check }); ok {
			out = append(out, Flat(composed.checks())...)
		}
	}
	return out
}

// CheckSchema is the JSON Schema of a check: one shape for each kind. The
// document it is put into holds it as #/$defs/check, which checks inside checks
// refer to.
func CheckSchema() kind.Schema {
	shapes := make([]any, len(Kinds))
	for i, k := range Kinds {
		s := kind.SchemaOf(new(common), k.New())
		s["title"] = k.Name
		s["description"] = k.Doc
		s["properties"].(kind.Schema)["type"] = kind.Schema{"const": k.Name, "description": k.Doc}
		shapes[i] = s
	}
	return kind.Schema{
		"type":       "object",
		"required":   []string{"type"},
		"properties": kind.Schema{"type": kind.Schema{"type": "string", "enum": Kinds.Names()}},
		"oneOf":      shapes,
	}
}
