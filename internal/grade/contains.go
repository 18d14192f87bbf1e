package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// contains passes when the answer has a text in it.
type contains struct {
	Value         string `yaml:"value" json:"value" jsonschema:"text the answer must have" check:"required,min=1"`
	CaseSensitive bool   `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`

	wanted wanted
}

var containsKind = kind.Kind[eval.Grader]{
	Name:    "contains",
	NotMode: unwantedText,
	Doc:     "The answer contains a text.",
	Mode:    missingKeyword,
	Explain: `Upper and lower case are the same unless ` + "`caseSensitive: true`" + ` is set. Lower case is
taken for all of Unicode, as in JavaScript; two things are kinder than there: σ and ς are one letter, and so are İ and
i. Accents count, and ß is not ss. The text is found inside words too: ` + "`app`" + ` is in ` + "`zkapp`" + `.

A value of several lines also matches an answer whose lines end in CRLF.`,
	Example: `- type: contains
  value: zero-knowledge
- type: contains
  value: SmartContract
  caseSensitive: true
`,
	New: func() eval.Grader { return new(contains) },
}

// Check makes the text ready to be looked for.
func (g *contains) Check() error {
	g.wanted = want(g.Value, g.CaseSensitive)
	return nil
}

func (g *contains) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	if g.wanted.in(a.Response.Text) {
		return eval.PassIf(true, "contains %s", quote(g.Value)), nil
	}
	return eval.PassIf(false, "%s %s%s", lacks(a.Response.Text), quote(g.Value), g.wanted.anyCase(a.Response.Text)), nil
}

// lacks begins the reason of a text that is not there.
func lacks(text string) string {
	if trim(text) == "" {
		return "the answer is empty, want it to contain"
	}
	return "does not contain"
}
