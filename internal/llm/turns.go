package llm

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// dispatch gives turns to those who wait, as far as the limits allow, and sees
// to it that it is called again when they allow more. s.mu is held.
func (s *Scheduler) dispatch() {
	for len(s.queue) > 0 {
		t := now()
		if err := s.given(t); err != nil {
			for _, w := range s.queue {
				w.ready <- err
			}
			s.queue = nil
			return
		}
		if s.breaker.probing {
			return // its end calls dispatch
		}
		i := s.first()
		if at := s.opens(t, s.queue[i]); at.After(t) {
			s.wake(at.Sub(t))
			return
		}
		if s.inUse >= s.window.places() {
			s.window.round.full = true
			return // the end of any try calls dispatch
		}
		if at := s.window.opens(); at.After(t) && !s.breaker.open() {
			s.window.round.full = true
			s.wake(at.Sub(t))
			return
		}
		w := s.queue[i]
		s.queue = slices.Delete(s.queue, i, i+1)
		s.start(w, t)
	}
	if s.timer != nil {
		s.timer.Stop()
	}
}

// first is the call whose turn is next: the one that came first, and for a
// probe the one that failed the least, lest a call that breaks the vendor be
// taken for an outage.
func (s *Scheduler) first() int {
	if !s.breaker.open() {
		return 0
	}
	best := 0
	for i, w := range s.queue {
		if w.failures < s.queue[best].failures {
			best = i
		}
	}
	return best
}

// given says when waiting has no end in sight: the vendor wants us to wait, or
// has not answered, for longer than calls are held.
func (s *Scheduler) given(t time.Time) error {
	hold := s.pace.Hold
	switch {
	case s.last == nil:
		return nil
	case s.paused.Sub(t) > hold:
		return stopped(s.last, "the vendor asks to wait %s, and calls are held for no more than %s: %s",
			s.paused.Sub(t).Round(time.Second), hold, s.last.Message)
	case s.breaker.open() && !s.breaker.probing && t.Sub(s.breaker.since) > hold && t.Before(s.breaker.probeAt):
		return stopped(s.last, "no reply for %s, %d tries in a row failed, the last: %s",
			t.Sub(s.breaker.since).Round(time.Second), s.breaker.row, s.last.Message)
	}
	return nil
}

// opens tells when the limits let a call start.
func (s *Scheduler) opens(t time.Time, w *waiter) time.Time {
	at := s.pace.Limiter.Ready(t, w.tokens)
	if s.paused.After(at) {
		at = s.paused
	}
	if s.breaker.open() && s.breaker.probeAt.After(at) {
		at = s.breaker.probeAt
	}
	return at
}

func (s *Scheduler) wake(in time.Duration) {
	if s.timer != nil {
		s.timer.Reset(in)
		return
	}
	s.timer = time.AfterFunc(in, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dispatch()
	})
}

func (s *Scheduler) start(w *waiter, t time.Time) {
	s.inUse++
	s.pace.Limiter.Start(t, w.tokens)
	w.turn = turn{started: t, tokens: w.tokens, probe: s.breaker.open()}
	if w.turn.probe {
		s.breaker.probing = true
	} else {
		w.turn.mark = s.window.enter(t)
	}
	w.ready <- nil
}

// served ends a try that got a reply.
func (s *Scheduler) served(t turn, took time.Duration, reply *Reply) {
	s.mu.Lock()
	held := s.breaker.open()
	s.breaker.answered()
	at := now()
	if held {
		s.window.reset(at) // an outage is over: its rejections said nothing about a rate
	}
	s.window.served(at, took)
	s.window.leave(t.mark, at, false, false)
	s.pace.Limiter.End(at, t.tokens, cmp.Or(reply.Usage.Input+reply.Usage.Output, t.tokens))
	s.heed(at, reply.Limits, t.tokens)
	s.inUse--
	s.dispatch()
	s.mu.Unlock()
	if held {
		s.note("the vendor answers again")
	}
}

// failed takes in a try that failed and may be made again, and gives the time
// for which its place is to be kept. [Scheduler.release] gives it back.
func (s *Scheduler) failed(t turn, e *Error, took time.Duration) time.Duration {
	s.mu.Lock()
	at := now()
	s.last = e
	already := s.paused.After(at)
	s.pace.Limiter.End(at, t.tokens, 0) // what failed used none, as far as anybody knows
	if e.RetryAfter > 0 {
		s.pause(at.Add(e.RetryAfter))
	} else if rejected(e) {
		s.heed(at, e.Limits, t.tokens)
	}
	s.window.leave(t.mark, at, rejected(e), s.paused.After(at))
	opened := s.breaker.failed(at, t.probe, rejected(e) && at.Sub(s.window.taken) < max(2*s.window.trip, 2*time.Second))
	var hold time.Duration
	if rejected(e) {
		hold = s.window.hold(took)
	}
	s.mu.Unlock()
	if opened {
		s.note(fmt.Sprintf("%d tries in a row failed, all calls are held: %s", tripAfter, e))
	} else if e.RetryAfter >= 10*time.Second && !already {
		s.note(fmt.Sprintf("the vendor asks to wait %s: %s", e.RetryAfter, e))
	}
	return hold
}

// done ends a try that says nothing about the vendor's limits: it was dropped
// by its caller, or refused for good.
func (s *Scheduler) done(t turn, dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !dropped:
		s.breaker.answered()
	case t.probe:
		s.breaker.dropped()
	}
	at := now()
	s.pace.Limiter.End(at, t.tokens, 0)
	s.window.leave(t.mark, at, false, false)
	s.inUse--
	s.dispatch()
}

// release gives back the place of a failed try.
func (s *Scheduler) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUse--
	s.dispatch()
}

func (s *Scheduler) pause(until time.Time) {
	if until.After(s.paused) {
		s.paused = until
	}
}

// heed waits for what the vendor says is used up. Its windows fill steadily,
// so that the time until they are whole is shared by what is missing.
func (s *Scheduler) heed(t time.Time, l *Limits, tokens int) {
	if l == nil {
		return
	}
	for _, of := range []struct {
		limit Limit
		need  int
	}{{l.Requests, 1}, {l.Tokens, tokens}} {
		lack := of.need - of.limit.Left
		if of.limit.Left < 0 || of.limit.Reset <= 0 || lack <= 0 {
			continue
		}
		wait := of.limit.Reset
		if missing := of.limit.Most - of.limit.Left; missing > lack {
			wait = time.Duration(float64(wait) * float64(lack) / float64(missing))
		}
		s.pause(t.Add(min(wait, time.Minute)))
	}
}

func (s *Scheduler) note(text string) {
	if s.Note != nil {
		s.Note(text)
	}
}
