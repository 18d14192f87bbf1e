package target

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// newAskingServer wants a token of its own token endpoint, and its tool asks
// the user before it answers.
func newAskingServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "asking"}, nil)
	s.AddTool(&mcp.Tool{Name: "ask_docs", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
			Message: "How long?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"words":{"type":"integer","default":50}}}`),
		})
		if err != nil {
			return nil, err
		}
		said, _ := json.Marshal(res.Content)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(said)}}}, nil
	})
	tools := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "ci" || secret != "ci-secret" || r.FormValue("scope") != "docs" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"fresh-token","token_type":"Bearer"}`))
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer fresh-token" {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func TestOAuthAndElicitation(t *testing.T) {
	srv := newAskingServer(t)
	d, root := kind.Parse("t.yaml", []byte(`type: mcp
url: ${SERVER}
oauth:
  clientId: ci
  clientSecret: ${CI_SECRET}
  tokenUrl: ${SERVER}/token
  scopes: [docs]
elicitation: accept
`))
	m, ok := Decode(d, root).(*MCP)
	if !ok {
		t.Fatal(d.Problems)
	}
	env := map[string]string{"SERVER": srv.URL, "CI_SECRET": "ci-secret"}
	if err := m.Use(Supplies{Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}); err != nil {
		t.Fatal(err)
	}
	c := &eval.Case{ID: "a", Tool: "ask_docs", Input: json.RawMessage(`{}`)}
	prepared(t, m, c)
	r, err := m.Respond(t.Context(), &eval.Attempt{Case: c})
	if err != nil || r.Text != `{"words":50}` {
		t.Errorf("the answer is %+v: %v", r, err)
	}
}

func TestOAuthSecretIsMissing(t *testing.T) {
	m := &MCP{URL: "http://127.0.0.1:1", OAuth: OAuth{ClientID: "ci", ClientSecret: "${CI_SECRET}"}}
	err := m.Use(Supplies{Env: func(string) (string, bool) { return "", false }})
	if err == nil || !strings.Contains(err.Error(), "CI_SECRET") {
		t.Errorf("error is %v", err)
	}
}

func TestContradictingOAuth(t *testing.T) {
	for name, tt := range map[string]struct{ yaml, want string }{
		"no secret":  {"type: mcp\nurl: http://x\noauth: {clientId: a}\n", "clientSecret"},
		"a command":  {"type: mcp\ncommand: [x]\noauth: {clientId: a, clientSecret: b}\n", "needs a url"},
		"a token":    {"type: mcp\nurl: http://x\ntoken: t\noauth: {clientId: a, clientSecret: b}\n", "both a token and oauth"},
		"a header":   {"type: mcp\nurl: http://x\nheaders: {authorization: t}\noauth: {clientId: a, clientSecret: b}\n", "both an Authorization header"},
		"an address": {"type: mcp\nurl: http://x\noauth: {clientId: a, clientSecret: b, tokenUrl: login}\n", "oauth.tokenUrl is not an http"},
		"a bad word": {"type: mcp\nurl: http://x\nelicitation: maybe\n", "refuse"},
	} {
		t.Run(name, func(t *testing.T) {
			d, root := kind.Parse("t.yaml", []byte(tt.yaml))
			if Decode(d, root) != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, tt.want) {
				t.Errorf("problems are %v, want one with %q", d.Problems, tt.want)
			}
		})
	}
}
