package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// notError passes when the target did not flag its own answer as an error.
type notError struct{ metadataOnly }

var notErrorKind = kind.Kind[eval.Grader]{
	Name:    "not_error",
	Doc:     "The answer is not flagged as an error by the server.",
	Mode:    errorAnswer,
	NotMode: missingError,
	Explain: `Every case is checked for this without being asked, unless one of its checks is ` + "`is_error`" + ` or ` + "`not_error`" + `; the
check is then only shown when it fails. Only the flag counts, not what the text sounds like.`,
	Example: `- type: not_error
`,
	New: func() eval.Grader { return new(notError) },
}

func (g *notError) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	if a.Response.IsError {
		return eval.PassIf(false, "the answer is an error: %s", quote(trim(a.Response.Text))), nil
	}
	return eval.PassIf(true, "the answer is not an error"), nil
}
