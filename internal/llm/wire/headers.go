package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/llm"
)

// longest is where waits are cut: nobody waits longer, and no sum overflows.
const longest = 24 * time.Hour

// RetryAfter is how long the vendor asks to wait, 0 when it does not:
// retry-after-ms, or Retry-After in seconds or as a date.
func RetryAfter(h http.Header) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	v := h.Get("Retry-After")
	if d, ok := number(v, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(v); err == nil {
		return until(at, h)
	}
	return 0
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0, false
	}
	return time.Duration(min(f*float64(unit), float64(longest))), true
}

// until measures from the server's own clock when it tells it, so that ours
// may be wrong.
func until(at time.Time, h http.Header) time.Duration {
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = now()
	}
	return min(max(at.Sub(from), 0), longest)
}

// Limits reads the rate-limit headers of Anthropic and OpenAI, whose names
// most gateways and compatible servers keep. It is nil when there are none.
func Limits(h http.Header) *llm.Limits {
	l := llm.Limits{Requests: limit(h, "requests"), Tokens: limit(h, "tokens")}
	if l.Requests == silent && l.Tokens == silent {
		return nil
	}
	return &l
}

var silent = llm.Limit{Left: -1}

func limit(h http.Header, of string) llm.Limit {
	get := func(what string) string {
		if v := h.Get("Anthropic-Ratelimit-" + of + "-" + what); v != "" {
			return v
		}
		return h.Get("X-Ratelimit-" + what + "-" + of)
	}
	l := silent
	if n, err := strconv.Atoi(get("limit")); err == nil && n > 0 {
		l.Most = n
	}
	if n, err := strconv.Atoi(get("remaining")); err == nil && n >= 0 {
		l.Left = n
	}
	l.Reset = reset(get("reset"), h)
	return l
}

// reset reads a time (Anthropic), a duration such as 6m0s or 120ms (OpenAI),
// or a number of seconds.
func reset(s string, h http.Header) time.Duration {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return until(at, h)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return min(max(d, 0), longest)
	}
	d, _ := number(s, time.Second)
	return d
}
