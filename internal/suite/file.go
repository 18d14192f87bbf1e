package suite

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// suiteFile is a suite file as people write it.
type suiteFile struct {
	Schema      string    `yaml:"$schema" jsonschema:"the schema of this file, for editors; not read"`
	Name        string    `yaml:"name" jsonschema:"what the suite is called in reports; no two suites of a run share one" check:"required,min=1,max=200"`
	Description string    `yaml:"description" jsonschema:"what the suite is for"`
	Project     string    `yaml:"project" jsonschema:"the project of every test that does not say its own" check:"max=200"`
	Version     string    `yaml:"version" jsonschema:"the suite's own version" check:"max=200"`
	Target      targetRef `yaml:"target" jsonschema:"what the tests are put to: the name of a target in mettle.yaml, or a target's settings"`
	Defaults    defaults  `yaml:"defaults" jsonschema:"what holds for every test that does not say otherwise"`
	Gates       []gate    `yaml:"gates" jsonschema:"conditions on the suite's results, such as pass_rate{difficulty=basic} >= 90%; what no gate looks at must not fail" check:"max=1000"`
	Tests       testList  `yaml:"tests" jsonschema:"the suite's tests" check:"required"`
}

// defaults is what tests share.
type defaults struct {
	Tool       string `yaml:"tool" jsonschema:"the tool of every test that names none" check:"min=1,max=200"`
	Project    string `yaml:"project" jsonschema:"the project of every test that names none, in itself or its input" check:"min=1,max=200"`
	Difficulty string `yaml:"difficulty" jsonschema:"the difficulty of every test that names none" check:"enum=basic|intermediate|advanced"`
	Tags       []tag  `yaml:"tags" jsonschema:"tags of every test, beside its own" check:"max=1000"`
	Trials     int    `yaml:"trials" jsonschema:"how often every test is put that does not say" check:"min=1,max=10000"`
	Target     string `yaml:"target" jsonschema:"the name of the target in mettle.yaml of every test that names none" check:"min=1,max=200"`
	Input      object `yaml:"input" jsonschema:"arguments of every test's tool; a test's own of the same name go first"`
}

// test is one test of a suite file.
type test struct {
	ID          string `yaml:"id" jsonschema:"what the test is known by, for good: no two tests of a run share one" check:"required,min=1,max=200"`
	Name        string `yaml:"name" jsonschema:"what the test is called in reports; its id if not given" check:"max=500"`
	Description string `yaml:"description" jsonschema:"what the test is for"`
	Tool        string `yaml:"tool" jsonschema:"the tool that is asked; required unless defaults has one" check:"min=1,max=200"`
	Project     string `yaml:"project" jsonschema:"the project the test belongs to; if not given, the input's, else the suite's" check:"min=1,max=200"`
	Difficulty  string `yaml:"difficulty" jsonschema:"how hard the test is meant to be" check:"enum=basic|intermediate|advanced,default=basic"`
	Input       object `yaml:"input" jsonschema:"the tool's arguments, sent as they stand; required unless defaults has some"`
	EachSkill   string `yaml:"eachSkill" jsonschema:"make the test one for every skill that is found: those of a language, or any, which is what --language asks for" check:"enum=any|js|python"`
	Expected    node   `yaml:"expected" jsonschema:"what the answer must be like; at least one check"`
	Tags        []tag  `yaml:"tags" jsonschema:"words to select tests and to group results by" check:"max=1000"`
	Trials      int    `yaml:"trials" jsonschema:"how often the test is put; the run decides if not given" check:"min=1,max=10000"`
	Target      string `yaml:"target" jsonschema:"the name of a target in mettle.yaml that this test is put to" check:"min=1,max=200"`
}

// expected lists what is asked of an answer. The checks of a test stand in
// the order of these fields.
type expected struct {
	Validations       checkList `yaml:"validations" jsonschema:"checks"`
	ExpectedKeywords  []keyword `yaml:"expectedKeywords" jsonschema:"texts the answer must contain, upper and lower case being the same" check:"max=1000"`
	ForbiddenKeywords []keyword `yaml:"forbiddenKeywords" jsonschema:"texts that neither the answer nor its source list may contain, such as those of another project" check:"max=1000"`
	ExpectedImports   []keyword `yaml:"expectedImports" jsonschema:"modules the answer's code must import" check:"max=1000"`
	judgedFields
}

// node holds the YAML of what is expected until the test around it is known.
type node struct{ *yaml.Node }

// DecodeNode keeps the YAML.
func (e *node) DecodeNode(_ *kind.Decoder, n *yaml.Node) { e.Node = n }

// JSONSchema is that of the fields, one of which must hold something.
func (node) JSONSchema() kind.Schema {
	s := kind.SchemaOf(new(expected))
	var ways []kind.Schema
	for _, f := range kind.Fields(new(expected)) {
		switch f.Name {
		case "expectRefusal", "useLLMJudge", "compat": // they say how, not what
		default:
			way := kind.Schema{"required": []string{f.Name}}
			if s["properties"].(kind.Schema)[f.Name].(kind.Schema)["type"] == "array" {
				way["properties"] = kind.Schema{f.Name: kind.Schema{"minItems": 1}}
			}
			ways = append(ways, way)
		}
	}
	s["anyOf"] = ways
	return s
}

// testList holds a file's tests until what they share is known.
type testList struct{ node *yaml.Node }

// DecodeNode keeps the list.
func (t *testList) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	if items(d, n, "tests") == nil {
		return
	}
	if t.node = n; d.Len(n) == 0 {
		d.Errorf(n, "tests is empty")
	}
}

// JSONSchema is that of a list of tests.
func (testList) JSONSchema() kind.Schema {
	item := kind.SchemaOf(new(test))
	item["required"] = []string{"id", "expected"}
	return kind.Schema{"type": "array", "minItems": 1, "items": item}
}

// maxList bounds the lists of a test, here and in the tags above.
const maxList = 1000

// checkList holds a test's checks as they were written.
type checkList struct{ nodes []*yaml.Node }

// DecodeNode keeps the list's items.
func (c *checkList) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	if c.nodes = items(d, n, "validations"); len(c.nodes) > maxList {
		d.Errorf(n, "validations is %d entries long, want %d or less", len(c.nodes), maxList)
	}
}

// JSONSchema refers to the schema of all checks.
func (checkList) JSONSchema() kind.Schema {
	return kind.Schema{"type": "array", "maxItems": maxList, "items": kind.Schema{"$ref": "#/$defs/check"}}
}

// items lists the items of a list, or nil and a problem when it is none.
func items(d *kind.Decoder, n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		var list []yaml.Node
		d.Decode(n, &list, what) // it finds the words for what it is instead
		return nil
	}
	return append([]*yaml.Node{}, n.Content...)
}

// text is a string that knows where it stands.
type text struct {
	Value     string
	line, col int
}

func (t *text) decode(d *kind.Decoder, n *yaml.Node, what string) {
	t.line, t.col = n.Line, n.Column
	before := len(d.Problems)
	if d.Decode(n, &t.Value, what); len(d.Problems) == before && blank(t.Value) {
		d.Errorf(n, "%s is empty", what)
	}
}

func (t text) pos(file string) eval.Pos { return eval.Pos{File: file, Line: t.line, Col: t.col} }

// JSONSchema asks for a text that is not empty.
func (text) JSONSchema() kind.Schema { return kind.Schema{"type": "string", "pattern": `\S`} }

// keyword is an entry of one of the lists that become checks.
type keyword struct{ text }

// DecodeNode reads the text; an empty one would be found in every answer.
func (k *keyword) DecodeNode(d *kind.Decoder, n *yaml.Node) { k.decode(d, n, "the keyword") }

// tag is a word that tests are selected and results grouped by.
type tag struct{ text }

// DecodeNode reads the word.
func (t *tag) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	t.decode(d, n, "the tag")
	if !blank(t.Value) {
		label(d, n, "the tag", t.Value)
	}
}

// label holds a name that reports, gates and command lines will show against
// what can be shown.
func label(d *kind.Decoder, n *yaml.Node, what, s string) {
	switch {
	case strings.TrimSpace(s) != s:
		d.Errorf(n, "%s is %q, with blanks at an end", what, s)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		d.Errorf(n, "%s is %q, which has characters that cannot be printed", what, s)
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// object is a mapping that becomes a JSON object.
type object struct{ node *yaml.Node }

// DecodeNode keeps the mapping.
func (o *object) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		o.node = n
		return
	}
	d.Members(n, "input") // it finds the words for what it is instead
}

// JSONSchema allows any members.
func (object) JSONSchema() kind.Schema { return kind.Schema{"type": "object"} }

// problemAt keeps a problem at a place that is no longer a node.
func (l *loader) problemAt(p eval.Pos, format string, args ...any) {
	l.d.Add(kind.Problem{Line: p.Line, Col: p.Col, Message: fmt.Sprintf(format, args...)})
}
