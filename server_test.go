package mettle_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// planServer is an MCP server of the shape that the documentation plan
// describes: plain JSON over POST /mcp, protocol 2024-11-05, no session, tools
// named crypto_*, answers with a metadata block and a source list. It can be
// made to answer late, or with HTTP errors and dropped connections.
type planServer struct {
	answers map[string]string
	latency time.Duration
	faults  map[string]int // percent of calls, by "429", "500" or "drop"
	echo    bool           // answer with the credential that was sent

	calls   atomic.Int64 // tools/call requests that were answered
	refused atomic.Int64 // those that got a fault instead
}

func (s *planServer) start() (url string, stop func()) {
	srv := httptest.NewServer(http.HandlerFunc(s.serve))
	return srv.URL, srv.Close
}

func (s *planServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/mcp" {
		http.Error(w, "<html>Cannot "+r.Method+"</html>", http.StatusNotFound)
		return
	}
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, "<html>SyntaxError</html>", http.StatusBadRequest)
		return
	}
	if len(req.ID) == 0 {
		fmt.Fprint(w, `{"jsonrpc":"2.0","result":{},"id":null}`)
		return
	}
	var result any
	switch req.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": "2024-11-05", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "plan", "version": "2.0.0"}}
	case "tools/list":
		result = map[string]any{"tools": s.tools()}
	case "tools/call":
		if s.fault(w) {
			return
		}
		time.Sleep(s.latency)
		result = s.call(req.Params.Name)
		if s.echo {
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "You are " + r.Header.Get("Authorization")}}}
		}
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found: %s"}}`, req.ID, req.Method)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result})
}

func (s *planServer) tools() (out []any) {
	for _, name := range []string{"ask_docs", "get_working_example", "explain_error", "search_docs", "list_projects"} {
		out = append(out, map[string]any{"name": "crypto_" + name, "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"project": map[string]any{"type": "string"}}}})
	}
	return out
}

func (s *planServer) call(name string) any {
	s.calls.Add(1)
	text, ok := s.answers[name]
	if !ok {
		text, ok = s.answers["any"]
	}
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": !ok}
}

// fault answers a call badly as often as it was asked to, in a fixed pattern:
// of every hundred calls, so many of each kind.
func (s *planServer) fault(w http.ResponseWriter) bool {
	if len(s.faults) == 0 {
		return false
	}
	at := int(s.refused.Load()+s.calls.Load()) * 37 % 100
	for _, kind := range []string{"429", "500", "drop"} {
		if at < s.faults[kind] {
			s.refused.Add(1)
			breakAnswer(w, kind)
			return true
		}
		at -= s.faults[kind]
	}
	return false
}

func breakAnswer(w http.ResponseWriter, kind string) {
	switch kind {
	case "429":
		w.Header().Set("Retry-After", "0")
		http.Error(w, "slow down", http.StatusTooManyRequests)
	case "500":
		http.Error(w, "oops", http.StatusInternalServerError)
	case "drop":
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}
