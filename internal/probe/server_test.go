package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// A rawServer answers with the JSON it was given, however wrong that is.
type rawServer struct {
	hello string // result of initialize
	list  string // result of tools/list, or an error as {"error": …}

	mu      sync.Mutex
	methods []string
}

const plainHello = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1.0"}}`

func (s *rawServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	s.methods = append(s.methods, req.Method)
	s.mu.Unlock()
	if req.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer := `"error":{"code":-32601,"message":"Method not found"}`
	switch req.Method {
	case "initialize":
		answer = `"result":` + s.hello
	case "tools/list":
		if answer = `"result":` + s.list; errorOnly(s.list) {
			answer = s.list[1 : len(s.list)-1]
		}
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, req.ID, answer)
}

func errorOnly(text string) bool {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal([]byte(text), &e) == nil && e.Error != nil
}

// inspect looks at a server over HTTP. Durations, which differ from run to
// run, are made the same.
func inspect(t *testing.T, s *rawServer) (*Report, []mcpclient.Tool) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	c, err := mcpclient.Dial(t.Context(), mcpclient.Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tools, err := c.Tools(t.Context())
	info := c.Info()
	info.Target, info.Connect, info.List = "http://server.example/mcp", 12_000_000, 3_000_000
	r := Inspect(info, tools, err)
	if slices.Contains(s.methods, "tools/call") {
		t.Error("a tool was called")
	}
	return r, tools
}
