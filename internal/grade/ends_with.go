package grade

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// endsWith passes when a text stands at the end of the answer.
type endsWith struct {
	Value         string `yaml:"value" json:"value" jsonschema:"what the answer must end with" check:"required,min=1"`
	CaseSensitive bool   `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`

	wanted wanted
}

var endsWithKind = kind.Kind[eval.Grader]{
	Name:    "ends_with",
	NotMode: unwantedText,
	Doc:     "The answer ends with a text.",
	Mode:    "wrong ending",
	Explain: `White space after the answer does not count, nor does white space around the value. Case and line ends are
treated as by ` + "`contains`" + `. The metadata block and the source list are not part of the answer.`,
	Example: `- type: ends_with
  value: "."
`,
	New: func() eval.Grader { return new(endsWith) },
}

// Check makes the text ready to be compared.
func (g *endsWith) Check() (err error) {
	g.wanted, err = wantEdge(g.Value, g.CaseSensitive)
	return err
}

func (g *endsWith) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	text := trim(a.Response.Text)
	if strings.HasSuffix(g.wanted.ready(text), g.wanted.text) {
		return eval.PassIf(true, "ends with %s", quote(trim(g.Value))), nil
	}
	return eval.PassIf(false, "ends with %s, want %s", quote(tail(text, shown)), quote(trim(g.Value))), nil
}

// tail is the end of a text, cut at its beginning.
func tail(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	r := []rune(s)
	return "…" + string(r[len(r)-most+1:])
}
