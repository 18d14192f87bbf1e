package llm

import "time"

// bucket holds what may be used of a limit for a minute. It fills steadily and
// holds no more than a second's worth, so that a pause is not followed by a
// rush. What is larger than the bucket may go when it is full, and leaves a
// debt. The zero bucket has no limit.
type bucket struct {
	perMinute int
	level     float64
	at        time.Time // when level was right
}

func newBucket(perMinute int, t time.Time) bucket {
	b := bucket{perMinute: max(perMinute, 0), at: t}
	b.level = b.size()
	return b
}

// size is a second's worth, but never less than one.
func (b *bucket) size() float64 { return max(1, float64(b.perMinute)/60) }

func (b *bucket) fill(t time.Time) {
	if passed := t.Sub(b.at); passed > 0 {
		b.level = min(b.size(), b.level+passed.Minutes()*float64(b.perMinute))
		b.at = t
	}
}

// ready tells when n may be taken.
func (b *bucket) ready(t time.Time, n int) time.Time {
	if b.perMinute == 0 || n <= 0 {
		return t
	}
	b.fill(t)
	lack := min(float64(n), b.size()) - b.level
	// What is lacking by less than a thousandth is rounding.
	if lack < 0.001 {
		return t
	}
	return t.Add(time.Duration(lack/float64(b.perMinute)*float64(time.Minute)) + 1)
}

// take uses n of it. A negative n gives back what was taken too much.
func (b *bucket) take(t time.Time, n int) {
	if b.perMinute == 0 {
		return
	}
	b.fill(t)
	b.level = min(b.size(), b.level-float64(n))
}
