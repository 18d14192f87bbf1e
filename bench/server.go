//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// answer is what the server says to every question.
const answer = "o1js is a TypeScript library for writing zero-knowledge programs [Source 1]. You describe a computation with its types, " +
	"it turns the description into a circuit, and anyone with the right inputs can make a proof that the computation was done.\n\n" +
	"---\n<response_metadata>\n```json\n{\"confidence\": 80, \"sourcesUsed\": 1}\n```\n</response_metadata>\n\n### Sources\n[1] o1js\n    https://docs.example/o1js\n"

// calls is what the server saw since it was last asked.
type calls struct {
	Count       int64
	First, Last int64 // arrival of the first call and answer to the last, in Unix ns
}

// server is the smallest MCP server: plain JSON, no sessions, no checks. The
// path is the latency of its answers: /50ms.
type server struct {
	text               []byte // the answer as JSON
	count, first, last atomic.Int64
}

// serve answers on a loopback port that it prints.
func serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", l.Addr())
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return http.Serve(l, &server{text: text})
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/calls" {
		_ = json.NewEncoder(w).Encode(calls{s.count.Swap(0), s.first.Swap(0), s.last.Swap(0)})
		return
	}
	latency, err := time.ParseDuration(strings.Trim(r.URL.Path, "/"))
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err != nil || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch req.Method {
	case "initialize":
		reply(w, req.ID, `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`)
	case "tools/list":
		reply(w, req.ID, `"result":{"tools":[{"name":"ask_docs","inputSchema":{"type":"object","properties":{"question":{"type":"string"}}}}]}`)
	case "tools/call":
		s.first.CompareAndSwap(0, time.Now().UnixNano())
		time.Sleep(latency)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, req.ID, s.text)
		s.count.Add(1)
		s.last.Store(time.Now().UnixNano())
	default:
		if len(req.ID) == 0 { // a notification
			w.WriteHeader(http.StatusAccepted)
			return
		}
		reply(w, req.ID, `"error":{"code":-32601,"message":"no such method"}`)
	}
}

func reply(w io.Writer, id json.RawMessage, rest string) {
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, rest)
}

// bare sends the requests of a run and makes its checks, and does nothing else.
func bare(url string, n, concurrency int, failing bool) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}}
	var next, wrong atomic.Int64
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if passed, err := ask(client, url, i, failing); err != nil || passed == failing {
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

// ask sends one request and makes the four checks of a case.
func ask(client *http.Client, url string, i int64, failing bool) (passed bool, err error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask_docs","arguments":{"question":"What is o1js, for the %dth time?"}}}`, i, i)
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return false, err
	}
	var reply struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&reply); err != nil || len(reply.Result.Content) == 0 {
		return false, fmt.Errorf("no content: %w", err)
	}
	text := strings.ToLower(reply.Result.Content[0].Text)
	words, chars := []string{"zero-knowledge", "[source 1]", "proof"}, 100
	if failing {
		words, chars = []string{"lattice", "[source 9]", "pairing"}, 100_000
	}
	ok := 0
	for _, word := range words {
		if strings.Contains(text, word) {
			ok++
		}
	}
	if len(text) >= chars {
		ok++
	}
	return ok == len(words)+1, nil
}
