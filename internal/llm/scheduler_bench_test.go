package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// overHTTP asks a server that answers with a status.
func overHTTP(client *http.Client, url string) Model {
	return ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, &Error{Class: Transport, Message: err.Error(), Err: err}
		}
		_, err = io.Copy(io.Discard, resp.Body)
		switch err := errors.Join(err, resp.Body.Close()); {
		case err != nil:
			return nil, &Error{Class: Transport, Message: err.Error(), Err: err}
		case resp.StatusCode == http.StatusTooManyRequests:
			return nil, tooMany(0)
		}
		return &Reply{Text: "yes", Finish: Stop}, nil
	})
}

// BenchmarkScheduler makes calls of a real server in real time and reports how
// much longer they take than the server's limit allows.
func BenchmarkScheduler(b *testing.B) {
	for _, bb := range []struct {
		name    string
		rate    float64 // 0 for none
		chance  float64
		latency time.Duration
		calls   int
	}{
		{"100 a second", 100, 0, 300 * time.Millisecond, 600},
		{"100 a second and every fifth by chance", 100, 0.2, 300 * time.Millisecond, 600},
		{"every fifth by chance", 0, 0.2, 300 * time.Millisecond, 800},
		{"healthy", 0, 0, 500 * time.Millisecond, 800},
	} {
		b.Run(bb.name, func(b *testing.B) {
			reject := byChance(bb.chance)
			allowed := time.Duration(bb.calls) * bb.latency / 64
			if bb.rate > 0 {
				reject = either(reject, perSecond(bb.rate, bb.rate/2, 0))
				allowed = time.Duration(float64(bb.calls) / bb.rate * float64(time.Second))
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if reject(time.Now()) != nil {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				time.Sleep(bb.latency)
				fmt.Fprintln(w, "yes")
			}))
			defer server.Close()
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			defer client.CloseIdleConnections()
			for b.Loop() {
				m := NewScheduler(Pace{}, rand.Float64).Wrap(overHTTP(client, server.URL))
				start := time.Now()
				var wg sync.WaitGroup
				for range bb.calls {
					wg.Go(func() {
						if _, err := m.Generate(context.Background(), &Request{}); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
				b.ReportMetric(time.Since(start).Seconds()/allowed.Seconds(), "x-of-allowed")
			}
		})
	}
}
