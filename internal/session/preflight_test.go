package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mettle-eval/mettle/internal/suite"
)

// TestPreflightIsCharged: a vendor whose list does not have the model is asked
// for a reply, which is paid for.
func TestPreflightIsCharged(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"object":"list","data":[]}`)
			return
		}
		fmt.Fprint(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ready"}}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`)
	}))
	defer srv.Close()
	w := &World{Dir: t.TempDir(), Environ: []string{"OPENAI_API_KEY=sk-0123456789", "OPENAI_BASE_URL=" + srv.URL}}
	m, err := newModels(w, &Models{Budget: "1000 tokens"}, new(suite.Config), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.model("openai:m"); err != nil {
		t.Fatal(err)
	}
	if err := m.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, tokens := m.budget.Spent(); tokens != 15 {
		t.Errorf("%d tokens are counted, want 15", tokens)
	}
}
