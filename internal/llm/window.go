package llm

import (
	"math"
	"time"
)

const (
	leastRound = 8  // tries that say enough to judge by
	leastTrial = 16 // tries that say whether a cut helped
	mostRound  = 64 // tries that are surely enough
	roundTime  = time.Second / 2

	leastCut = 0.1  // what a cut takes off at least
	mostCut  = 0.5  // and at most: a burst of rejections is no reason to stand still
	firstCut = 0.75 // at most as long as no round was without: nothing is known yet of what the vendor takes
	sentCut  = 0.3  // at least when the vendor sent us away for a while: the pause hides how much it was too much

	bearRounds = 16 // for which rejections that no cut helps are borne; twice as many the next time
	stayRounds = 16 // for which a rate is kept whose excess made the vendor send us away for a while

	mostGap      = 4 * time.Second        // between tries, however low the rate
	unknownTrip  = 250 * time.Millisecond // how long a try takes, before one has got a reply
	unknownGrace = time.Second            // how long a rejection may take, before there was one
)

// window is what a vendor lets us do: how many tries may be under way at a
// time, and once it has rejected some, how fast they may follow each other.
// Limits are rates, and all tries at once are a rate of their own. It grows by
// a little after every round of tries the vendor took, and shrinks after one
// with rejections to what was taken of it. A round is many tries: a burst of
// rejections is one signal.
//
// Rejections that stay when the window is cut are not our doing: a vendor that
// turns away every fifth call whatever we do is asked no slower for it. So a
// cut is on [trial], and one that did not help is undone, and as many
// rejections are borne for a time.
type window struct {
	most  int           // tries at a time
	trip  time.Duration // of tries that got a reply, smoothed
	reply time.Duration // of rejections, smoothed

	paced bool
	rate  float64   // tries a second, when paced
	last  time.Time // try that was let in
	taken time.Time // try of which that is known

	round  round
	trial  *trial
	before float64 // the rate before the last cut
	best   float64 // rate of tries that were taken, of late
	stay   int     // rounds left to keep the rate
	quiet  int     // rounds without rejections in a row
	proven bool    // there was one
	base   float64 // share of rejections that no cut helps
	bear   int     // rounds left to bear it
	undone int     // cuts in a row
}

// round is a sample of tries. They are counted in the order they were made:
// rejections are known sooner, and would look like more than they are.
type round struct {
	id       int // tries know the round they belong to
	quorum   int
	tries    []try
	known    int // tries from the first on, counted in the next two
	taken    int
	rejected int
	full     bool // a call had to wait
	sentAway bool // a rejection came with a time to wait
}

type try struct {
	start    time.Time
	ended    bool
	rejected bool
}

// mark is a try's place in a round.
type mark struct{ round, try int }

func (r *round) whole() bool { return r.known == r.quorum }

func (r *round) share() float64 { return float64(r.rejected) / float64(max(1, r.known)) }

// count counts the tries that are known. One that has been under way for
// longer than a rejection takes was taken: rounds need not wait for replies,
// which take seconds.
func (r *round) count(t time.Time, grace time.Duration) {
	for ; r.known < len(r.tries); r.known++ {
		switch try := r.tries[r.known]; {
		case try.rejected:
			r.rejected++
		case try.ended || t.Sub(try.start) > grace:
			r.taken++
		default:
			return
		}
	}
}

func newWindow(most int, t time.Time) window {
	w := window{most: most}
	w.reset(t)
	return w
}

// reset forgets everything but how long tries take.
func (w *window) reset(t time.Time) {
	id := w.round.id
	*w = window{most: w.most, trip: w.trip, reply: w.reply, taken: t}
	w.round.id = id
	w.next()
}

// places is how many tries may be under way. There is room for tries that
// take longer than others: they must not slow down the rest.
func (w *window) places() int {
	if !w.paced || w.trip == 0 {
		return w.most
	}
	return min(w.most, int(1.5*w.rate*w.trip.Seconds())+2)
}

// opens tells when the next try may start.
func (w *window) opens() time.Time {
	if !w.paced {
		return time.Time{}
	}
	return w.last.Add(time.Duration(float64(time.Second) / w.rate))
}

// next begins a round. Tries that are under way belong to the old rate and
// say nothing about the new one.
func (w *window) next() {
	quorum, least := mostRound, leastRound
	if w.paced {
		quorum = int(w.rate * roundTime.Seconds())
	}
	if w.bear > 0 || w.trial != nil {
		least = mostRound / 2 // to tell one share from another takes more than to tell some from none
	}
	w.round = round{id: w.round.id + 1, quorum: min(max(quorum, least), mostRound), tries: w.round.tries[:0]}
}

// enter gives a try its place in the round, unless it has its tries already.
func (w *window) enter(t time.Time) mark {
	w.last = t
	w.end(t)
	r := &w.round
	if len(r.tries) >= r.quorum {
		return mark{}
	}
	r.tries = append(r.tries, try{start: t})
	return mark{r.id, len(r.tries) - 1}
}

// served takes the time a reply took into account.
func (w *window) served(t time.Time, took time.Duration) {
	w.taken = t
	w.trip = smooth(w.trip, took)
}

func smooth(old, d time.Duration) time.Duration {
	if old == 0 {
		return d
	}
	return old + (d-old)/8
}

// grace is how long a rejection may take.
func (w *window) grace() time.Duration {
	if w.reply == 0 {
		return unknownGrace
	}
	return max(3*w.reply, unknownGrace/4)
}

// leave takes in how a try ended.
func (w *window) leave(m mark, t time.Time, rejected, sentAway bool) {
	r := &w.round
	if m.round != r.id {
		return
	}
	try := &r.tries[m.try]
	try.ended, try.rejected = true, rejected
	if rejected {
		w.reply = smooth(w.reply, t.Sub(try.start))
		r.sentAway = r.sentAway || sentAway
		if m.try < r.known { // it was taken for taken
			r.taken--
			r.rejected++
		}
	}
	w.end(t)
}

// end judges the round when all of its tries are known, or enough of them.
func (w *window) end(t time.Time) {
	r := &w.round
	before := r.taken
	if r.count(t, w.grace()); r.taken > before {
		w.taken = t
	}
	switch {
	case w.trial != nil && r.known > 0 && (r.whole() || w.trial.decided(r)):
		w.conclude(r)
	case w.trial == nil && (r.whole() || w.bear == 0 && r.known >= leastRound && t.Sub(r.tries[0].start) > 4*roundTime):
		w.judge(r, t)
	default:
		return
	}
	w.next()
}

// judge adapts the window to how many of a round's tries were rejected.
func (w *window) judge(r *round, t time.Time) {
	share := r.share()
	if span := t.Sub(r.tries[0].start); w.paced && span > 2*roundTime {
		w.best = max(w.best, float64(r.taken)/span.Seconds())
	}
	if share == 0 {
		w.quiet++
		w.proven = true
	} else {
		w.quiet = 0
	}
	switch {
	case share == 0, w.bear > 0 && share <= 1.5*w.base+0.15: // rounds are samples
		w.bear = max(0, w.bear-1)
		if share <= w.base {
			w.grow()
		}
	default:
		w.cut(r, t)
	}
	w.best *= 0.98
	if share > 0.5 {
		w.best *= 0.8
	}
}

// cut makes the rate what the vendor took of it, and not much less than what
// it took of late: small rounds may have many rejections by chance.
func (w *window) cut(r *round, t time.Time) {
	if !w.paced {
		w.rate = w.rush(t)
	}
	most := firstCut
	if w.proven {
		most = mostCut
	}
	share := float64(r.rejected+1) / float64(r.known+8)
	rate := w.rate * (1 - min(max(share, leastCut), most))
	if r.sentAway {
		rate = min(rate, (1-sentCut)*w.rate)
		if span := t.Sub(r.tries[0].start); w.paced && span > 2*roundTime {
			rate = min(rate, 1.7*float64(r.taken)/span.Seconds())
		}
	}
	w.before, w.rate = w.rate, min(w.rate, max(rate, 0.75*w.best, 1/mostGap.Seconds()))
	w.paced, w.stay, w.bear, w.base = true, 0, 0, 0
	switch {
	case r.sentAway: // the vendor speaks of its limit, not of chance
		w.stay = stayRounds
	case r.share() <= 0.5: // nobody rejects most calls by chance
		w.trial = newTrial(r.share(), max(0, 1-(1-r.share())*w.before/w.rate))
	}
}

// rush is the rate at which tries were made while they were not paced.
func (w *window) rush(t time.Time) float64 {
	span := max(t.Sub(w.round.tries[0].start), unknownTrip)
	if w.trip > 0 {
		span = min(span, w.trip) // the rest was spent waiting for the last of them
	}
	return float64(len(w.round.tries)) / span.Seconds()
}

// conclude ends the trial of a cut. One that did not help is undone, and the
// rejections are borne for a time.
func (w *window) conclude(r *round) {
	helped := !w.trial.byChance(r)
	w.trial = nil
	if helped {
		w.undone = 0
		return
	}
	w.rate, w.base = w.before, r.share()
	w.bear = bearRounds << min(w.undone, 6)
	w.undone++
}

// steps are what a round adds to the rate, and one after it.
var steps = [...]float64{0.05, 0.05, 0.1, 0.25, 0.5}

// grow adds to the rate when calls had to wait: a little at first, and more
// with every round without rejections, so that what took a moment's breath is
// not paid for with minutes.
func (w *window) grow() {
	switch {
	case !w.paced || !w.round.full:
		return
	case w.stay > 0:
		w.stay--
		w.quiet = 0
		return
	}
	rate := w.rate * (1 + steps[min(max(w.quiet-1, 0), len(steps)-1)])
	if w.trip > 0 { // there is no place for more
		rate = min(rate, 1.25*float64(w.most)/w.trip.Seconds())
	}
	w.rate = max(w.rate, rate)
}

// hold is how long the place of a rejected try is kept, while tries are not
// paced: about as long as a served one would have taken it. Quick rejections
// would otherwise turn a window of ten into a thousand tries a second.
func (w *window) hold(took time.Duration) time.Duration {
	if w.paced || w.bear > 0 {
		return 0
	}
	trip := w.trip
	if trip == 0 {
		trip = unknownTrip
	}
	return max(0, min(trip, time.Second)-took)
}

// trial tells whether a cut helped, by a sequential test of two shares: that
// of rejections the cut should leave, and that which led to it, which is what
// it leaves when they come by chance. It takes as many tries as it needs.
type trial struct {
	ours, chance float64
}

// newTrial is nil when the shares are too near to each other to be told apart.
func newTrial(share, expect float64) *trial {
	if expect > share/3 {
		return nil
	}
	chance := min(max(share, 0.08), 0.98) // a rejection or two are not worth a test
	return &trial{ours: max(expect, chance/4), chance: chance}
}

// weight is the logarithm of how much more likely the round is by chance.
func (c *trial) weight(r *round) float64 {
	return float64(r.rejected)*math.Log(c.chance/c.ours) + float64(r.taken)*math.Log((1-c.chance)/(1-c.ours))
}

// decided tells whether one of the shares is twenty times as likely.
func (c *trial) decided(r *round) bool {
	return r.known >= leastTrial && math.Abs(c.weight(r)) > math.Log(20)
}

// byChance tells whether the rejections are as many as if the cut had not
// been. More than that are not chance: they come of what was saved up before.
func (c *trial) byChance(r *round) bool {
	return c.weight(r) > 0 && r.share() < 1.5*c.chance+0.1
}
