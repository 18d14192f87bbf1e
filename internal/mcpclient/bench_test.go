package mcpclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// BenchmarkCall compares, at 64 in parallel against a server of plain JSON, a
// call through this package with a bare net/http request and with the SDK's
// own client. The three take turns in short rounds, so that what else the
// machine does hits them alike; the medians of the rounds are reported. b.N
// counts rounds of 640 calls of each.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{2 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dk", size>>10), func(b *testing.B) {
			url := servePlan(b, strings.Repeat("The quick brown fox. ", size/21)).URL + "/mcp"
			names := []string{"bare", "mcpclient", "sdk"}
			calls := []func() error{bareCall(b, url), clientCall(b, url), sdkCall(b, url)}
			times := make([][]float64, len(calls))
			for b.Loop() {
				for i, call := range calls {
					times[i] = append(times[i], round(b, call))
				}
			}
			for i := range times {
				slices.Sort(times[i])
				b.ReportMetric(times[i][len(times[i])/2], names[i]+"-µs/call")
			}
			bare := times[0][len(times[0])/2]
			b.ReportMetric(times[1][len(times[1])/2]/bare, "mcpclient/bare")
			b.ReportMetric(times[2][len(times[2])/2]/bare, "sdk/bare")
		})
	}
}

// round makes 640 calls, 64 in parallel, and returns the time of one in µs.
func round(b *testing.B, call func() error) float64 {
	began := time.Now()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 10 {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(time.Since(began).Nanoseconds()) / 640 / 1000
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

func bareCall(b *testing.B, url string) func() error {
	client := pooledClient(b)
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crypto_search_docs","arguments":{"query":"x"}}}`)
	return func() error {
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
	}
}

func clientCall(b *testing.B, url string) func() error {
	ctx := context.Background()
	c, err := mcpclient.Dial(ctx, mcpclient.Config{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return func() error {
		res, err := c.Call(ctx, "crypto_search_docs", json.RawMessage(`{"query":"x"}`))
		if err != nil {
			return err
		}
		return checkFox(res.Text())
	}
}

func sdkCall(b *testing.B, url string) func() error {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "bench"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: pooledClient(b), DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	return func() error {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "crypto_search_docs", Arguments: json.RawMessage(`{"query":"x"}`)})
		if err != nil {
			return err
		}
		return checkFox(res.Content[0].(*mcp.TextContent).Text)
	}
}
