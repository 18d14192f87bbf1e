package llm

import "time"

// Limiter bounds how many calls of a key are made, and how large they are. The
// one of this process counts calls and tokens per minute. Another may be shared
// by processes, and bound the calls under way as well: every call that starts
// ends.
//
// It is asked with the [Scheduler]'s lock held and must not block: one that is
// shared fetches its share beforehand.
type Limiter interface {
	// Ready tells when a call of about so many tokens may start: t, or later.
	Ready(t time.Time, tokens int) time.Time
	// Start counts a call that starts.
	Start(t time.Time, tokens int)
	// End counts what a call took instead of the tokens that it started with;
	// none when it failed.
	End(t time.Time, tokens, used int)
}

// rates is the limiter of this process.
type rates struct{ requests, tokens bucket }

func newRates(requestsPerMinute, tokensPerMinute int, t time.Time) *rates {
	return &rates{newBucket(requestsPerMinute, t), newBucket(tokensPerMinute, t)}
}

func (r *rates) Ready(t time.Time, tokens int) time.Time {
	at, other := r.requests.ready(t, 1), r.tokens.ready(t, tokens)
	if other.After(at) {
		return other
	}
	return at
}

func (r *rates) Start(t time.Time, tokens int) {
	r.requests.take(t, 1)
	r.tokens.take(t, tokens)
}

func (r *rates) End(t time.Time, tokens, used int) { r.tokens.take(t, used-tokens) }
