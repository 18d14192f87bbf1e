package mcpclient_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// An oldServer speaks HTTP+SSE: GET /sse is the stream, messages go to
// /messages, POST /sse is refused.
type oldServer struct {
	*httptest.Server
	endpoint string
	refusal  int
	// on may take over a message; say writes an event to the stream.
	on func(w http.ResponseWriter, m *inMessage, n int, say func(string)) bool

	mu      sync.Mutex
	calls   int
	streams int
	stream  chan string
	end     chan struct{}
}

func serveOld(t testing.TB, on func(w http.ResponseWriter, m *inMessage, n int, say func(string)) bool) *oldServer {
	o := &oldServer{endpoint: "/messages?s=1", refusal: 405, on: on}
	o.Server = httptest.NewServer(o)
	t.Cleanup(func() { o.cut(); o.Server.Close() })
	return o
}

// cut ends the current stream.
func (o *oldServer) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil {
		close(o.end)
		o.end = nil
	}
}

func (o *oldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
		o.serveStream(w, r)
	case r.URL.Path == "/messages":
		o.serveMessage(w, r)
	default:
		w.WriteHeader(o.refusal)
	}
}

func (o *oldServer) serveStream(w http.ResponseWriter, r *http.Request) {
	stream, end := make(chan string, 100), make(chan struct{})
	o.mu.Lock()
	o.stream, o.end = stream, end
	o.streams++
	o.mu.Unlock()
	events(w, "event: endpoint\ndata: "+o.endpoint+"\n\n")
	for {
		select {
		case text := <-stream:
			events(w, text)
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (o *oldServer) serveMessage(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m inMessage
	_ = json.Unmarshal(body, &m)
	o.mu.Lock()
	stream := o.stream
	if m.Method == "tools/call" {
		o.calls++
	}
	n := o.calls
	o.mu.Unlock()
	say := func(data string) { stream <- "event: message\ndata: " + data + "\n\n" }
	if o.on != nil && o.on(w, &m, n, say) {
		return
	}
	w.WriteHeader(http.StatusAccepted)
	result := ""
	switch m.Method {
	case "initialize":
		result = initResult("2024-11-05")
	case "tools/list":
		result = `{"tools":[{"name":"hello","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = helloResult
	default:
		return
	}
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

// TestSSEFallback reaches an older server in auto mode, whatever it says to a
// POST it does not know.
func TestSSEFallback(t *testing.T) {
	t.Parallel()
	for _, refusal := range []int{400, 404, 405} {
		t.Run(fmt.Sprint(refusal), func(t *testing.T) {
			t.Parallel()
			srv := serveOld(t, nil)
			srv.refusal = refusal
			c := dial(t, httpConfig(srv.URL+"/sse"))
			wantText(t, call(t, c, "hello"))
			if info := c.Info(); info.Transport != mcpclient.TransportSSE || info.Protocol != "2024-11-05" {
				t.Errorf("transport %s, version %s", info.Transport, info.Protocol)
			}
		})
	}
	t.Run("neither", func(t *testing.T) {
		t.Parallel()
		srv := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(srv.Close)
		_, err := mcpclient.Dial(t.Context(), httpConfig(srv.URL))
		e := wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTransport)
		if e.Status != 404 || !strings.Contains(e.Error(), "neither streamable HTTP nor HTTP+SSE") {
			t.Errorf("error: %v", e)
		}
	})
	t.Run("not asked for", func(t *testing.T) {
		t.Parallel()
		srv := serveOld(t, nil)
		cfg := httpConfig(srv.URL + "/sse")
		cfg.Transport = mcpclient.TransportStreamable
		_, err := mcpclient.Dial(t.Context(), cfg)
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTransport)
	})
}

func sseConfig(url string) mcpclient.Config {
	cfg := httpConfig(url + "/sse")
	cfg.Transport = mcpclient.TransportSSE
	return cfg
}

// TestSSEOpening has what can go wrong before there is a session.
func TestSSEOpening(t *testing.T) {
	t.Parallel()
	t.Run("no stream", func(t *testing.T) {
		t.Parallel()
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
		t.Cleanup(srv.Close)
		_, err := mcpclient.Dial(t.Context(), sseConfig(srv.URL))
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassProtocol)
	})
	t.Run("endpoint of another origin", func(t *testing.T) {
		t.Parallel()
		srv := serveOld(t, nil)
		srv.endpoint = "http://evil.example/messages"
		_, err := mcpclient.Dial(t.Context(), sseConfig(srv.URL))
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassProtocol)
	})
	t.Run("silent stream", func(t *testing.T) {
		t.Parallel()
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { events(w, ": x\n\n"); hang(r) }))
		t.Cleanup(srv.Close)
		cfg := sseConfig(srv.URL)
		cfg.Timeouts.Connect = soon
		_, err := mcpclient.Dial(t.Context(), cfg)
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTimeout)
	})
	t.Run("notification refused", func(t *testing.T) {
		t.Parallel()
		srv := serveOld(t, func(w http.ResponseWriter, m *inMessage, _ int, _ func(string)) bool {
			if m.Method == "notifications/initialized" {
				w.WriteHeader(400)
				return true
			}
			return false
		})
		cfg := sseConfig(srv.URL)
		_, err := mcpclient.Dial(t.Context(), cfg)
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTransport)
		cfg.LenientNotifications = true
		wantText(t, call(t, dial(t, cfg), "hello"))
	})
}

// TestSSEAnswers has odd answers on the long stream.
func TestSSEAnswers(t *testing.T) {
	t.Parallel()
	t.Run("message refused", func(t *testing.T) {
		t.Parallel()
		srv := serveOld(t, func(w http.ResponseWriter, m *inMessage, n int, _ func(string)) bool {
			if m.Method == "tools/call" && n <= 2 {
				w.WriteHeader(503)
				return true
			}
			return false
		})
		res := call(t, dial(t, sseConfig(srv.URL)), "hello")
		if wantText(t, res); res.Attempts != 3 {
			t.Errorf("%d attempts, want 3", res.Attempts)
		}
	})
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		srv := serveOld(t, func(w http.ResponseWriter, m *inMessage, n int, say func(string)) bool {
			if m.Method != "tools/call" || n > 2 {
				return false
			}
			w.WriteHeader(202)
			big := strings.Repeat("x", 100<<10)
			if n == 1 {
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"%s"}`, m.ID, big))
			} else {
				say(fmt.Sprintf(`{"result":"%s","jsonrpc":"2.0","id":%s}`, big, m.ID))
			}
			return true
		})
		cfg := sseConfig(srv.URL)
		cfg.MaxMessage = 64 << 10
		c := dial(t, cfg)
		callErr(t, c, "hello", mcpclient.ClassTooLarge)
		callErr(t, c, "hello", mcpclient.ClassTooLarge)
		wantText(t, call(t, c, "hello"))
		if n := c.Info().Reconnects; n != 0 {
			t.Errorf("%d reconnects", n)
		}
	})
	t.Run("no jsonrpc", func(t *testing.T) {
		t.Parallel()
		srv := serveOld(t, func(w http.ResponseWriter, m *inMessage, n int, say func(string)) bool {
			if m.Method == "tools/call" && n == 1 {
				say("garbage")
				say(fmt.Sprintf(`{"id":%s,"result":{}}`, m.ID))
				return true
			}
			return false
		})
		c := dial(t, sseConfig(srv.URL))
		callErr(t, c, "hello", mcpclient.ClassProtocol)
		wantText(t, call(t, c, "hello"))
	})
}

// TestSSENoAnswer has streams that end or stay silent.
func TestSSENoAnswer(t *testing.T) {
	t.Parallel()
	t.Run("stream ends", func(t *testing.T) {
		t.Parallel()
		var srv *oldServer
		srv = serveOld(t, func(w http.ResponseWriter, m *inMessage, n int, _ func(string)) bool {
			if m.Method == "tools/call" && n == 1 {
				w.WriteHeader(202)
				srv.cut()
				return true
			}
			return false
		})
		c := dial(t, sseConfig(srv.URL))
		res := call(t, c, "hello")
		if wantText(t, res); res.Attempts != 2 || c.Info().Reconnects != 1 || srv.streams != 2 {
			t.Errorf("%d attempts, %d reconnects, %d streams", res.Attempts, c.Info().Reconnects, srv.streams)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		cancelled := make(chan struct{}, 1)
		srv := serveOld(t, func(w http.ResponseWriter, m *inMessage, _ int, _ func(string)) bool {
			if m.Method == "notifications/cancelled" {
				cancelled <- struct{}{}
			}
			return m.Method == "tools/call"
		})
		c := dial(t, sseConfig(srv.URL))
		_, err := c.Call(withTimeout(t, soon), "hello", nil)
		wantClass(t, err, mcpclient.OpCall, mcpclient.ClassTimeout)
		<-cancelled
	})
}
