package grade

import (
	"context"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/kind"
)

// jsonPath passes when a value inside the answer's JSON compares as asked.
type jsonPath struct {
	Path  string `yaml:"path" json:"path" jsonschema:"path to the value, such as $.results[0].title" check:"required,min=1"`
	Every bool   `yaml:"every" json:"every,omitempty" jsonschema:"where the path leads to several values, every one must compare as asked, not just one" check:"default=false"`
	comparison

	steps jsondoc.Path
}

var jsonPathKind = kind.Kind[eval.Grader]{
	Name:    "json_path",
	NotMode: unwantedValue,
	Doc:     "A value inside the answer's JSON compares as asked.",
	Mode:    "wrong value",
	Explain: `The JSON is the answer's structured content; else the answer, when it is JSON as a whole; else its first valid json block.
An answer without JSON fails.

A path is a JSONPath of [RFC 9535](https://www.rfc-editor.org/rfc/rfc9535): ` + "`$.results[0].title`" + `, ` + "`['a name']`" + ` with a quoted name,
` + "`[-1]`" + ` for the last entry, ` + "`[*]`" + ` or ` + "`.*`" + ` for every one, ` + "`[0:3]`" + ` for the first three, ` + "`[?@.score > 0.5]`" + ` for those that meet a condition,
` + "`..url`" + ` for a name at any depth. The ` + "`$`" + ` may be left out, and names such as ` + "`content-type`" + ` need no quotes after a dot. Where a
path leads to several values, one that compares is enough, or with ` + "`every: true`" + ` all must, and there must be at least one.

` + compareDoc,
	Example: `- type: json_path
  path: $.results[*].url
  contains: docs.minaprotocol.com
- type: json_path
  path: total
  min: 1
`,
	New: func() eval.Grader { return new(jsonPath) },
}

// Check parses the path and makes the comparison ready.
func (g *jsonPath) Check() (err error) {
	if g.steps, err = jsondoc.Parse(g.Path); err != nil {
		return &kind.FieldError{Field: "path", Err: err}
	}
	if g.Every && !g.steps.Many() {
		return &kind.FieldError{Field: "every", Err: fmt.Errorf("every has a meaning only with a path to several values, such as one with [*]")}
	}
	return g.check()
}

func (g *jsonPath) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	text, where, ok := jsondoc.Find(a.Response)
	if !ok {
		return eval.PassIf(false, jsondoc.NotFound), nil
	}
	doc, err := jsondoc.Decode(text)
	if err != nil {
		return eval.Score{}, fmt.Errorf("read %s: %w", where, err)
	}
	return g.judge(g.Path, where, g.steps.From(doc), g.Every)
}

// judge holds the values found at a place against the comparison. Where there
// are several, one that compares is enough unless all must.
func (c *comparison) judge(name, where string, values []any, all bool) (eval.Score, error) {
	name = cut(name)
	switch {
	case c.absent() && len(values) > 0:
		return eval.PassIf(false, "%s is %s in %s, want none", name, jsondoc.Show(values[0]), where), nil
	case len(values) == 0:
		return eval.PassIf(c.absent(), "nothing at %s in %s", name, where), nil
	}
	first, bad := "", 0 // the first complaint, and how many there are
	for _, v := range values {
		complaint, err := c.complaint(v)
		if err != nil {
			return eval.Score{}, err
		}
		if complaint == "" && !all {
			return eval.PassIf(true, "%s is %s", name, jsondoc.Show(v)), nil
		}
		if complaint != "" {
			if bad++; bad == 1 {
				first = fmt.Sprintf("%s is %s, %s", name, jsondoc.Show(v), complaint)
			}
		}
	}
	switch {
	case bad == 0:
		return eval.PassIf(true, "%s: all of %s compare", name, counted(len(values), "value")), nil
	case len(values) > 1:
		first += fmt.Sprintf(" (%d of %d values do not compare)", bad, len(values))
	}
	return eval.PassIf(false, "%s", first), nil
}
