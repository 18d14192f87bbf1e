package mcpclient_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// servePlan is a server of the evaluation plan's shape: plain JSON over POST
// /mcp, version 2024-11-05 whatever is asked, no session, 200 with a null id
// for notifications, an HTML 404 for GET. Every tool answers with text.
func servePlan(t testing.TB, text string) *httptest.Server {
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	answer := fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var msg struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.Unmarshal(body, &msg); err != nil {
			http.Error(w, "<html>SyntaxError</html>", http.StatusBadRequest)
			return
		}
		result := ""
		switch msg.Method {
		case "initialize":
			result = `{"protocolVersion":"2024-11-05","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"crypto-docs","version":"2.0.0"}}`
		case "notifications/initialized":
			fmt.Fprint(w, `{"result":{},"id":null}`)
			return
		case "tools/list":
			result = planTools
		case "tools/call":
			result = answer
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":%s}`, idOrNull(msg.ID))
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","result":%s,"id":%s}`, result, idOrNull(msg.ID))
	})
	mux.HandleFunc("GET /mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<!DOCTYPE html><pre>Cannot GET /mcp</pre>")
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func idOrNull(id json.RawMessage) string {
	if len(id) == 0 {
		return "null"
	}
	return string(id)
}

const planTools = `{"tools":[
	{"name":"crypto_list_projects","description":"List projects","inputSchema":{"type":"object","properties":{}}},
	{"name":"crypto_search_docs","description":"Search","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"project":{"type":"string"}},"required":["query","project"]}}
]}`
