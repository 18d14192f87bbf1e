package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// notEmpty passes when the answer says anything.
type notEmpty struct{}

var notEmptyKind = kind.Kind[eval.Grader]{
	Name: "not_empty",
	Doc:  "The answer has text or structured content.",
	Mode: "empty answer",
	Explain: `White space is no text, and neither are the metadata block and the source list. Structured content counts unless it
is null, an empty object, an empty list or an empty string.`,
	Example: `- type: not_empty
`,
	New: func() eval.Grader { return new(notEmpty) },
}

func (g *notEmpty) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	if text := trim(a.Response.Text); text != "" {
		return eval.PassIf(true, "the answer is %s", quote(text)), nil
	}
	switch content := trim(string(a.Response.Structured)); content {
	case "", "null", "{}", "[]", `""`:
		return eval.PassIf(false, "the answer is empty"), nil
	default:
		return eval.PassIf(true, "the answer has structured content: %s", quote(content)), nil
	}
}
