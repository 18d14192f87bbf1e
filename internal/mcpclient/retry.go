package mcpclient

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var now = time.Now //nolint:forbidigo // the only clock of the package: latencies and deadlines, replaced in tests

const (
	backoffBase = 50 * time.Millisecond
	// backoffMax bounds the wait after a breakage, pacedMax the one after a
	// server asked for patience without saying how much.
	backoffMax = time.Second
	pacedMax   = 5 * time.Second
	// retryAfterMax keeps a nonsensical Retry-After from overflowing; the
	// caller's deadline is far below it.
	retryAfterMax = 24 * time.Hour
)

// retry runs try until it succeeds, fails for good, has used up its extra
// tries or cannot finish before ctx ends. It returns how often it tried and
// what the last try came to, unless something else says more: a caller who
// gave up is told so, not what broke in consequence; and of a try cut short
// while the server keeps asking for patience, the asking is reported.
func retry(ctx context.Context, extra int, try func() *fault) (attempts int, last *fault) {
	for used := 0; ; {
		attempts++
		before := last
		if last = try(); last == nil {
			return attempts, nil
		}
		if !last.paced {
			used++
		}
		more := last.again && (last.paced || used <= extra)
		if more && sleep(ctx, pause(attempts, last)) {
			continue
		}
		switch {
		case last.class == ClassTransport && errors.Is(ctx.Err(), context.Canceled):
			return attempts, ctxFault(ctx)
		case last.class == ClassTimeout && before != nil && before.paced:
			return attempts, before
		}
		return attempts, last
	}
}

// pause is how long to wait after the given failed attempt: exponential with
// jitter, so that parallel callers do not come back together, and never less
// than what the server asked for.
func pause(attempt int, f *fault) time.Duration {
	limit := backoffMax
	if f.paced {
		limit = pacedMax
	}
	d := min(backoffBase<<min(attempt-1, 10), limit)
	d = d/2 + rand.N(d/2+1)
	if f.retryAfter > 0 {
		d = f.retryAfter + rand.N(min(f.retryAfter/10, time.Second)+1)
	}
	return d
}

// sleep waits for d. It reports false, at once, when ctx would end before that.
func sleep(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && now().Add(d).After(deadline) {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// retryAfter reads the Retry-After header: seconds or an HTTP date. A date is
// taken relative to the server's own clock if the answer tells it.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		// The comparison is written so that NaN counts as nothing.
		if !(seconds > 0) {
			return 0
		}
		return time.Duration(min(seconds, retryAfterMax.Seconds()) * float64(time.Second))
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = now()
	}
	return min(max(until.Sub(from), 0), retryAfterMax)
}
