package grade

import (
	"context"
	"strings"
	"unicode"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// wordCount passes when the answer has a number of words.
type wordCount struct {
	Min *int `yaml:"min" json:"min,omitempty" jsonschema:"fewest words the answer may have" check:"min=0"`
	Max *int `yaml:"max" json:"max,omitempty" jsonschema:"most words the answer may have" check:"min=0"`
}

var wordCountKind = kind.Kind[eval.Grader]{
	Name:    "word_count",
	NotMode: unwantedCount,
	Doc:     "The answer has at least min and at most max words.",
	Mode:    "wrong length",
	Explain: `A word is what stands between white space and has a letter or a digit in it, so bullets, table rules and
fences are none. Words inside code blocks count. Scripts written without spaces count a whole sentence as one word: use
` + "`min_length`" + ` for them. One of min and max is required.`,
	Example: `- type: word_count
  min: 50
  max: 400
`,
	New: func() eval.Grader { return new(wordCount) },
}

// Check wants at least one bound, and the bounds in order.
func (g *wordCount) Check() error { return checkRange(g.Min, g.Max) }

func (g *wordCount) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	n := 0
	for word := range strings.FieldsSeq(a.Response.Text) {
		if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			n++
		}
	}
	return judged(within(n, g.Min, g.Max), counted(n, "word"), bounds(g.Min, g.Max)).Detail("words", n), nil
}
