package mcpclient_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// TestSDKServers talks to servers of the official SDK over every transport and
// in every version.
func TestSDKServers(t *testing.T) {
	t.Parallel()
	get := func(*http.Request) *mcp.Server { return newSDKServer() }
	handlers := map[string]http.Handler{
		"stateful":       mcp.NewStreamableHTTPHandler(get, nil),
		"stateful json":  mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true}),
		"stateless":      mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}),
		"stateless json": mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}),
		"sse":            mcp.NewSSEHandler(get, nil),
	}
	configs := map[string]func(t *testing.T) mcpclient.Config{
		"stdio": func(t *testing.T) mcpclient.Config { return stdioConfig(t, "sdk") },
	}
	for name, h := range handlers {
		configs[name] = func(t *testing.T) mcpclient.Config {
			srv := httptest.NewServer(h)
			t.Cleanup(srv.Close)
			return httpConfig(srv.URL)
		}
	}
	for name, config := range configs {
		for _, version := range append([]string{""}, mcp.SupportedProtocolVersions()...) {
			// The SDK's servers with sessions are of the legacy era.
			legacy := name == "sse" || strings.HasPrefix(name, "stateful")
			if legacy && version == "2026-07-28" {
				continue
			}
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				cfg := config(t)
				cfg.Protocol = version
				c := testSDKServer(t, cfg)
				want := mcpclient.EraModern
				if legacy || version != "" && version < "2026-07-28" {
					want = mcpclient.EraLegacy
				}
				if info := c.Info(); info.Era != want || version != "" && info.Protocol != version {
					t.Errorf("era %s, version %s", info.Era, info.Protocol)
				}
			})
		}
	}
}

func testSDKServer(t *testing.T, cfg mcpclient.Config) *mcpclient.Client {
	t.Helper()
	c := dial(t, cfg)
	checkSDKTools(t, c)
	info := c.Info()
	if info.Name != "sdk-fixture" || info.Version != "4.5.6" || info.Instructions != "Call hello." {
		t.Errorf("info: %+v", info)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if res, err := c.Call(t.Context(), "hello", nil); err != nil || res.Text() != "hello" {
				t.Errorf("call: %v", err)
			}
		})
	}
	wg.Wait()
	if res := call(t, c, "structured"); string(res.Structured) != `{"text":"hello"}` {
		t.Errorf("structured content is %s", res.Structured)
	}
	checkEverything(t, call(t, c, "everything"))
	callErr(t, c, "no-such-tool", mcpclient.ClassRPC)
	res, err := c.Call(t.Context(), "hello", json.RawMessage(`{"surplus":1}`))
	if err != nil || !res.IsError {
		t.Errorf("bad arguments: %v", err)
	}
	if n := c.Info().Reconnects; n != 0 {
		t.Errorf("%d reconnects", n)
	}
	return c
}

func checkSDKTools(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	tools, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
		if !json.Valid(tool.InputSchema) {
			t.Errorf("input schema of %s is %q", tool.Name, tool.InputSchema)
		}
	}
	if diff := cmp.Diff([]string{"everything", "hello", "structured"}, names); diff != "" {
		t.Errorf("tools, of two pages (-want +got):\n%s", diff)
	}
	last := tools[len(tools)-1]
	if last.OutputSchema == nil || last.Annotations.ReadOnly == nil || !*last.Annotations.ReadOnly {
		t.Errorf("output schema %s, annotations %+v", last.OutputSchema, last.Annotations)
	}
}

func checkEverything(t *testing.T, res *mcpclient.Result) {
	t.Helper()
	got := make([]mcpclient.Part, len(res.Parts))
	for i, p := range res.Parts {
		got[i] = p
		got[i].Raw = nil
	}
	want := []mcpclient.Part{
		{Type: "text", Text: "hello"},
		{Type: "image", MIME: "image/png"},
		{Type: "audio", MIME: "audio/wav"},
		{Type: "resource_link", URI: "file:///a", Name: "a"},
		{Type: "resource", URI: "file:///b", MIME: "text/plain", Text: "inside"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(res.Findings) > 0 {
		t.Errorf("findings %q, parts (-want +got):\n%s", res.Findings, diff)
	}
}
