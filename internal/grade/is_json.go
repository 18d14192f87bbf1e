package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/kind"
)

// isJSON passes when the answer is one JSON value.
type isJSON struct{}

var isJSONKind = kind.Kind[eval.Grader]{
	Name:    "is_json",
	NotMode: "unwanted JSON",
	Doc:     "The answer is one JSON value and nothing else.",
	Mode:    "invalid JSON",
	Explain: `White space around the value does not count, and neither does one fence around all of the answer. Text beside the value
fails; ` + "`json_path`" + ` and ` + "`json_schema`" + ` also find JSON inside an answer.`,
	Example: `- type: is_json
`,
	New: func() eval.Grader { return new(isJSON) },
}

func (g *isJSON) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	text := trim(a.Response.Text)
	if inner, ok := onlyBlock(text); ok {
		text = trim(inner)
	}
	if _, err := jsondoc.Decode(text); err != nil {
		return eval.PassIf(false, "the answer is not JSON: %s", oneLine(err.Error(), 2*shown)), nil
	}
	return eval.PassIf(true, "the answer is JSON"), nil
}

// onlyBlock gives the inside of a fence that goes around a whole text.
func onlyBlock(text string) (inner string, ok bool) {
	blocks := code.Blocks(text)
	if len(blocks) != 1 || !blocks[0].Closed || blocks[0].Start > 0 || blocks[0].End < len(text) {
		return "", false
	}
	return blocks[0].Text, true
}
