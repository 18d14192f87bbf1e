package grade

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/jsonschema"
	"github.com/mettle-eval/mettle/internal/kind"
)

// jsonSchema passes when the answer's JSON is valid under a schema.
type jsonSchema struct {
	Schema json.RawMessage `yaml:"schema" json:"schema" jsonschema:"JSON Schema the answer's JSON must be valid under" check:"required"`

	resolved *jsonschema.Schema
}

var jsonSchemaKind = kind.Kind[eval.Grader]{
	Name:    "json_schema",
	NotMode: unwantedValue,
	Doc:     "The answer's JSON is valid under a JSON Schema.",
	Mode:    "schema violation",
	Explain: `The schema stands in the suite, draft 2020-12 or draft 7. References go inside the schema only (` + "`#/$defs/name`" + `), and a
reference that leads back to itself without going into the value is refused. ` + "`pattern`" + ` is RE2; ` + "`format`" + ` is not checked. A schema
that does not compile is an error of the suite.

The JSON is found as by ` + "`json_path`" + `: structured content, else the answer, else its first valid json block. An answer without
JSON fails. The reason names the first violation.`,
	Example: `- type: json_schema
  schema:
    type: object
    required: [title, url]
    properties:
      title: {type: string}
      url: {type: string, pattern: ^https://}
`,
	New: func() eval.Grader { return new(jsonSchema) },
}

// Check compiles the schema.
func (g *jsonSchema) Check() (err error) {
	if g.resolved, err = jsonschema.Compile(g.Schema); err != nil {
		return &kind.FieldError{Field: "schema", Err: err}
	}
	return nil
}

func (g *jsonSchema) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	text, where, ok := jsondoc.Find(a.Response)
	if !ok {
		return eval.PassIf(false, jsondoc.NotFound), nil
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return eval.Score{}, fmt.Errorf("read %s: %w", where, err)
	}
	if err := g.resolved.Validate(doc); err != nil {
		return eval.PassIf(false, "%s: %s", where, err), nil
	}
	return eval.PassIf(true, "%s is valid under the schema", where), nil
}
