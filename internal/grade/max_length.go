package grade

import (
	"context"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// maxLength passes when the answer has at most Chars characters.
type maxLength struct {
	Chars int `yaml:"chars" json:"chars" jsonschema:"most characters the answer may have" check:"required,min=1"`
}

var maxLengthKind = kind.Kind[eval.Grader]{
	Name:    "max_length",
	Doc:     "The answer is at most this long.",
	Mode:    tooLong,
	NotMode: tooShort,
	Explain: "Counts as `min_length` does. An empty answer passes; add `not_empty` where it should not.",
	Example: `- type: max_length
  chars: 4000
`,
	New: func() eval.Grader { return new(maxLength) },
}

func (g *maxLength) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	n := utf8.RuneCountInString(trim(a.Response.Text))
	return judged(n <= g.Chars, counted(n, "character"), bounds(nil, &g.Chars)).Detail("length", n), nil
}
