package mcpclient_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// An odd server answers like a plain one of the legacy era, except for what on
// takes over.
type odd struct {
	*httptest.Server
	// on may answer a message. n counts the messages of this method from 1.
	on func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool
	// session makes the server hand out session ids and insist on them.
	session bool

	mu      sync.Mutex
	counts  map[string]int
	live    map[string]bool // sessions
	lastReq map[string]http.Header
}

func serveOdd(t testing.TB, on func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool) *odd {
	o := &odd{on: on, counts: map[string]int{}, live: map[string]bool{}, lastReq: map[string]http.Header{}}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

// onCall makes a handler for tools/call alone.
func onCall(do func(w http.ResponseWriter, r *http.Request, id string, n int) bool) func(http.ResponseWriter, *http.Request, *inMessage, int) bool {
	return func(w http.ResponseWriter, r *http.Request, m *inMessage, n int) bool {
		return m.Method == "tools/call" && do(w, r, string(m.ID), n)
	}
}

// always answers every call with the same status, content type and body, in
// which %s stands for the id.
func always(status int, contentType, body string) func(http.ResponseWriter, *http.Request, *inMessage, int) bool {
	return onCall(func(w http.ResponseWriter, _ *http.Request, id string, _ int) bool {
		answer(w, status, contentType, body, id)
		return true
	})
}

func answer(w http.ResponseWriter, status int, contentType, body, id string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	if body != "" {
		fmt.Fprintf(w, body, id)
	}
}

// once is on for the first n calls, and good afterwards.
func once(n int, on func(http.ResponseWriter, *http.Request, *inMessage, int) bool) func(http.ResponseWriter, *http.Request, *inMessage, int) bool {
	return func(w http.ResponseWriter, r *http.Request, m *inMessage, nth int) bool {
		return nth <= n && on(w, r, m, nth)
	}
}

func (o *odd) count(method string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts[method]
}

func (o *odd) headers(method string) http.Header {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lastReq[method]
}

// forget ends all sessions.
func (o *odd) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.live)
}

func (o *odd) note(method string, h http.Header) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[method]++
	o.lastReq[method] = h.Clone()
	return o.counts[method]
}

func (o *odd) known(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.live[id]
}

func (o *odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		n := o.note(r.Method, r.Header)
		if o.on == nil || !o.on(w, r, &inMessage{Method: r.Method}, n) {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m inMessage
	_ = json.Unmarshal(body, &m)
	n := o.note(m.Method, r.Header)
	if o.on != nil && o.on(w, r, &m, n) {
		return
	}
	if o.session && m.Method != "initialize" && m.Method != "server/discover" && !o.known(r.Header.Get("Mcp-Session-Id")) {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	o.behave(w, &m, n)
}

func (o *odd) behave(w http.ResponseWriter, m *inMessage, n int) {
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		if o.session {
			id := fmt.Sprintf("session-%d", n)
			o.mu.Lock()
			o.live[id] = true
			o.mu.Unlock()
			w.Header().Set("Mcp-Session-Id", id)
		}
		result = initResult("2025-06-18")
	case "tools/list":
		result = `{"tools":[{"name":"hello","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = helloResult
	default:
		answer(w, http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, string(m.ID))
		return
	}
	answer(w, http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":%s,"result":`+result+`}`, string(m.ID))
}

// drop closes the connection without an answer.
func drop(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// hang keeps a request open until the client gives up.
func hang(r *http.Request) { <-r.Context().Done() }

// events starts an event stream and writes the given events.
func events(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, text)
	w.(http.Flusher).Flush()
}

func httpConfig(url string) mcpclient.Config {
	return mcpclient.Config{URL: url, Timeouts: mcpclient.Timeouts{Probe: 20 * time.Second}}
}

func wantFinding(t testing.TB, res *mcpclient.Result, want string) {
	t.Helper()
	if !slices.Contains(res.Findings, want) {
		t.Errorf("findings %q do not contain %q", res.Findings, want)
	}
}
