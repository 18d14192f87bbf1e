package mcpclient

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func broken() *fault { return &fault{class: ClassTransport, again: true} }

func TestRetryCounts(t *testing.T) {
	tests := []struct {
		name  string
		extra int
		tries []*fault // what each try comes to; nil is success
		want  int
		ok    bool
	}{
		{name: "success", extra: 3, tries: []*fault{nil}, want: 1, ok: true},
		{name: "success later", extra: 3, tries: []*fault{broken(), broken(), nil}, want: 3, ok: true},
		{name: "used up", extra: 2, tries: []*fault{broken(), broken(), broken(), nil}, want: 3},
		{name: "none", extra: 0, tries: []*fault{broken(), nil}, want: 1},
		{name: "final", extra: 3, tries: []*fault{{class: ClassRPC}, nil}, want: 1},
		{name: "patience is free", extra: 1, want: 5, ok: true, tries: []*fault{
			{again: true, paced: true}, {again: true, paced: true}, {again: true, paced: true}, broken(), nil,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				attempts, f := retry(t.Context(), tt.extra, func() *fault {
					n++
					return tt.tries[n-1]
				})
				if attempts != tt.want || n != tt.want || (f == nil) != tt.ok {
					t.Errorf("%d attempts, fault %v", attempts, f)
				}
			})
		})
	}
}

func TestRetryWaits(t *testing.T) {
	waits := func(t *testing.T, f *fault, n int) []time.Duration {
		var out []time.Duration
		last := time.Now()
		tries := 0
		retry(t.Context(), n, func() *fault {
			if tries > 0 {
				out = append(out, time.Since(last))
			}
			last = time.Now()
			if tries++; tries > n {
				return nil
			}
			return f
		})
		return out
	}
	t.Run("grow with jitter", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for i, d := range waits(t, broken(), 8) {
				limit := min(backoffBase<<i, backoffMax)
				if d < limit/2 || d > limit {
					t.Errorf("wait %d is %s, want %s to %s", i+1, d, limit/2, limit)
				}
			}
		})
	})
	t.Run("obey the server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &fault{again: true, paced: true, retryAfter: 20 * time.Second}
			for _, d := range waits(t, f, 3) {
				if d < 20*time.Second || d > 21*time.Second {
					t.Errorf("wait is %s, want 20s to 21s", d)
				}
			}
		})
	})
	t.Run("not longer than the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			f := &fault{again: true, paced: true, retryAfter: time.Minute}
			attempts, got := retry(ctx, 3, func() *fault { return f })
			if attempts != 1 || got != f || time.Since(began) != 0 {
				t.Errorf("%d attempts, %v, after %s", attempts, got, time.Since(began))
			}
		})
	})
	t.Run("end with the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			began := time.Now()
			f := &fault{again: true, paced: true, retryAfter: time.Minute}
			retry(ctx, 3, func() *fault { return f })
			if d := time.Since(began); d != time.Second {
				t.Errorf("ended after %s, want 1s", d)
			}
		})
	})
	t.Run("cut short while paced", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			f := &fault{again: true, paced: true, status: 429}
			tries := 0
			_, got := retry(ctx, 3, func() *fault {
				if tries++; tries == 1 {
					return f
				}
				<-ctx.Done()
				return ctxFault(ctx)
			})
			if got != f {
				t.Errorf("the fault is %v, want the 429", got)
			}
		})
	})
}

func TestRetryAfterHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		tests := []struct {
			value, date string
			want        time.Duration
		}{
			{"", "", 0},
			{"0", "", 0},
			{"7", "", 7 * time.Second},
			{" 7 ", "", 7 * time.Second},
			{"1.5", "", 1500 * time.Millisecond},
			{"-3", "", 0},
			{"soon", "", 0},
			{"NaN", "", 0},
			{"Inf", "", retryAfterMax},
			{"1e300", "", retryAfterMax},
			{"99999999999999999999", "", retryAfterMax},
			{at(30 * time.Second), "", 30 * time.Second},
			{at(-30 * time.Second), "", 0},
			{at(1000 * 24 * time.Hour), "", retryAfterMax},
			// The server's clock is an hour ahead of ours.
			{at(time.Hour + 10*time.Second), at(time.Hour), 10 * time.Second},
		}
		for _, tt := range tests {
			h := http.Header{"Retry-After": {tt.value}, "Date": {tt.date}}
			if got := retryAfter(h); got != tt.want {
				t.Errorf("%q: %s, want %s", tt.value, got, tt.want)
			}
		}
	})
}
