package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// isError passes when the target flagged its own answer as an error.
type isError struct {
	Matches string `yaml:"matches" json:"matches,omitempty" jsonschema:"regular expression to be found in the error's text"`

	pattern *pattern
}

var isErrorKind = kind.Kind[eval.Grader]{
	Name:    "is_error",
	NotMode: errorAnswer,
	Doc:     "The answer is an error, as flagged by the server.",
	Mode:    missingError,
	Explain: `For cases that must be refused: bad arguments, unknown projects. Only the flag counts (` + "`isError`" + ` of a tool result), not
what the text sounds like; ` + "`matches`" + ` also asks for a pattern in it, read as by ` + "`matches_regex`" + `.

A transport or protocol error is no answer and never passes: such a case is an error of the run. A case without
` + "`is_error`" + ` or ` + "`not_error`" + ` is checked for ` + "`not_error`" + ` without being asked.`,
	Example: `- type: is_error
  matches: unknown project
`,
	New: func() eval.Grader { return new(isError) },
}

// Check compiles the pattern.
func (g *isError) Check() (err error) {
	if g.Matches == "" {
		return nil
	}
	if g.pattern, err = compilePattern(g.Matches, patternFlags{}); err != nil {
		return &kind.FieldError{Field: "matches", Err: err}
	}
	return nil
}

func (g *isError) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	if !a.Response.IsError {
		return eval.PassIf(false, "the answer is not an error: %s", quote(trim(a.Response.Text))), nil
	}
	if g.pattern == nil {
		return eval.PassIf(true, "the answer is an error: %s", quote(trim(a.Response.Text))), nil
	}
	match, found, err := g.pattern.find(a.Response.Text)
	if err != nil {
		return eval.Score{}, err
	}
	if found {
		return eval.PassIf(true, "the answer is an error with %s", quote(match)), nil
	}
	return eval.PassIf(false, "nothing in the error %s matches %s", quote(trim(a.Response.Text)), g.pattern), nil
}
