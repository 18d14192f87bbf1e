package mcpclient_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

func TestPlanServer(t *testing.T) {
	t.Parallel()
	c := dial(t, httpConfig(servePlan(t, "hello").URL+"/mcp"))
	tools, err := c.Tools(t.Context())
	if err != nil || len(tools) != 2 || tools[1].Name != "crypto_search_docs" {
		t.Fatalf("tools %v, error %v", tools, err)
	}
	wantText(t, call(t, c, "crypto_list_projects"))
	info := c.Info()
	want := mcpclient.Info{
		Name: "crypto-docs", Version: "2.0.0", Target: info.Target, Protocol: "2024-11-05",
		Era: mcpclient.EraLegacy, Transport: mcpclient.TransportStreamable,
		Capabilities: info.Capabilities, Tools: 2, ToolsHash: info.ToolsHash,
		Connect: info.Connect, List: info.List,
	}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(info.Capabilities), "resources") || len(info.ToolsHash) != 64 {
		t.Errorf("capabilities %s, hash %s", info.Capabilities, info.ToolsHash)
	}
}

// TestHTTPNotifications has the rows about how notifications are answered.
func TestHTTPNotifications(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 202, 204, 400, 404, 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			srv := serveOdd(t, func(w http.ResponseWriter, _ *http.Request, m *inMessage, _ int) bool {
				if m.Method == "notifications/initialized" {
					body := ""
					if status == 200 {
						body = `{"result":{},"id":null}`
					}
					w.WriteHeader(status)
					fmt.Fprint(w, body)
					return true
				}
				return false
			})
			cfg := httpConfig(srv.URL)
			cfg.Transport = mcpclient.TransportStreamable
			cfg.Retries = -1
			if status >= 400 {
				_, err := mcpclient.Dial(t.Context(), cfg)
				e := wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTransport)
				if e.Status != status {
					t.Errorf("status is %d", e.Status)
				}
				cfg.LenientNotifications = true
			}
			wantText(t, call(t, dial(t, cfg), "hello"))
		})
	}
}

// TestHTTPAnswers has the rows about answers that can be read.
func TestHTTPAnswers(t *testing.T) {
	t.Parallel()
	reply := `{"jsonrpc":"2.0","id":%s,"result":` + helloResult + `}`
	tests := map[string]func(http.ResponseWriter, *http.Request, *inMessage, int) bool{
		"json with charset": always(200, "application/json; charset=utf-8", reply),
		"sse":               always(200, "text/event-stream", "event: message\ndata: "+reply+"\n\n"),
		"sse without event": always(200, "text/event-stream", ": comment\n\ndata: "+reply+"\n\n"),
		"sse with cr":       always(200, "text/event-stream", "data: "+reply+"\r\r"),
		"sse without end":   always(200, "text/event-stream", "data: "+reply),
		"sse other events":  always(200, "text/event-stream", "event: ping\ndata: x\n\nid: 1\ndata:\n\ndata: "+reply+"\n\n"),
		"sse in two lines":  always(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\"result\":"+helloResult+"}\n\n"),
		"sse notification first": always(200, "text/event-stream",
			`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`+"\n\ndata: "+reply+"\n\n"),
		"sse left open": onCall(func(w http.ResponseWriter, r *http.Request, id string, _ int) bool {
			events(w, fmt.Sprintf("data: "+reply+"\n\n", id))
			hang(r)
			return true
		}),
		"redirect 307": func(w http.ResponseWriter, r *http.Request, m *inMessage, _ int) bool {
			if r.URL.Path == "/moved" || m.Method != "tools/call" {
				return false
			}
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
			return true
		},
	}
	for name, on := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serveOdd(t, on)
			c := dial(t, httpConfig(srv.URL))
			for range 2 {
				res := call(t, c, "hello")
				wantText(t, res)
				if len(res.Findings) > 0 || res.Attempts != 1 {
					t.Errorf("attempts %d, findings %q", res.Attempts, res.Findings)
				}
			}
			if n := srv.count("GET"); n != 0 {
				t.Errorf("%d GET requests, want none", n)
			}
		})
	}
	t.Run("json as text/plain", func(t *testing.T) {
		t.Parallel()
		res := call(t, dial(t, httpConfig(serveOdd(t, always(200, "text/plain", reply)).URL)), "hello")
		wantText(t, res)
		wantFinding(t, res, `the answer is JSON, but its content type is "text/plain"`)
	})
}

// TestHTTPFaults has the rows about answers that are none. None is retried,
// and none harms the session.
func TestHTTPFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		on     func(http.ResponseWriter, *http.Request, *inMessage, int) bool
		class  mcpclient.Class
		status int
		body   string
	}{
		{name: "text/plain", on: always(200, "text/plain", "busy %s"), class: mcpclient.ClassProtocol, body: "busy 1000001"},
		{name: "html", on: always(200, "text/html", "<html>\n<b>Login</b>%.0s"), class: mcpclient.ClassProtocol, body: "<html> <b>Login</b>"},
		{name: "json array", on: always(200, "application/json", `[{"jsonrpc":"2.0","id":%s,"result":{}}]`), class: mcpclient.ClassProtocol, body: `[{"jsonrpc":"2.0","id":1000001,"result":{}}]`},
		{name: "empty", on: always(200, "application/json", ""), class: mcpclient.ClassProtocol},
		{name: "accepted", on: always(202, "application/json", ""), class: mcpclient.ClassProtocol},
		{name: "request", on: always(200, "application/json", `{"jsonrpc":"2.0","id":%s,"method":"ping"}`), class: mcpclient.ClassProtocol},
		{name: "no jsonrpc", on: always(200, "application/json", `{"id":%s,"result":{}}`), class: mcpclient.ClassProtocol},
		{name: "string id", on: always(200, "application/json", `{"jsonrpc":"2.0","id":"%s","result":{}}`), class: mcpclient.ClassProtocol},
		{name: "wrong id", on: always(200, "application/json", `{"jsonrpc":"2.0","id":9%s,"result":{}}`), class: mcpclient.ClassProtocol},
		{name: "string code", on: always(200, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":"x"}}`), class: mcpclient.ClassProtocol, body: `{"code":"x"}`},
		{name: "sse broken json", on: always(200, "text/event-stream", "data: {broken %s\n\n"), class: mcpclient.ClassProtocol, body: "{broken 1000001"},
		{name: "sse wrong id", on: always(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":7%s,\"result\":{}}\n\n"), class: mcpclient.ClassProtocol},
		{name: "bare 400", on: always(400, "text/plain", "no"), class: mcpclient.ClassTransport, status: 400, body: "no%!(EXTRA string=1000001)"},
		{name: "bare 404", on: always(404, "text/plain", ""), class: mcpclient.ClassTransport, status: 404},
		{name: "401", on: always(401, "text/plain", ""), class: mcpclient.ClassAuth, status: 401},
		{name: "403", on: always(403, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}`), class: mcpclient.ClassAuth, status: 403, body: `{"jsonrpc":"2.0","id":1000001,"error":{"code":-32000,"message":"no"}}`},
		{name: "400 with json-rpc", on: always(400, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no"}}`), class: mcpclient.ClassRPC, status: 400, body: `{"jsonrpc":"2.0","id":1000001,"error":{"code":-32602,"message":"no"}}`},
		{name: "500 with json-rpc", on: always(500, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no"}}`), class: mcpclient.ClassRPC, status: 500, body: `{"jsonrpc":"2.0","id":1000001,"error":{"code":-32602,"message":"no"}}`},
		{name: "200 with json-rpc", on: always(200, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`), class: mcpclient.ClassRPC},
		{name: "error with null id", on: always(200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}%.0s`), class: mcpclient.ClassRPC},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := serveOdd(t, once(1, tt.on))
			c := dial(t, httpConfig(srv.URL))
			e := callErr(t, c, "hello", tt.class)
			if e.Status != tt.status || e.Body != tt.body || e.Attempts != 1 {
				t.Errorf("status %d, body %q, attempts %d: %v", e.Status, e.Body, e.Attempts, e)
			}
			var rpc *mcpclient.RPCError
			if errors.As(e, &rpc) != (tt.class == mcpclient.ClassRPC) {
				t.Errorf("*RPCError is %v in %v", rpc, e)
			}
			wantText(t, call(t, c, "hello"))
			if n := c.Info().Reconnects; n != 0 {
				t.Errorf("%d reconnects, want 0", n)
			}
		})
	}
	t.Run("redirect of a POST to a GET", func(t *testing.T) {
		t.Parallel()
		srv := serveOdd(t, onCall(func(w http.ResponseWriter, r *http.Request, _ string, _ int) bool {
			http.Redirect(w, r, "/other?key=secret-key", http.StatusFound)
			return true
		}))
		e := callErr(t, dial(t, httpConfig(srv.URL)), "hello", mcpclient.ClassTransport)
		if !strings.Contains(e.Error(), "redirects to "+srv.URL+"/other") || strings.Contains(e.Error(), "redirects to "+srv.URL+"/other?") {
			t.Errorf("error: %v", e)
		}
	})
}

func TestHTTPTooLarge(t *testing.T) {
	t.Parallel()
	big := `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 100<<10) + `"}]}}`
	for name, on := range map[string]func(http.ResponseWriter, *http.Request, *inMessage, int) bool{
		"chunked": always(200, "application/json", big),
		"sized": onCall(func(w http.ResponseWriter, _ *http.Request, id string, _ int) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(big)+len(id)-2))
			answer(w, 200, "application/json", big, id)
			return true
		}),
		"sse":          always(200, "text/event-stream", "data: "+big+"\n\n"),
		"sse by lines": always(200, "text/event-stream", strings.Repeat("data: "+strings.Repeat("x", 8<<10)+"\n", 10)+"%s\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := httpConfig(serveOdd(t, once(1, on)).URL)
			cfg.MaxMessage = 64 << 10
			c := dial(t, cfg)
			e := callErr(t, c, "hello", mcpclient.ClassTooLarge)
			if e.Attempts != 1 || !strings.Contains(e.Error(), "larger than 65536 bytes") {
				t.Errorf("error: %v", e)
			}
			wantText(t, call(t, c, "hello"))
		})
	}
}

// TestHTTPRetried has the rows about what broke on the way.
func TestHTTPRetried(t *testing.T) {
	t.Parallel()
	tests := map[string]func(http.ResponseWriter, *http.Request, *inMessage, int) bool{
		"408": always(408, "text/plain", ""), "425": always(425, "text/plain", ""),
		"429": always(429, "text/plain", ""), "500": always(500, "text/plain", ""),
		"502": always(502, "text/html", ""), "503": always(503, "text/plain", ""),
		"504":          always(504, "text/plain", ""),
		"500 null id":  always(500, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}%.0s`),
		"500 json-rpc": always(500, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`),
		"503 json-rpc": always(503, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}`),
		"429 json-rpc": always(429, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}`),
		"dropped":      onCall(func(w http.ResponseWriter, _ *http.Request, _ string, _ int) bool { drop(w); return true }),
		"cut off": onCall(func(w http.ResponseWriter, _ *http.Request, _ string, _ int) bool {
			w.Header().Set("Content-Length", "1000")
			answer(w, 200, "application/json", `{"jsonrpc":"2.0",`+"%.0s", "")
			return true
		}),
		"sse without answer": always(200, "text/event-stream", "data:\n\n%.0s"),
		"sse cut off":        always(200, "text/event-stream", `data: {"jsonrpc":"2.0","id":%s,`),
		"sse broken off": onCall(func(w http.ResponseWriter, _ *http.Request, _ string, _ int) bool {
			events(w, ": hello\n\n")
			panic(http.ErrAbortHandler)
		}),
	}
	for name, on := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serveOdd(t, once(2, on))
			res := call(t, dial(t, httpConfig(srv.URL)), "hello")
			wantText(t, res)
			if res.Attempts != 3 || srv.count("tools/call") != 3 {
				t.Errorf("%d attempts, %d requests, want 3", res.Attempts, srv.count("tools/call"))
			}
			if status, _, _ := strings.Cut(name, " "); len(res.Retries) != 2 || status[0] < '6' && !strings.HasPrefix(res.Retries[0], "server answered "+status) {
				t.Errorf("retries %q do not name the reason", res.Retries)
			}
			// Without retries the same is an error.
			cfg := httpConfig(serveOdd(t, on).URL)
			cfg.Retries = -1
			if strings.HasPrefix(name, "429") {
				cfg.Timeouts.Call = soon // asked for patience, it has some
			}
			class := mcpclient.ClassTransport
			if name == "500 json-rpc" {
				class = mcpclient.ClassRPC // the last try is reported as what it was
			}
			e := callErr(t, dial(t, cfg), "hello", class)
			if e.Attempts != 1 && !strings.HasPrefix(name, "429") {
				t.Errorf("%d attempts, want 1", e.Attempts)
			}
		})
	}
}

func TestHTTPRetryAfter(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var times []time.Time
	srv := serveOdd(t, onCall(func(w http.ResponseWriter, _ *http.Request, _ string, n int) bool {
		mu.Lock()
		times = append(times, time.Now())
		mu.Unlock()
		if n > 1 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		answer(w, 503, "text/plain", "", "")
		return true
	}))
	wantText(t, call(t, dial(t, httpConfig(srv.URL)), "hello"))
	if gap := times[1].Sub(times[0]); gap < time.Second {
		t.Errorf("came back after %s, was asked to wait 1s", gap)
	}
	// A wait that the deadline does not allow is not begun.
	srv = serveOdd(t, onCall(func(w http.ResponseWriter, _ *http.Request, _ string, _ int) bool {
		w.Header().Set("Retry-After", "3600")
		answer(w, 429, "text/plain", "", "")
		return true
	}))
	e := callErr(t, dial(t, httpConfig(srv.URL)), "hello", mcpclient.ClassTransport)
	if e.Status != 429 || e.RetryAfter != time.Hour || e.Attempts != 1 {
		t.Errorf("status %d, retry after %s, attempts %d", e.Status, e.RetryAfter, e.Attempts)
	}
}

func TestHTTPAnswersAreNotRetried(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"isError": `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"isError":true}}`,
		"error":   `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"overloaded, try again"}}`,
	} {
		srv := serveOdd(t, always(200, "application/json", body))
		res, err := dial(t, httpConfig(srv.URL)).Call(t.Context(), "hello", nil)
		if name == "isError" && (err != nil || !res.IsError) {
			t.Errorf("%s: %v", name, err)
		}
		if n := srv.count("tools/call"); n != 1 {
			t.Errorf("%s: %d requests, want 1", name, n)
		}
	}
}

func TestHTTPTimeout(t *testing.T) {
	t.Parallel()
	t.Run("call", func(t *testing.T) {
		t.Parallel()
		srv := serveOdd(t, once(1, onCall(func(_ http.ResponseWriter, r *http.Request, _ string, _ int) bool {
			hang(r)
			return true
		})))
		c := dial(t, httpConfig(srv.URL))
		_, err := c.Call(withTimeout(t, soon), "hello", nil)
		if e := wantClass(t, err, mcpclient.OpCall, mcpclient.ClassTimeout); e.Attempts != 1 {
			t.Errorf("%d attempts", e.Attempts)
		}
		wantText(t, call(t, c, "hello"))
	})
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		srv := serveOdd(t, onCall(func(w http.ResponseWriter, r *http.Request, _ string, _ int) bool {
			events(w, ": wait\n\n")
			hang(r)
			return true
		}))
		cfg := httpConfig(srv.URL)
		cfg.Timeouts.Call = soon
		callErr(t, dial(t, cfg), "hello", mcpclient.ClassTimeout)
	})
	t.Run("connect", func(t *testing.T) {
		t.Parallel()
		srv := serveOdd(t, func(_ http.ResponseWriter, r *http.Request, _ *inMessage, _ int) bool { hang(r); return true })
		cfg := httpConfig(srv.URL)
		cfg.Timeouts.Probe, cfg.Timeouts.Connect = 50*time.Millisecond, soon
		_, err := mcpclient.Dial(t.Context(), cfg)
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTimeout)
	})
	t.Run("discover", func(t *testing.T) {
		t.Parallel()
		srv := serveOdd(t, func(_ http.ResponseWriter, r *http.Request, m *inMessage, _ int) bool {
			if m.Method == "server/discover" {
				hang(r)
				return true
			}
			return false
		})
		cfg := httpConfig(srv.URL)
		cfg.Timeouts.Probe = soon
		c := dial(t, cfg)
		wantText(t, call(t, c, "hello"))
		if info := c.Info(); info.Era != mcpclient.EraLegacy {
			t.Errorf("era is %s", info.Era)
		}
	})
}

func TestHTTPUnreachable(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nil)
	srv.Close()
	cfg := httpConfig(srv.URL)
	cfg.Retries = 1
	_, err := mcpclient.Dial(t.Context(), cfg)
	wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTransport)
}

// TestHTTPServerRequests has a server that pings before it answers.
func TestHTTPServerRequests(t *testing.T) {
	t.Parallel()
	ponged := make(chan struct{})
	srv := serveOdd(t, func(w http.ResponseWriter, _ *http.Request, m *inMessage, _ int) bool {
		switch {
		case m.Method == "tools/call":
			events(w, `data: {"jsonrpc":"2.0","id":"p1","method":"ping"}`+"\n\n")
			<-ponged
			fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%s,"result":`+helloResult+"}\n\n", m.ID)
			return true
		case string(m.ID) == `"p1"` && m.Result != nil:
			close(ponged)
			w.WriteHeader(202)
			return true
		}
		return false
	})
	wantText(t, call(t, dial(t, httpConfig(srv.URL)), "hello"))
}

// TestHTTPResume has a server that closes the stream and wants to be asked
// again, as 2025-11-25 allows.
func TestHTTPResume(t *testing.T) {
	t.Parallel()
	var id json.RawMessage
	srv := serveOdd(t, func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool {
		switch m.Method {
		case "tools/call":
			id = m.ID
			events(w, "id: e1\nretry: 1\ndata:\n\n")
			return true
		case "GET":
			if last := r.Header.Get("Last-Event-ID"); last != fmt.Sprintf("e%d", n) {
				w.WriteHeader(400)
			} else if n == 1 {
				events(w, "id: e2\ndata:\n\n")
			} else {
				events(w, fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"result":`+helloResult+"}\n\n", id))
			}
			return true
		}
		return false
	})
	res := call(t, dial(t, httpConfig(srv.URL)), "hello")
	wantText(t, res)
	if res.Attempts != 1 || srv.count("GET") != 2 {
		t.Errorf("%d attempts, %d GETs", res.Attempts, srv.count("GET"))
	}
}

func TestHTTPHeaders(t *testing.T) {
	t.Parallel()
	srv := serveOdd(t, nil)
	srv.session = true
	cfg := httpConfig(srv.URL)
	cfg.Headers = http.Header{"X-Api-Key": {"k-12345"}, "Accept": {"nonsense"}}
	cfg.Name, cfg.Version = "mettle", "9.9"
	c := dial(t, cfg)
	wantText(t, call(t, c, "hello"))
	want := map[string]string{
		"X-Api-Key": "k-12345", "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		"Mcp-Session-Id": "session-1", "Mcp-Protocol-Version": "2025-06-18", "User-Agent": "mettle/9.9", "Mcp-Method": "",
	}
	got := map[string]string{}
	for name := range want {
		got[name] = srv.headers("tools/call").Get(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if v := srv.headers("notifications/initialized").Get("Mcp-Protocol-Version"); v != "2025-06-18" {
		t.Errorf("version of the first message after the handshake is %q", v)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n := srv.count("DELETE"); n != 1 {
		t.Errorf("%d DELETE requests, want 1", n)
	}
}

// TestHTTPRedirectKeepsSecrets has a server that sends its clients to another
// origin, which must not see the credentials.
func TestHTTPRedirectKeepsSecrets(t *testing.T) {
	t.Parallel()
	other := serveOdd(t, nil)
	srv := serveOdd(t, onCall(func(w http.ResponseWriter, r *http.Request, _ string, _ int) bool {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		return true
	}))
	srv.session = true
	cfg := httpConfig(srv.URL + "?key=abcdefgh")
	cfg.Headers = http.Header{"Authorization": {"Bearer abcdef"}, "X-Api-Key": {"abcdef"}}
	res := call(t, dial(t, cfg), "hello")
	wantText(t, res)
	if !slices.ContainsFunc(res.Findings, func(f string) bool { return strings.Contains(f, "redirects to another host, "+other.URL) }) {
		t.Errorf("the redirect is not among the findings %q", res.Findings)
	}
	seen := other.headers("tools/call")
	for _, name := range []string{"Authorization", "X-Api-Key", "Mcp-Session-Id", "Referer"} {
		if seen.Get(name) != "" {
			t.Errorf("the other origin was sent %s", name)
		}
	}
}

// TestHTTPKeepsConnections checks that parallel calls share a set of
// connections instead of opening one each, for answers of both kinds.
func TestHTTPKeepsConnections(t *testing.T) {
	t.Parallel()
	reply := `{"jsonrpc":"2.0","id":%s,"result":` + helloResult + `}`
	for name, on := range map[string]func(http.ResponseWriter, *http.Request, *inMessage, int) bool{
		"json": nil, "sse": always(200, "text/event-stream", "data: "+reply+"\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var opened atomic.Int64
			srv := &odd{on: on, counts: map[string]int{}, live: map[string]bool{}, lastReq: map[string]http.Header{}}
			srv.Server = httptest.NewUnstartedServer(srv)
			srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					opened.Add(1)
				}
			}
			srv.Start()
			t.Cleanup(srv.Close)
			cfg := httpConfig(srv.URL)
			cfg.MaxConns = 32
			c := dial(t, cfg)
			var wg sync.WaitGroup
			for range 32 {
				wg.Go(func() {
					for range 20 {
						if _, err := c.Call(t.Context(), "hello", nil); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			// A few more than there are callers may be dialled by the time an
			// idle one turns up.
			if n := opened.Load(); n > 100 {
				t.Errorf("%d connections for 640 calls of 32 callers", n)
			}
		})
	}
}
