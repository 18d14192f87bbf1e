package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// containsAll passes when the answer has every one of several texts in it.
type containsAll struct {
	Values        []string `yaml:"values" json:"values" jsonschema:"texts the answer must all have" check:"required,min=1"`
	CaseSensitive bool     `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`

	wanted []wanted
}

var containsAllKind = kind.Kind[eval.Grader]{
	Name:    "contains_all",
	NotMode: unwantedText,
	Doc:     "The answer contains every one of several texts.",
	Mode:    missingKeyword,
	Explain: "Each text is looked for as `contains` does. The reason of a fail names those that are missing.",
	Example: `- type: contains_all
  values: [Anchor, program, account]
`,
	New: func() eval.Grader { return new(containsAll) },
}

// Check makes the texts ready to be looked for.
func (g *containsAll) Check() (err error) {
	g.wanted, err = wantAll(g.Values, g.CaseSensitive)
	return err
}

func (g *containsAll) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	var missing []string
	for i, w := range g.wanted {
		if !w.in(a.Response.Text) {
			missing = append(missing, g.Values[i])
		}
	}
	if len(missing) > 0 {
		return eval.PassIf(false, "missing %s", quoteAll(missing)).Detail("missing", missing), nil
	}
	return eval.PassIf(true, "contains all of %s", quoteAll(g.Values)), nil
}
