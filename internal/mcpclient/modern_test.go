package mcpclient_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// serveModern speaks 2026-07-28 and nothing else.
func serveModern(t testing.TB, on func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool) *odd {
	return serveOdd(t, func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool {
		if on != nil && on(w, r, m, n) {
			return true
		}
		switch m.Method {
		case "server/discover":
			answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],
				"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"7"}}}}`, string(m.ID))
		case "initialize":
			answer(w, 404, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"gone"}}`, string(m.ID))
		default:
			return false
		}
		return true
	})
}

func TestModernHeadersAndMeta(t *testing.T) {
	t.Parallel()
	var params json.RawMessage
	srv := serveModern(t, func(w http.ResponseWriter, _ *http.Request, m *inMessage, _ int) bool {
		switch m.Method {
		case "tools/list":
			answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":%s,"result":{"tools":[
				{"name":"search ö","inputSchema":{"type":"object","properties":{
					"region":{"type":"string","x-mcp-header":"Region"},
					"filter":{"type":"object","properties":{"limit":{"type":"integer","x-mcp-header":"Limit"}}}}}},
				{"name":"bad","inputSchema":{"type":"object","properties":{"q":{"type":"number","x-mcp-header":"Q"}}}}]}}`, string(m.ID))
			return true
		case "tools/call":
			params = m.Params
		}
		return false
	})
	cfg := httpConfig(srv.URL)
	cfg.Name, cfg.Version = "mettle", "1"
	c := dial(t, cfg)
	tools, err := c.Tools(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatalf("%d tools, error %v", len(tools), err)
	}
	if f := c.Info().Findings; len(f) != 1 || !strings.Contains(f[0], `"bad" is left out`) {
		t.Errorf("findings: %q", f)
	}
	res, err := c.Call(t.Context(), "search ö", json.RawMessage(`{"region":"Zürich","filter":{"limit":7}}`))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, res)
	want := map[string]string{
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?c2VhcmNoIMO2?=",
		"Mcp-Param-Region": "=?base64?WsO8cmljaA==?=", "Mcp-Param-Limit": "7", "Mcp-Session-Id": "",
	}
	got := map[string]string{}
	for name := range want {
		got[name] = srv.headers("tools/call").Get(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	wantParams := `{"name":"search ö","arguments":{"region":"Zürich","filter":{"limit":7}},"_meta":{` +
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"mettle","version":"1"},` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
	if diff := cmp.Diff(wantParams, string(params)); diff != "" || string(res.Request) != string(params) {
		t.Errorf("request kept: %s; params (-want +got):\n%s", res.Request, diff)
	}
	if info := c.Info(); info.Era != mcpclient.EraModern || info.Name != "new" {
		t.Errorf("info: %+v", info)
	}
}

// TestModernInputRequired has a server that asks to repeat the call.
func TestModernInputRequired(t *testing.T) {
	t.Parallel()
	t.Run("busy", func(t *testing.T) {
		t.Parallel()
		var states []string
		srv := serveModern(t, onCallParams(func(w http.ResponseWriter, m *inMessage, n int) bool {
			var p struct{ RequestState json.RawMessage }
			_ = json.Unmarshal(m.Params, &p)
			states = append(states, string(p.RequestState))
			if n < 3 {
				answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","requestState":"q \u0041"}}`, string(m.ID))
			}
			return n < 3
		}))
		res := call(t, dial(t, httpConfig(srv.URL)), "hello")
		wantText(t, res)
		if diff := cmp.Diff([]string{"", `"q \u0041"`, `"q \u0041"`}, states); diff != "" || res.Attempts != 1 {
			t.Errorf("attempts %d, states must come back byte for byte (-want +got):\n%s", res.Attempts, diff)
		}
	})
	for name, result := range map[string]string{
		"always busy":   `{"resultType":"input_required","inputRequests":{}}`,
		"asks a person": `{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serveModern(t, always(200, "application/json", `{"jsonrpc":"2.0","id":%s,"result":`+result+`}`))
			callErr(t, dial(t, httpConfig(srv.URL)), "hello", mcpclient.ClassProtocol)
		})
	}
	t.Run("only text that says so", func(t *testing.T) {
		t.Parallel()
		srv := serveModern(t, always(200, "application/json",
			`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hello"}],"structuredContent":{"x":"input_required"}}}`))
		wantText(t, call(t, dial(t, httpConfig(srv.URL)), "hello"))
	})
}

func onCallParams(do func(w http.ResponseWriter, m *inMessage, n int) bool) func(http.ResponseWriter, *http.Request, *inMessage, int) bool {
	return func(w http.ResponseWriter, _ *http.Request, m *inMessage, n int) bool {
		return m.Method == "tools/call" && do(w, m, n)
	}
}

// TestModernSlowStart has servers of the new era alone that need longer than
// the probe allows, and say one thing or another to the old handshake.
func TestModernSlowStart(t *testing.T) {
	t.Parallel()
	for name, initialize := range map[string]string{
		"refuses":  `"error":{"code":-32601,"message":"no such method"}`,
		"nonsense": `"result":{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serveModern(t, func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool {
				switch {
				case m.Method == "server/discover" && n == 1:
					hang(r)
				case m.Method == "initialize":
					answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":%s,`+initialize+`}`, string(m.ID))
				default:
					return false
				}
				return true
			})
			cfg := httpConfig(srv.URL)
			cfg.Timeouts.Probe = soon
			c := dial(t, cfg)
			wantText(t, call(t, c, "hello"))
			if info := c.Info(); info.Era != mcpclient.EraModern {
				t.Errorf("era is %s", info.Era)
			}
		})
	}
}
