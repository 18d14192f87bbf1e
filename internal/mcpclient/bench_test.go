package mcpclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// BenchmarkCall compares a call through this package with a bare net/http
// loop that does the same request, and with the SDK's own client, at 64 in
// parallel against a server of plain JSON.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{2 << 10, 64 << 10} {
		srv := servePlan(b, strings.Repeat("The quick brown fox. ", size/21))
		b.Run(fmt.Sprintf("bare/%dk", size>>10), func(b *testing.B) { benchBare(b, srv.URL+"/mcp") })
		b.Run(fmt.Sprintf("mcpclient/%dk", size>>10), func(b *testing.B) { benchClient(b, srv.URL+"/mcp") })
		b.Run(fmt.Sprintf("sdk/%dk", size>>10), func(b *testing.B) { benchSDK(b, srv.URL+"/mcp") })
	}
}

var errNoFox = errors.New("the answer is not the expected one")

func checkFox(text string) error {
	if !strings.Contains(text, "fox") {
		return errNoFox
	}
	return nil
}

func pooledClient(b *testing.B) *http.Client {
	tr := &http.Transport{MaxIdleConns: 64, MaxIdleConnsPerHost: 64}
	b.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func inParallel(b *testing.B, call func() error) {
	b.ReportAllocs()
	b.ResetTimer()
	var done atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for done.Add(1) <= int64(b.N) {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func benchBare(b *testing.B, url string) {
	client := pooledClient(b)
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crypto_search_docs","arguments":{"query":"x"}}}`)
	inParallel(b, func() error {
		resp, err := client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		var answer struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return err
		}
		return checkFox(answer.Result.Content[0].Text)
	})
}

func benchClient(b *testing.B, url string) {
	ctx := context.Background()
	c, err := mcpclient.Dial(ctx, mcpclient.Config{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	inParallel(b, func() error {
		res, err := c.Call(ctx, "crypto_search_docs", json.RawMessage(`{"query":"x"}`))
		if err != nil {
			return err
		}
		return checkFox(res.Text())
	})
}

func benchSDK(b *testing.B, url string) {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "bench"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: pooledClient(b), DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	inParallel(b, func() error {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "crypto_search_docs", Arguments: json.RawMessage(`{"query":"x"}`)})
		if err != nil {
			return err
		}
		return checkFox(res.Content[0].(*mcp.TextContent).Text)
	})
}
