package docserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/docserver"
)

// source is what these tests look at in a source of structured content.
type source struct {
	N              int
	Title, Section string
	URL, Path      string
	Type           string
}

// answer is what these tests look at in the structured content of an answer.
type answer struct {
	Text       string
	Confidence int
	Sources    []source
}

// page is a small Markdown page.
func page(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// pages are about two projects that share most of their words.
func pages() fstest.MapFS {
	return fstest.MapFS{
		"acme/install.md": page("---\ntitle: Install the anvil\nurl: https://acme.example/install\n---\n\n" +
			"Unpack the anvil and mount it on a block.\n\n## Mount\n\nUse four bolts:\n\n```go\nanvil.Mount(4)\n```\n"),
		"acme/errors.md": page("# Errors of the anvil\n\n## anvil error: 0x1\n\nA bolt is loose. Tighten the bolts of the anvil.\n"),
		"zenith/install.md": page("---\ntitle: Install the lamp\nurl: https://zenith.example/install\n---\n\n" +
			"Unpack the lamp and mount it on the ceiling with bolts. Zenith lamps glow.\n"),
	}
}

func load(t testing.TB, fsys fs.FS) *docserver.Index {
	t.Helper()
	ix, skipped, err := docserver.Load(context.Background(), fsys)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err, skipped)
	}
	return ix
}

// options are those of the built-in server, with a clock that stands still.
func options() docserver.Options {
	return docserver.Options{Prefix: "crypto_", Version: "1.2.3", Now: func() time.Time { return time.Unix(1, 0) }}
}

func newServer(t testing.TB, fsys fs.FS, change func(*docserver.Options)) *docserver.Server {
	t.Helper()
	o := options()
	if change != nil {
		change(&o)
	}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	s := docserver.New(load(t, fsys), o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// serve serves pages over HTTP and gives the address.
func serve(t testing.TB, fsys fs.FS, change func(*docserver.Options)) (url string) {
	t.Helper()
	h := httptest.NewServer(newServer(t, fsys, change).Handler())
	t.Cleanup(h.Close)
	return h.URL + "/mcp"
}

// connect opens a session of the SDK's client.
func connect(t testing.TB, url string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool that has to succeed.
func call(t testing.TB, client *mcp.ClientSession, tool string, args map[string]any) (out answer) {
	t.Helper()
	res := result(t, client, tool, args)
	if res.IsError {
		t.Fatalf("%s: %s", tool, text(res))
	}
	if err := remarshal(res.StructuredContent, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func result(t testing.TB, client *mcp.ClientSession, tool string, args any) *mcp.CallToolResult {
	t.Helper()
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	if len(res.Content) == 1 {
		if c, ok := res.Content[0].(*mcp.TextContent); ok {
			return c.Text
		}
	}
	return ""
}

func remarshal(from, to any) error {
	b, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// post sends a body as a plain HTTP client would.
func post(t testing.TB, url, body string, header http.Header) (status int, reply string, got http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header[k] = v
	}
	if h := header.Get("Host"); h != "" {
		req.Host = h
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, b.String(), res.Header
}
