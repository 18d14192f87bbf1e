package llm

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// storm is a vendor that does everything vendors do, by chance.
func storm(chance func() float64, good float64) Model {
	classes := []Class{RateLimited, Overloaded, Server, Transport, Timeout, Malformed, Auth, Invalid}
	return ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
		if err := sleep(ctx, time.Duration(chance()*float64(3*time.Second))); err != nil {
			return nil, err
		}
		if chance() < good {
			left := &Limits{Requests: Limit{Most: 10, Left: int(chance() * 30), Reset: time.Duration(chance() * float64(10*time.Second))}, Tokens: Limit{Left: -1}}
			return &Reply{Limits: left, Usage: eval.Usage{Calls: 1, Input: int(chance() * 3000)}}, nil
		}
		if chance() < 0.01 {
			panic("struck")
		}
		e := &Error{Class: classes[int(chance()*float64(len(classes)))], Message: "no"}
		if chance() < 0.2 {
			e.RetryAfter = time.Duration(chance() * float64(20*time.Second))
		}
		return nil, e
	})
}

// Whatever happens, every call ends, and no place is lost.
func TestAStormEnds(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			r := rand.New(rand.NewPCG(seed, 5))
			chance := func() float64 {
				mu.Lock()
				defer mu.Unlock()
				return r.Float64()
			}
			pace := Pace{Concurrency: 1 + int(chance()*64), Timeout: 2500 * time.Millisecond}
			if seed%3 == 0 {
				pace.RequestsPerMinute, pace.TokensPerMinute = 60+int(chance()*1000), 10_000+int(chance()*1e6)
			}
			s := NewScheduler(pace, chance)
			m := s.Wrap(storm(chance, chance()))
			var wg sync.WaitGroup
			for i := range 200 {
				limit := 24 * time.Hour
				if i%5 == 0 {
					limit = time.Duration(chance() * float64(100*time.Second))
				}
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				wg.Go(func() {
					defer cancel()
					_, _ = m.Generate(ctx, &Request{})
				})
			}
			wg.Wait()
			if s.inUse != 0 || len(s.queue) != 0 {
				t.Errorf("seed %d: %d places are in use and %d calls wait when all have ended", seed, s.inUse, len(s.queue))
			}
		})
	}
}
