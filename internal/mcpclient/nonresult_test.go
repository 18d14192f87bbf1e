package mcpclient_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// TestAResultThatIsNoObjectIsNoAnswer: a server that breaks the protocol has
// not said anything that could pass or fail.
func TestAResultThatIsNoObjectIsNoAnswer(t *testing.T) {
	for _, result := range []string{`null`, `"hello"`, `[]`, `7`} {
		t.Run(result, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var req struct {
					ID     json.RawMessage `json:"id"`
					Method string          `json:"method"`
				}
				if json.NewDecoder(r.Body).Decode(&req) != nil || len(req.ID) == 0 {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				reply := result
				if req.Method == "initialize" {
					reply = `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, reply)
			}))
			defer srv.Close()
			c, err := mcpclient.Dial(t.Context(), mcpclient.Config{URL: srv.URL, Protocol: "2025-06-18", Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Call(t.Context(), "ask", nil)
			var e *mcpclient.Error
			if !errors.As(err, &e) || e.Class != mcpclient.ClassProtocol {
				t.Errorf("the call gives %v", err)
			}
		})
	}
}
