package llm

import "time"

const (
	tripAfter  = 5 // failures in a row that are no accident
	firstProbe = time.Second
	mostProbe  = 30 * time.Second
)

// breaker holds all calls of a key while its vendor is not answering, and lets
// one through from time to time to see. It is shut as long as all is well.
type breaker struct {
	row     int       // failures since the last reply
	since   time.Time // when it opened; zero when it is shut
	probeAt time.Time
	every   time.Duration // between probes; doubles
	probing bool
}

func (b *breaker) open() bool { return !b.since.IsZero() }

// failed counts a failure and tells whether it opened the breaker. One that
// was to be expected, a rejection while others are served, does not.
func (b *breaker) failed(t time.Time, probe, expected bool) bool {
	b.row++
	switch {
	case probe:
		b.probing = false
		b.every = min(2*b.every, mostProbe)
		b.probeAt = t.Add(b.every)
	case !b.open() && b.row >= tripAfter && !expected:
		b.since, b.every = t, firstProbe
		b.probeAt = t.Add(b.every)
		return true
	}
	return false
}

// answered shuts the breaker: the vendor speaks.
func (b *breaker) answered() { *b = breaker{} }

// dropped is a probe that nobody waited for: the next call is one.
func (b *breaker) dropped() { b.probing = false }
