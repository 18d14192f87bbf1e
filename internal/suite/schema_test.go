package suite

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mettle-eval/mettle/internal/kind"
)

// compile makes a validator of a schema. It holds the schema against the
// draft's own schema first.
func compile(t *testing.T, s kind.Schema) *jsonschema.Schema {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertVocabs()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// instance is a YAML file as an editor's validator sees it, if it is YAML.
func instance(f File) (any, bool) {
	d, root := kind.Parse(f.Path, f.Data)
	if root == nil {
		return nil, false
	}
	raw := d.JSON(root)
	if raw == nil || len(d.Problems) > 0 {
		return nil, false
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	return v, err == nil
}

// unseen are the files in which a schema cannot see what is wrong.
var unseen = map[string]string{
	"duplicates/a.yaml":        "an id stands twice",
	"lint-loop/mettle.yaml":    "profiles build on each other",
	"target-alone/mettle.yaml": "the target is not there",

	"named-targets-wrong/a.yaml": "what targets of mettle.yaml want of tests",
}

// The schema accepts what the loader accepts, and refuses what it refuses but
// for what a schema cannot see.
func TestSchemaAgreesWithLoader(t *testing.T) {
	suiteSchema, configSchema := compile(t, Schema()), compile(t, ConfigSchema())
	agree(t, "testdata/load/*.txtar", suiteSchema, func(f File) error {
		_, err := Load([]File{f})
		return err
	})
	agree(t, "testdata/config/*.txtar", configSchema, func(f File) error {
		_, err := LoadConfig(f)
		return err
	})
}

func agree(t *testing.T, glob string, schema *jsonschema.Schema, load func(File) error) {
	t.Helper()
	paths, err := filepath.Glob(glob)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files, _ := inputs(t, a)
		for _, f := range files {
			name := filepath.Base(path[:len(path)-len(filepath.Ext(path))]) + "/" + f.Path
			v, ok := instance(f)
			if !ok {
				continue
			}
			loaded, valid := load(f), schema.Validate(v)
			switch {
			case loaded == nil && valid != nil:
				t.Errorf("%s loads, but the schema says: %v", name, valid)
			case loaded != nil && valid == nil && unseen[name] == "":
				t.Errorf("%s: the schema finds nothing, but loading says: %v", name, loaded)
			}
		}
	}
}

// Files with one fault each: the loader finds all of them, the schema those
// that a schema can see.
func TestSingleFaults(t *testing.T) {
	schema := compile(t, Schema())
	const whole = `
name: whole
version: "1"
gates: [failed == 0]
defaults: {tags: [a], input: {q: 1}}
tests:
  - id: a
    tool: t
    difficulty: basic
    trials: 2
    input: {q: 2}
    expected:
      validations: [{type: min_length, chars: 5}]
      expectedKeywords: [x]
`
	for _, c := range []struct {
		name, old, new string
		seen           bool // by the schema
	}{
		{"nothing", "", "", true},
		{"name missing", "name: whole\n", "", true},
		{"name empty", "name: whole", "name: ''", true},
		{"name of blanks", "name: whole", "name: ' '", false},
		{"version a number", `"1"`, "1", true},
		{"unknown field", "version", "versoin", true},
		{"unknown default", "{tags", "{tag: x, tags", true},
		{"unknown test field", "    tool: t\n", "    tool: t\n    tol: t\n", true},
		{"unknown field of expected", "expectedKeywords", "keywords", true},
		{"unknown check", "min_length", "min_lenth", true},
		{"unknown check field", "chars: 5", "chars: 5, char: 5", true},
		{"check without its field", ", chars: 5", "", true},
		{"check field of another type", "chars: 5", "chars: many", true},
		{"check field out of range", "chars: 5", "chars: 0", true},
		{"check without a type", "type: min_length, ", "", true},
		{"severity", "chars: 5", "chars: 5, severity: fatal", true},
		{"gate without a comparison", "failed == 0", "failed", true},
		{"gate on nothing known", "failed == 0", "faild == 0", true},
		{"gate in the wrong unit", "failed == 0", "pass_rate >= 90", false},
		{"gate on a tag that no test has", "failed == 0", "'failed{tag=b} == 0'", false},
		{"no tests", whole[strings.Index(whole, "tests:"):], "tests: []", true},
		{"id missing", "  - id: a\n    tool: t", "  - tool: t", true},
		{"id a number", "id: a", "id: 1", true},
		{"id too long", "id: a", "id: " + strings.Repeat("a", 201), true},
		{"id with a blank at its end", "id: a", "id: 'a '", false},
		{"tool missing", "    tool: t\n", "", false}, // defaults may have it
		{"tool empty", "tool: t", "tool: ''", true},
		{"difficulty", "basic", "hard", true},
		{"trials", "trials: 2", "trials: 0", true},
		{"input a list", "input: {q: 2}", "input: [q]", true},
		{"tags of numbers", "tags: [a]", "tags: [1]", true},
		{"empty tag", "tags: [a]", "tags: ['']", true},
		{"keyword a number", "[x]", "[5]", true},
		{"empty keyword", "[x]", "['']", true},
		{"blank keyword", "[x]", "[' ']", true},
		{"no expected", whole[strings.Index(whole, "    expected:"):], "", true},
		{"no check", whole[strings.Index(whole, "      validations:"):], "      validations: []", true},
		{"inline target of no type", "gates:", "target: {url: http://x}\ngates:", true},
		{"inline target of no kind", "gates:", "target: {type: x}\ngates:", true},
		{"inline target with an unknown field", "gates:", "target: {type: mcp, url: http://x, ulr: y}\ngates:", true},
		{"target a number", "gates:", "target: 5\ngates:", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(whole, c.old) {
				t.Fatal("the test changes nothing")
			}
			f := File{Path: "f.yaml", Data: []byte(strings.Replace(whole, c.old, c.new, 1))}
			v, ok := instance(f)
			if !ok {
				t.Fatalf("no YAML:\n%s", f.Data)
			}
			_, loaded := Load([]File{f})
			valid := schema.Validate(v)
			if c.name == "nothing" {
				if loaded != nil || valid != nil {
					t.Errorf("loader: %v\nschema: %v", loaded, valid)
				}
				return
			}
			if loaded == nil {
				t.Error("the loader finds nothing")
			}
			if (valid != nil) != c.seen {
				t.Errorf("the schema says: %v", valid)
			}
		})
	}
}
