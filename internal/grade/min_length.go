package grade

import (
	"context"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// minLength passes when the answer has at least Chars characters.
type minLength struct {
	Chars int `yaml:"chars" json:"chars" jsonschema:"fewest characters the answer may have" check:"required,min=1"`
}

var minLengthKind = kind.Kind[eval.Grader]{
	Name:    "min_length",
	Doc:     "The answer is at least this long.",
	Mode:    tooShort,
	NotMode: tooLong,
	Explain: `Counts characters (Unicode code points), not bytes and not JavaScript's UTF-16 units: 👍 is one. White space at
both ends, the metadata block and the source list do not count.`,
	Example: `- type: min_length
  chars: 200
`,
	New: func() eval.Grader { return new(minLength) },
}

func (g *minLength) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	n := utf8.RuneCountInString(trim(a.Response.Text))
	return judged(n >= g.Chars, counted(n, "character"), bounds(&g.Chars, nil)).Detail("length", n), nil
}
