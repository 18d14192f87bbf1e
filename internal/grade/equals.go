package grade

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// equals passes when the answer is a text and nothing else.
type equals struct {
	Value         string `yaml:"value" json:"value" jsonschema:"what the answer must be" check:"required,min=1"`
	CaseSensitive bool   `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`

	wanted wanted
}

var equalsKind = kind.Kind[eval.Grader]{
	Name:    "equals",
	NotMode: unwantedText,
	Doc:     "The answer is a text and nothing else.",
	Mode:    "different answer",
	Explain: `White space at both ends of the answer and of the value does not count. As with ` + "`contains`" + `, upper and
lower case are the same unless ` + "`caseSensitive: true`" + ` is set, and lines may end in CRLF.`,
	Example: `- type: equals
  value: "42"
`,
	New: func() eval.Grader { return new(equals) },
}

// Check makes the text ready to be compared.
func (g *equals) Check() (err error) {
	g.wanted, err = wantEdge(g.Value, g.CaseSensitive)
	return err
}

func (g *equals) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	text := trim(a.Response.Text)
	ok := g.wanted.ready(text) == g.wanted.text
	if ok {
		return eval.PassIf(true, "the answer is %s", quote(trim(g.Value))), nil
	}
	return eval.PassIf(false, "the answer is %s, want %s", quote(text), quote(trim(g.Value))), nil
}

// wantEdge makes a text ready that is compared with an end of the answer, or
// all of it, where white space does not count.
func wantEdge(value string, sensitive bool) (wanted, error) {
	value = trim(value)
	if value == "" {
		return wanted{}, &kind.FieldError{Field: "value", Err: errors.New("value is only white space, which does not count")}
	}
	return want(value, sensitive), nil
}
