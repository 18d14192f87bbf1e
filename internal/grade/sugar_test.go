package grade

import (
	"testing"

	"github.com/mettle-eval/mettle/internal/eval"
)

// TestForbiddenKeywordsLookAtSources has an answer that names no other project
// and was made from its pages.
func TestForbiddenKeywordsLookAtSources(t *testing.T) {
	check := ForbiddenKeyword("solana", eval.Pos{})
	for want, source := range map[eval.Status]eval.Source{
		eval.Fail: {N: 1, Title: "Accounts", URL: "https://docs.solana.com/accounts"},
		eval.Pass: {N: 1, Title: "Accounts", URL: "https://docs.minaprotocol.com/accounts"},
	} {
		r := &eval.Response{Text: "An account holds tokens [1].", Sources: []eval.Source{source}}
		if got := check.Grade(t.Context(), &eval.Attempt{Case: &eval.Case{}, Response: r}); got.Status != want {
			t.Errorf("sources %v: %s (%s), want %s", source, got.Status, got.Reason, want)
		}
	}
}
