package grade

import (
	"context"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// startsWith passes when a text stands at the beginning of the answer.
type startsWith struct {
	Value         string `yaml:"value" json:"value" jsonschema:"what the answer must begin with" check:"required,min=1"`
	CaseSensitive bool   `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`

	wanted wanted
}

var startsWithKind = kind.Kind[eval.Grader]{
	Name:    "starts_with",
	NotMode: unwantedText,
	Doc:     "The answer begins with a text.",
	Mode:    "wrong beginning",
	Explain: `White space before the answer does not count, nor does white space around the value. Case and line ends are
treated as by ` + "`contains`" + `.`,
	Example: `- type: starts_with
  value: "# Answer"
`,
	New: func() eval.Grader { return new(startsWith) },
}

// Check makes the text ready to be compared.
func (g *startsWith) Check() (err error) {
	g.wanted, err = wantEdge(g.Value, g.CaseSensitive)
	return err
}

func (g *startsWith) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	text := trim(a.Response.Text)
	if strings.HasPrefix(g.wanted.ready(text), g.wanted.text) {
		return eval.PassIf(true, "begins with %s", quote(trim(g.Value))), nil
	}
	return eval.PassIf(false, "begins with %s, want %s", quote(text), quote(trim(g.Value))), nil
}
