package grade

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	if names := Kinds.Names(); !slices.IsSorted(names) || len(slices.Compact(names)) != len(Kinds) {
		t.Errorf("the kinds are not in order, or one stands twice: %v", Kinds.Names())
	}
	for _, k := range Kinds {
		if !strings.HasSuffix(k.Doc, ".") || strings.Contains(k.Doc, "\n") {
			t.Errorf("%s: Doc is not one sentence: %q", k.Name, k.Doc)
		}
		if k.Explain == "" || k.Example == "" {
			t.Errorf("%s: nothing explained, or no example", k.Name)
		}
		if k.New() == k.New() && len(kind.Fields(k.New())) > 0 {
			t.Errorf("%s: New gives the same grader twice", k.Name)
		}
		for _, f := range kind.Fields(k.New()) {
			if f.Doc == "" {
				t.Errorf("%s: field %s is not described", k.Name, f.Name)
			}
			if slices.ContainsFunc(CommonFields(), func(c kind.Field) bool { return c.Name == f.Name }) {
				t.Errorf("%s: field %s is a field of every check", k.Name, f.Name)
			}
		}
		for _, c := range exampleChecks(t, k) {
			if c.Kind != k.Name {
				t.Errorf("%s: its example is of kind %s", k.Name, c.Kind)
			}
		}
	}
}

// exampleChecks decodes a kind's example: a list of checks as a suite has it.
func exampleChecks(t *testing.T, k kind.Kind[eval.Grader]) []*eval.Check {
	t.Helper()
	d, n := kind.Parse(k.Name+".yaml", []byte(k.Example))
	if n == nil || n.Kind != yaml.SequenceNode {
		t.Fatalf("%s: the example is not a list: %v", k.Name, d.Problems)
	}
	var out []*eval.Check
	for _, item := range n.Content {
		c := DecodeCheck(d, item)
		if c == nil {
			t.Fatalf("%s: the example does not load: %v", k.Name, d.Problems)
		}
		out = append(out, c)
	}
	return out
}

// loadable gives every check of the test data that loads, by file and name,
// and its YAML.
func loadable(t *testing.T) (checks map[string]*eval.Check, sources map[string][]byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	checks, sources = map[string]*eval.Check{}, map[string][]byte{}
	for _, file := range files {
		_, examples := readExamples(t, file)
		for _, e := range examples {
			if _, c := e.decode(); c != nil {
				name := filepath.Base(file) + ": " + e.name
				checks[name], sources[name] = c, e.files["check"]
			}
		}
	}
	return checks, sources
}

// TestRulesLoadAgain: the rule that a stored run has for a check is a check.
func TestRulesLoadAgain(t *testing.T) {
	t.Parallel()
	checks, _ := loadable(t)
	for name, c := range checks {
		rule := c.Rule()
		d, n := kind.Parse("testdata/rule.yaml", rule)
		if n == nil {
			t.Errorf("%s: rule %s: %v", name, rule, d.Problems)
			continue
		}
		again := DecodeCheck(d, n)
		if again == nil {
			t.Errorf("%s: rule %s: %v", name, rule, d.Problems)
			continue
		}
		if diff := cmp.Diff(string(rule), string(again.Rule())); diff != "" {
			t.Errorf("%s (-first +again):\n%s", name, diff)
		}
	}
}

// TestCheckSchema: the schema that editors use accepts every check that loads.
func TestCheckSchema(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(map[string]any{"$ref": "#/$defs/check", "$defs": map[string]any{"check": CheckSchema()}})
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	checks, sources := loadable(t)
	for name := range checks {
		if strings.Contains(name, "empty-optional") || strings.Contains(name, "aliases") || strings.Contains(name, "merge-key") {
			continue // YAML's own, or kinder than the schema
		}
		var v any
		if err := yaml.Unmarshal(sources[name], &v); err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var instance any
		if err := json.Unmarshal(asJSON, &instance); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(instance); err != nil {
			t.Errorf("%s: %s: %v", name, asJSON, err)
		}
	}
	for _, bad := range []string{
		`{"value": "a"}`, `{"type": "contain", "value": "a"}`, `{"type": "contains"}`, `{"type": "contains", "value": 3}`,
		`{"type": "contains", "value": "a", "severity": "bad"}`, `{"type": "contains", "value": "a", "chars": 3}`,
		`{"type": "min_length", "chars": 0}`, `{"type": "all", "checks": [{"type": "contains"}]}`, `{"type": "all", "checks": []}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(bad), &v); err != nil {
			t.Fatal(err)
		}
		if resolved.Validate(v) == nil {
			t.Errorf("the schema accepts %s", bad)
		}
	}
}

// FuzzDecodeCheck: any text is a check or a list of problems, and a check can
// be graded.
func FuzzDecodeCheck(f *testing.F) {
	for _, k := range Kinds {
		f.Add([]byte(strings.TrimPrefix(strings.ReplaceAll(k.Example, "\n  ", "\n"), "- ")))
	}
	f.Add([]byte("&a {type: all, checks: [*a]}"))
	f.Add([]byte(`{type: json_schema, schema: {$ref: "#"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, n := kind.Parse("testdata/check.yaml", data)
		if n == nil {
			return
		}
		c := DecodeCheck(d, n)
		if (c == nil) != (len(d.Problems) > 0) {
			t.Fatalf("check %v, problems %v", c, d.Problems)
		}
		if c == nil || Mentions(c, "exec", "matches_regex", "is_error", "json_path", "meta") {
			return // no programs, and nothing that may take its second
		}
		s := c.Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: "```json\n{\"a\": [1]}\n```\nA proof [1]."}, nil))
		if !slices.Contains([]eval.Status{eval.Pass, eval.Fail, eval.Unscored, eval.Skip}, s.Status) {
			t.Fatalf("status %q", s.Status)
		}
		if strings.Contains(s.Reason, "grader broke") {
			t.Fatal(s.Reason)
		}
	})
}
