//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answer is what the server says to every question.
const answer = "o1js is a TypeScript library for writing zero-knowledge programs [Source 1]. You describe a computation with its types, " +
	"it turns the description into a circuit, and anyone with the right inputs can make a proof that the computation was done.\n\n" +
	"---\n<response_metadata>\n```json\n{\"confidence\": 80, \"sourcesUsed\": 1}\n```\n</response_metadata>\n\n### Sources\n[1] o1js\n    https://docs.example/o1js\n"

// serve answers on a loopback port that it prints.
func serve(kind string, latency time.Duration) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	if kind == "sdk" {
		return http.Serve(l, sdkServer(latency))
	}
	return http.Serve(l, plainServer(latency))
}

// sdkServer is a server as people write them in Go: on the official SDK.
func sdkServer(latency time.Duration) http.Handler {
	type input struct {
		Question string `json:"question"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask_docs"}, func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, any, error) {
		time.Sleep(latency)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer}}}, nil, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// plainServer does the least that is MCP: plain JSON, no sessions, no checks.
func plainServer(latency time.Duration) http.Handler {
	text, _ := json.Marshal(answer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		result := "{}"
		switch req.Method {
		case "initialize":
			result = `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"ask_docs","inputSchema":{"type":"object","properties":{"question":{"type":"string"}}}}]}`
		case "tools/call":
			time.Sleep(latency)
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text)
		case "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, req.ID)
			return
		}
		if len(req.ID) == 0 {
			req.ID = json.RawMessage("null")
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
	})
}

func startServer(self, kind string, latency time.Duration) (*exec.Cmd, string, error) {
	cmd := exec.Command(self, "-mode", "server", "-server", kind, "-latency", latency.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, "", fmt.Errorf("start the server: %w", err)
	}
	return cmd, strings.TrimSpace(url), nil
}

// bare sends the requests and makes the checks with nothing around them.
func bare(url string, n, concurrency int) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}}
	var next, wrong atomic.Int64
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				if !ask(client, url, i) {
					wrong.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if wrong.Load() > 0 {
		return fmt.Errorf("%d answers are wrong", wrong.Load())
	}
	return nil
}

func ask(client *http.Client, url string, i int64) bool {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask_docs","arguments":{"question":"What is o1js, for the %dth time?"}}}`, i, i)
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return false
	}
	var reply struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if json.NewDecoder(bytes.NewReader(b)).Decode(&reply) != nil || len(reply.Result.Content) == 0 {
		return false
	}
	text := strings.ToLower(reply.Result.Content[0].Text)
	return len(text) >= 100 && strings.Contains(text, "zero-knowledge") && strings.Contains(text, "[source 1]") && strings.Contains(text, "proof")
}

// writeSuites writes cases of four rules, a thousand to a file.
func writeSuites(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for from := 0; from < n; from += 1000 {
		var b strings.Builder
		fmt.Fprintf(&b, "name: bench %d\nproject: mina\nversion: \"1\"\ntests:\n", from)
		for i := from; i < min(n, from+1000); i++ {
			fmt.Fprintf(&b, `  - id: bench-%06d
    name: What is o1js?
    tool: ask_docs
    difficulty: basic
    input: {question: "What is o1js, for the %dth time?"}
    expected:
      validations:
        - {type: min_length, chars: 100}
        - {type: contains, value: zero-knowledge}
        - {type: has_citation}
        - {type: matches_regex, pattern: "circuit|proof"}
`, i, i)
		}
		errs = append(errs, os.WriteFile(filepath.Join(dir, fmt.Sprintf("bench-%03d.yaml", from/1000)), []byte(b.String()), 0o644))
	}
	return errors.Join(errs...)
}
