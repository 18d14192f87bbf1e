package mcpclient_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// TestReconnectShared checks that one new handshake serves all callers.
func TestReconnectShared(t *testing.T) {
	t.Parallel()
	for _, refusal := range []struct {
		name   string
		status int
		body   string
	}{
		{"404", 404, "Not Found%.0s"},
		{"400 in the wild", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID"}}%.0s`},
	} {
		t.Run(refusal.name, func(t *testing.T) {
			t.Parallel()
			var srv *odd
			srv = serveOdd(t, func(w http.ResponseWriter, r *http.Request, m *inMessage, _ int) bool {
				if m.Method != "tools/call" || srv.known(r.Header.Get("Mcp-Session-Id")) {
					return false
				}
				answer(w, refusal.status, "application/json", refusal.body, "")
				return true
			})
			srv.session = true
			c := dial(t, httpConfig(srv.URL))
			wantText(t, call(t, c, "hello"))
			srv.forget()
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					res, err := c.Call(t.Context(), "hello", nil)
					if err != nil {
						t.Errorf("call: %v", err)
						return
					}
					wantText(t, res)
				})
			}
			wg.Wait()
			if n := srv.count("initialize"); n != 2 || c.Info().Reconnects != 1 {
				t.Errorf("%d handshakes, %d reconnects, want 2 and 1", n, c.Info().Reconnects)
			}
			if n := srv.count("server/discover"); n != 1 {
				t.Errorf("the era was probed %d times, want once", n)
			}
		})
	}
}

// TestReconnectGivesUp has a server that loses every session at once. The call
// fails; it does not go round for ever.
func TestReconnectGivesUp(t *testing.T) {
	t.Parallel()
	srv := serveOdd(t, always(404, "text/plain", ""))
	srv.session = true
	c := dial(t, httpConfig(srv.URL))
	e := callErr(t, c, "hello", mcpclient.ClassTransport)
	if e.Status != 404 || e.Attempts != 3 {
		t.Errorf("status %d after %d attempts, want 404 after 3", e.Status, e.Attempts)
	}
}

// TestReconnectFails has a server that is gone for good.
func TestReconnectFails(t *testing.T) {
	t.Parallel()
	refuse := atomic.Bool{}
	srv := serveOdd(t, func(w http.ResponseWriter, _ *http.Request, m *inMessage, _ int) bool {
		if refuse.Load() && m.Method == "initialize" {
			answer(w, 401, "text/plain", "", "")
			return true
		}
		return false
	})
	srv.session = true
	c := dial(t, httpConfig(srv.URL))
	refuse.Store(true)
	srv.forget()
	callErr(t, c, "hello", mcpclient.ClassAuth)
	refuse.Store(false) // and back again
	wantText(t, call(t, c, "hello"))
}

// TestFlakyServer is the promise to the user: 20 % 429, 10 % 500, 5 % dropped
// connections, and every call gets its answer. The handshake and the list go
// through the same weather.
func TestFlakyServer(t *testing.T) {
	t.Parallel()
	srv := serveOdd(t, func(w http.ResponseWriter, _ *http.Request, _ *inMessage, _ int) bool {
		switch p := rand.IntN(100); {
		case p < 20:
			answer(w, 429, "text/plain", "", "")
		case p < 30:
			answer(w, 500, "text/plain", "", "")
		case p < 35:
			drop(w)
		default:
			return false
		}
		return true
	})
	c := dial(t, httpConfig(srv.URL))
	if _, err := c.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	left.Store(500)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				res, err := c.Call(t.Context(), "hello", nil)
				if err != nil {
					t.Errorf("call: %v", err)
					continue
				}
				wantText(t, res)
			}
		})
	}
	wg.Wait()
	if n := srv.count("tools/call"); n <= 500 {
		t.Errorf("%d requests for 500 calls: the server was not flaky", n)
	}
}

func TestParallelStdio(t *testing.T) {
	t.Parallel()
	c := dial(t, stdioConfig(t, "plain"))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				if res, err := c.Call(t.Context(), "hello", nil); err != nil || res.Text() != "hello" {
					t.Errorf("call: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestClosed(t *testing.T) {
	t.Parallel()
	c := dial(t, httpConfig(serveOdd(t, nil).URL))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, err := c.Call(t.Context(), "hello", nil)
	wantClass(t, err, mcpclient.OpCall, mcpclient.ClassCanceled)
	_, err = c.Tools(t.Context())
	wantClass(t, err, mcpclient.OpList, mcpclient.ClassCanceled)
}

// TestCloseEndsHTTPCalls closes while calls hang in a request, in a stream and
// in a wait.
func TestCloseEndsHTTPCalls(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 3)
	srv := serveOdd(t, onCall(func(w http.ResponseWriter, r *http.Request, _ string, n int) bool {
		arrived <- struct{}{}
		switch n {
		case 1:
			hang(r)
		case 2:
			events(w, ": wait\n\n")
			hang(r)
		default:
			w.Header().Set("Retry-After", "30")
			answer(w, 429, "text/plain", "", "")
		}
		return true
	}))
	c := dial(t, httpConfig(srv.URL))
	failed := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := c.Call(t.Context(), "hello", nil)
			failed <- err
		}()
	}
	for range 3 {
		<-arrived
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range 3 {
		wantClass(t, <-failed, mcpclient.OpCall, mcpclient.ClassCanceled)
	}
}

// TestCloseUnansweredDelete closes a session whose server does not answer.
func TestCloseUnansweredDelete(t *testing.T) {
	t.Parallel()
	srv := serveOdd(t, func(_ http.ResponseWriter, r *http.Request, m *inMessage, _ int) bool {
		if m.Method == http.MethodDelete {
			hang(r)
		}
		return m.Method == http.MethodDelete
	})
	srv.session = true
	cfg := httpConfig(srv.URL)
	cfg.Timeouts.Close = soon
	c := dial(t, cfg)
	if err := c.Close(); err != nil || srv.count("DELETE") != 1 {
		t.Errorf("close: %v, %d DELETEs", err, srv.count("DELETE"))
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]mcpclient.Config{
		"nothing":            {},
		"both":               {URL: "http://x", Command: []string{"x"}},
		"bad scheme":         {URL: "ftp://user:secret-word@x"},
		"bad url":            {URL: "http://x\x7f/secret-word"},
		"no host":            {URL: "http:///secret-word"},
		"empty command":      {Command: []string{""}},
		"unknown transport":  {URL: "http://x", Transport: "pigeon"},
		"stdio with url":     {URL: "http://x", Transport: "stdio"},
		"sse with command":   {Command: []string{"x"}, Transport: "sse"},
		"unknown version":    {URL: "http://x", Protocol: "2024-10-07"},
		"everything at once": {URL: "gopher://", Transport: "pigeon", Protocol: "1"},
	}
	for name, cfg := range tests {
		_, err := mcpclient.Dial(t.Context(), cfg)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		var e *mcpclient.Error
		if errors.As(err, &e) {
			t.Errorf("%s: a mistake in the config looks like one of the server: %v", name, err)
		}
		if got := fmt.Sprint(err); containsAny(got, "secret-word") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
