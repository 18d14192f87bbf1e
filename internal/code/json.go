package code

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

const jsonChecker = "encoding/json"

// jsonSyntax accepts exactly one JSON value.
func jsonSyntax(src string) ([]Problem, bool) {
	var value json.RawMessage
	err := json.Unmarshal([]byte(src), &value)
	if err == nil {
		return nil, true
	}
	if strings.Contains(err.Error(), "exceeded max depth") {
		return nil, false
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return []Problem{source.ProblemAt(src, 0, err.Error(), jsonChecker)}, true
	}
	offset := int(syntax.Offset)
	if offset < len(src) || !strings.Contains(err.Error(), "unexpected end") {
		offset-- // the offset is behind the byte that did not fit
	}
	return []Problem{source.ProblemAt(src, offset, err.Error(), jsonChecker)}, true
}
