package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/kind"
)

// jsonSchema passes when the answer's JSON is valid under a schema.
type jsonSchema struct {
	Schema json.RawMessage `yaml:"schema" json:"schema" jsonschema:"JSON Schema the answer's JSON must be valid under" check:"required"`

	resolved *jsonschema.Resolved
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
	if g.resolved, err = compileSchema(g.Schema); err != nil {
		return &kind.FieldError{Field: "schema", Err: err}
	}
	return nil
}

// compileSchema makes a schema ready. The library trusts its schemas in two
// ways that a suite's may not deserve: it panics on some shapes, and a
// reference cycle would never end.
func compileSchema(raw json.RawMessage) (_ *jsonschema.Resolved, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not a JSON Schema: %v", p)
		}
	}()
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if err := checkSchema(doc); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	var shape *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &s); {
	case errors.As(err, &shape):
		return nil, fmt.Errorf("not a JSON Schema: %s cannot be of type %s", shape.Field[strings.LastIndexByte(shape.Field, '.')+1:], shape.Value)
	case err != nil:
		return nil, fmt.Errorf("not a JSON Schema: %s", oneLine(err.Error(), 200))
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %s", oneLine(err.Error(), 200))
	}
	return resolved, nil
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
		return eval.PassIf(false, "%s: %s", where, violation(err)), nil
	}
	return eval.PassIf(true, "%s is valid under the schema", where), nil
}

// violation puts the library's words for a violation in order: the place in
// the schema, then what is wrong there.
func violation(err error) string {
	place, text := "", err.Error()
	for {
		at, rest, ok := strings.Cut(strings.TrimPrefix(text, "validating "), ": ")
		if !ok || !strings.HasPrefix(text, "validating ") {
			break
		}
		place, text = at, rest
	}
	text = fraction().ReplaceAllString(text, "$1")
	if place == "root" || place == "" {
		return oneLine(text, 200)
	}
	return oneLine(fmt.Sprintf("%s (schema %s)", text, place), 240)
}

// fraction finds whole numbers in the library's two ways of writing them: 5/1
// and 5.000000.
var fraction = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d+)(?:/1|\.000000)\b`) })
