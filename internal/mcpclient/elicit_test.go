package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

const colorSchema = `{"type":"object","properties":{"color":{"type":"string","default":"red"},"size":{"type":"integer"}}}`

// newAsker is a server whose tool repeats what the user said.
func newAsker() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "asker"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which color?", RequestedSchema: json.RawMessage(colorSchema)})
		if err != nil {
			return nil, nil, err
		}
		said, _ := json.Marshal(res.Content)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Action + " " + string(said)}}}, nil, nil
	})
	return s
}

// people answer the server's question.
var people = map[string]struct {
	elicit mcpclient.Elicit
	want   string
}{
	"takes what is offered": {
		func(context.Context, mcpclient.Question) (map[string]any, bool) { return nil, true },
		`accept {"color":"red"}`,
	},
	"has a wish": {
		func(_ context.Context, q mcpclient.Question) (map[string]any, bool) {
			return map[string]any{"color": q.Message, "size": 3}, true
		},
		`accept {"color":"Which color?","size":3}`,
	},
	"declines": {
		func(context.Context, mcpclient.Question) (map[string]any, bool) {
			return map[string]any{"color": "blue"}, false
		},
		`decline null`,
	},
}

// TestElicit has servers of the legacy era ask, over both HTTP transports.
func TestElicit(t *testing.T) {
	t.Parallel()
	get := func(*http.Request) *mcp.Server { return newAsker() }
	for transport, handler := range map[string]func() http.Handler{
		"streamable": func() http.Handler { return mcp.NewStreamableHTTPHandler(get, nil) },
		"sse":        func() http.Handler { return mcp.NewSSEHandler(get, nil) },
	} {
		for name, person := range people {
			t.Run(transport+" "+name, func(t *testing.T) {
				t.Parallel()
				srv := httptest.NewServer(handler())
				t.Cleanup(srv.Close)
				cfg := httpConfig(srv.URL)
				cfg.Elicit = person.elicit
				if got := call(t, dial(t, cfg), "ask").Text(); got != person.want {
					t.Errorf("the server heard %q, want %q", got, person.want)
				}
			})
		}
		t.Run(transport+" nobody", func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(handler())
			t.Cleanup(srv.Close)
			if res := call(t, dial(t, httpConfig(srv.URL)), "ask"); !res.IsError {
				t.Errorf("the answer is %q", res.Text())
			}
		})
	}
}

// TestElicitModern has a server of the modern era ask, twice.
func TestElicitModern(t *testing.T) {
	t.Parallel()
	for name, person := range people {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heard []string
			srv := serveModern(t, onCallParams(func(w http.ResponseWriter, m *inMessage, n int) bool {
				var p struct {
					InputResponses map[string]struct {
						Action  string
						Content any
					}
					RequestState string
				}
				_ = json.Unmarshal(m.Params, &p)
				if r, ok := p.InputResponses["color"]; ok {
					said, _ := json.Marshal(r.Content)
					heard = append(heard, p.RequestState+": "+r.Action+" "+string(said))
				}
				if n <= 2 {
					answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","requestState":"`+fmt.Sprint(n)+
						`","inputRequests":{"color":{"method":"elicitation/create","params":{"mode":"form","message":"Which color?","requestedSchema":`+colorSchema+`}}}}}`, string(m.ID))
				}
				return n <= 2
			}))
			cfg := httpConfig(srv.URL)
			cfg.Elicit = person.elicit
			wantText(t, call(t, dial(t, cfg), "hello"))
			if diff := cmp.Diff([]string{"1: " + person.want, "2: " + person.want}, heard); diff != "" {
				t.Errorf("the server heard (-want +got):\n%s", diff)
			}
		})
	}
	for name, request := range map[string]string{
		"a model":   `{"method":"sampling/createMessage","params":{}}`,
		"a page":    `{"method":"elicitation/create","params":{"mode":"url","url":"https://example.com"}}`,
		"no method": `{}`,
		"no object": `7`,
		"for ever":  `{"method":"elicitation/create","params":{"message":"again?"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serveModern(t, always(200, "application/json",
				`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"x":`+request+`}}}`))
			cfg := httpConfig(srv.URL)
			cfg.Elicit = people["takes what is offered"].elicit
			callErr(t, dial(t, cfg), "hello", mcpclient.ClassProtocol)
			if n := srv.count("tools/call"); n > 20 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// TestElicitBeside has a server that asks on the stream beside the call, as
// those of the TypeScript SDK do, and one that has no such stream.
func TestElicitBeside(t *testing.T) {
	t.Parallel()
	asked, said := make(chan struct{}), make(chan string, 1)
	srv := serveOdd(t, func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool {
		switch {
		case m.Method == http.MethodGet && n == 1:
			events(w, ": open\n\n")
			<-asked
			events(w, `data: {"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Which color?","requestedSchema":`+colorSchema+"}}\n\n")
			hang(r)
		case m.Method == "" && string(m.ID) == `"q1"`:
			said <- string(m.Result)
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "tools/call":
			close(asked)
			text, _ := json.Marshal(<-said)
			answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":`+string(text)+`}]}}`, string(m.ID))
		default:
			return false
		}
		return true
	})
	cfg := httpConfig(srv.URL)
	cfg.Elicit = people["takes what is offered"].elicit
	if got := call(t, dial(t, cfg), "hello").Text(); got != `{"action":"accept","content":{"color":"red"}}` {
		t.Errorf("the server heard %s", got)
	}

	plain := serveOdd(t, nil)
	cfg.URL = plain.URL
	wantText(t, call(t, dial(t, cfg), "hello"))
	if n := plain.count(http.MethodGet); n != 1 {
		t.Errorf("a stream that was refused was asked for %d times", n)
	}
	cfg.Elicit = nil
	wantText(t, call(t, dial(t, cfg), "hello"))
	if n := plain.count(http.MethodGet); n != 1 {
		t.Error("a stream was asked for although nobody answers questions")
	}
}
