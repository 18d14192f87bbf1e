package docserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/docserver"
)

const plainCall = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
	"name": "crypto_ask_docs", "arguments": {"question": "How do I mount the anvil?", "project": "acme"}}}`

// TestPlainClient posts JSON as a small script would: no session, no
// initialize, and an Accept header or none.
func TestPlainClient(t *testing.T) {
	url := serve(t, pages(), nil)
	want := text(result(t, connect(t, url), "crypto_ask_docs", map[string]any{"question": "How do I mount the anvil?", "project": "acme"}))
	for _, accept := range []string{"", "*/*", "application/json", "application/json, text/event-stream", "text/html, */*;q=0.8"} {
		status, body, header := post(t, url, plainCall, http.Header{"Accept": {accept}})
		var reply struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(body), &reply); err != nil || status != http.StatusOK || len(reply.Result.Content) != 1 {
			t.Fatalf("Accept %q: %d %s", accept, status, body)
		}
		if diff := cmp.Diff(want, reply.Result.Content[0].Text); diff != "" {
			t.Errorf("Accept %q (-want +got)\n%s", accept, diff)
		}
		if got := header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %q", got)
		}
	}
	for name, body := range map[string]string{
		"initialize": `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}}`,
		"list":       `{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`,
		"ping":       `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`,
	} {
		if status, reply, _ := post(t, url, body, nil); status != http.StatusOK || !strings.Contains(reply, `"result"`) {
			t.Errorf("%s: %d %s", name, status, reply)
		}
	}
}

// TestOnlyTools wants what is not announced to be refused, not to be empty.
func TestOnlyTools(t *testing.T) {
	url := serve(t, pages(), nil)
	for _, method := range []string{"prompts/list", "prompts/get", "resources/list", "resources/templates/list"} {
		_, reply, _ := post(t, url, `{"jsonrpc": "2.0", "id": 1, "method": "`+method+`", "params": {"name": "x", "uri": "x:y"}}`, nil)
		if !strings.Contains(reply, `"code":-32601`) {
			t.Errorf("%s: %s", method, reply)
		}
	}
}

func TestRefusals(t *testing.T) {
	open := serve(t, pages(), func(o *docserver.Options) { o.Origins = []string{"https://docs.example"} })
	shut := serve(t, pages(), func(o *docserver.Options) { o.Token = "s3cret" })
	for _, tc := range []struct {
		name   string
		url    string
		header http.Header
		status int
	}{
		{"no origin", open, nil, 200},
		{"this machine's pages", open, http.Header{"Origin": {"http://localhost:5173"}}, 200},
		{"loopback address", open, http.Header{"Origin": {"http://127.0.0.1:5173"}}, 200},
		{"loopback address of IPv6", open, http.Header{"Origin": {"http://[::1]:5173"}}, 200},
		{"origin that was let in", open, http.Header{"Origin": {"https://docs.example"}}, 200},
		{"other origin", open, http.Header{"Origin": {"https://evil.example"}}, 403},
		{"origin that starts like one", open, http.Header{"Origin": {"http://localhost.evil.example"}}, 403},
		{"no address", open, http.Header{"Origin": {"null"}}, 403},
		{"name that points here", open, http.Header{"Host": {"evil.example"}}, 403},
		{"name that points here, with a port", open, http.Header{"Host": {"evil.example:3000"}}, 403},
		{"localhost", open, http.Header{"Host": {"localhost:3000"}}, 200},
		{"localhost without port", open, http.Header{"Host": {"localhost"}}, 200},
		{"IPv6", open, http.Header{"Host": {"[::1]:3000"}}, 200},
		{"IPv6 without port", open, http.Header{"Host": {"[::1]"}}, 200},
		{"no token", shut, nil, 401},
		{"wrong token", shut, http.Header{"Authorization": {"Bearer s3cre"}}, 401},
		{"other scheme", shut, http.Header{"Authorization": {"Basic s3cret"}}, 401},
		{"token", shut, http.Header{"Authorization": {"Bearer s3cret"}}, 200},
		{"token, small letters", shut, http.Header{"Authorization": {"bearer s3cret"}}, 200},
		{"other content type", open, http.Header{"Content-Type": {"text/plain"}}, 415},
		{"only HTML wanted", open, http.Header{"Accept": {"text/html"}}, 400},
	} {
		status, body, header := post(t, tc.url, plainCall, tc.header)
		if status != tc.status {
			t.Errorf("%s: %d %s, want %d", tc.name, status, body, tc.status)
		}
		if status == http.StatusUnauthorized && !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%s: no challenge", tc.name)
		}
		if origin := tc.header.Get("Origin"); origin != "" && status == http.StatusOK && header.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("%s: a browser would not let its page read this", tc.name)
		}
	}
	for size, want := range map[int]int{1<<20 - len(plainCall): 200, 1 << 20: 413, 8 << 20: 413} {
		if status, body, _ := post(t, open, plainCall+strings.Repeat(" ", size), nil); status != want {
			t.Errorf("%d bytes: %d %s, want %d", size, status, body, want)
		}
	}
}

// TestPreflight asks what a browser asks before it lets a page post JSON.
func TestPreflight(t *testing.T) {
	url := serve(t, pages(), func(o *docserver.Options) { o.Token = "s3cret" })
	for origin, want := range map[string]int{"http://localhost:5173": http.StatusNoContent, "https://evil.example": http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		req.Header.Set("Access-Control-Request-Method", "POST")
		req.Header.Set("Access-Control-Request-Headers", "authorization,content-type,mcp-protocol-version")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", origin, res.StatusCode, want)
		}
		if got := res.Header.Get("Access-Control-Allow-Headers"); want == http.StatusNoContent && got != "authorization,content-type,mcp-protocol-version" {
			t.Errorf("headers %q", got)
		}
	}
}

func TestHealth(t *testing.T) {
	open := strings.TrimSuffix(serve(t, pages(), nil), "/mcp")
	shut := strings.TrimSuffix(serve(t, pages(), func(o *docserver.Options) { o.Token = "s3cret" }), "/mcp")
	for url, want := range map[string]string{
		open: `{"projects":["acme","zenith"],"server":"mettle-docs","status":"ok","version":"1.2.3"}` + "\n",
		shut: `{"server":"mettle-docs","status":"ok","version":"1.2.3"}` + "\n",
	} {
		res, err := http.Get(url + "/health")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || string(b) != want {
			t.Errorf("%d %s %v, want %s", res.StatusCode, b, err, want)
		}
	}
	for path, want := range map[string]int{"/mcp": 405, "/": 404, "/other": 404} {
		res, err := http.Get(open + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, res.StatusCode, want)
		}
	}
}

// TestServe stops a server while it answers a call and holds a stream. The call
// is answered, the stream ends, nothing new is let in.
func TestServe(t *testing.T) {
	s := newServer(t, pages(), nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	call := startPost(t, l.Addr().String(), plainCall, "")
	modern := startPost(t, l.Addr().String(), `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "crypto_ask_docs",
		"arguments": {"question": "How do I mount the anvil?", "project": "acme"}, "_meta": {`+modernMeta+`}}}`,
		modernHeader("tools/call")+"Mcp-Name: crypto_ask_docs\r\n")
	stream := startPost(t, l.Addr().String(), `{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {},
		"_meta": {`+modernMeta+`}}}`, modernHeader("subscriptions/listen"))
	stream.send()
	if head := stream.line(); !strings.Contains(head, "200 OK") {
		t.Fatalf("the stream was not opened: %s", head)
	}
	cancel() // while the server waits for the bodies of the calls
	call.send()
	modern.send()
	for name, c := range map[string]*rawPost{"call": call, "modern call": modern} {
		if reply := c.rest(); !strings.Contains(reply, "Mount") {
			t.Errorf("%s that was under way got %q", name, reply)
		}
	}
	stream.rest()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the server still listens")
	}
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}`

func modernHeader(method string) string {
	return "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n"
}

// rawPost is a request of which the server has the head and waits for the body.
type rawPost struct {
	t      *testing.T
	body   string
	conn   net.Conn
	reader *bufio.Reader
}

func startPost(t *testing.T, addr, body, header string) *rawPost {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	p := &rawPost{t, body, conn, bufio.NewReader(conn)}
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"%sExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", header, len(body))
	if err != nil {
		t.Fatal(err)
	}
	if line := p.line(); !strings.Contains(line, "100 Continue") {
		t.Fatal(line)
	}
	p.line()
	return p
}

func (p *rawPost) send() {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, p.body); err != nil {
		p.t.Fatal(err)
	}
}

func (p *rawPost) line() string {
	p.t.Helper()
	line, err := p.reader.ReadString('\n')
	if err != nil {
		p.t.Fatal(line, err)
	}
	return line
}

func (p *rawPost) rest() string {
	p.t.Helper()
	b, err := io.ReadAll(p.reader)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// TestServeFails wants an error that is not the stopping to be told.
func TestServeFails(t *testing.T) {
	s := newServer(t, pages(), nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := s.Serve(t.Context(), l); err == nil {
		t.Error("no error from a listener that is closed")
	}
}

// TestSlowBodies: a client that sends its body a byte at a time does not hold
// its connection for ever, with the token or without it.
func TestSlowBodies(t *testing.T) {
	for _, token := range []string{"", "secret"} {
		url := serve(t, pages(), func(o *docserver.Options) { o.BodyTime, o.Token = 300*time.Millisecond, token })
		host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", host)
		go func() {
			for range 100 { // well below the length
				time.Sleep(50 * time.Millisecond)
				if _, err := conn.Write([]byte(" ")); err != nil {
					return
				}
			}
		}()
		if err := conn.SetReadDeadline(time.Now().Add(4 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("token %q: the connection is still open after %q", token, answer)
		}
	}
}
