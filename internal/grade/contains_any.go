package grade

import (
	"context"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// containsAny passes when the answer has one of several texts in it.
type containsAny struct {
	Values        []string `yaml:"values" json:"values" jsonschema:"texts of which the answer must have at least one" check:"required,min=1"`
	CaseSensitive bool     `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`

	wanted []wanted
}

var containsAnyKind = kind.Kind[eval.Grader]{
	Name:    "contains_any",
	NotMode: unwantedText,
	Doc:     "The answer contains at least one of several texts.",
	Mode:    missingKeyword,
	Explain: "Each text is looked for as `contains` does.",
	Example: `- type: contains_any
  values: [smart contract, zero-knowledge, proof]
`,
	New: func() eval.Grader { return new(containsAny) },
}

// Check makes the texts ready to be looked for; an empty one would be in
// every answer.
func (g *containsAny) Check() (err error) {
	g.wanted, err = wantAll(g.Values, g.CaseSensitive)
	return err
}

func (g *containsAny) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	for i, w := range g.wanted {
		if w.in(a.Response.Text) {
			return eval.PassIf(true, "contains %s", quote(g.Values[i])), nil
		}
	}
	return eval.PassIf(false, "contains none of %s", quoteAll(g.Values)), nil
}

func wantAll(values []string, sensitive bool) ([]wanted, error) {
	out := make([]wanted, len(values))
	for i, v := range values {
		if v == "" {
			return nil, &kind.FieldError{Field: fmt.Sprintf("values[%d]", i), Err: fmt.Errorf("values[%d] is empty, and so in every answer", i)}
		}
		out[i] = want(v, sensitive)
	}
	return out, nil
}
