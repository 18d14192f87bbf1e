package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// now is the only clock of this package. What it measures, the latency of a
// try and the fill of a limit, is nobody's to decide but the machine's.
var now = time.Now //nolint:forbidigo // see above; tests run in a bubble of their own time

// Pace bounds the calls made with one key. What is not set is the default, or
// no bound where none is named.
type Pace struct {
	Concurrency       int           // calls at a time, 64
	RequestsPerMinute int           // no bound
	TokensPerMinute   int           // no bound; estimated before a call, corrected by what it says it used
	Timeout           time.Duration // of one try, 5 minutes; waiting for its turn does not count
	Tries             int           // of a call, 6; those that met a rate limit do not count
	Patience          time.Duration // for the tries of a call and the pauses between them, 10 minutes
	Hold              time.Duration // for which all calls are held while the vendor does not answer, 5 minutes
	Limiter           Limiter       // in place of the bounds per minute above, for one that several processes share
}

func (p Pace) withDefaults() Pace {
	p.Concurrency = cmp.Or(max(p.Concurrency, 0), 64)
	p.Timeout = cmp.Or(max(p.Timeout, 0), 5*time.Minute)
	p.Tries = cmp.Or(max(p.Tries, 0), 6)
	p.Patience = cmp.Or(max(p.Patience, 0), 10*time.Minute)
	p.Hold = cmp.Or(max(p.Hold, 0), 5*time.Minute)
	if p.Limiter == nil {
		p.Limiter = newRates(p.RequestsPerMinute, p.TokensPerMinute, now())
	}
	return p
}

// Scheduler decides when the calls of one key are made, and makes them again
// when they break on the way. All models of a key share one.
//
// It starts with as many calls at a time as allowed, and finds out how many
// the vendor takes ([window]). A vendor's wish to wait holds the whole key,
// not only the call that was told. When tries fail in a row all calls are held
// and one is sent from time to time; when none has come back for [Pace.Hold],
// the run is stopped with [eval.Stop], so that what was not asked can be asked
// another day. Calls are served in the order they came in.
//
// It owns the retries: models made by vendors' clients must not retry.
type Scheduler struct {
	// Note, when set, is told what people may want to know when a run seems to
	// stand still. It is called from many goroutines.
	Note func(string)

	pace   Pace
	random func() float64

	mu      sync.Mutex
	calls   uint64    // given numbers so far
	queue   []*waiter // by number
	inUse   int
	window  window
	breaker breaker
	paused  time.Time // the vendor asked for it
	last    *Error    // the last failure
	timer   *time.Timer
}

// waiter is a call whose turn has not come.
type waiter struct {
	number   uint64
	failures int
	tokens   int
	ready    chan error // takes one
	turn     turn
}

// turn is a try that may be made.
type turn struct {
	mark    mark // in the window's round
	probe   bool
	started time.Time
	tokens  int
}

// NewScheduler makes the scheduler of a key. random gives numbers from 0 to 1
// and spreads the pauses before calls are made again; nil for any.
func NewScheduler(pace Pace, random func() float64) *Scheduler {
	if random == nil {
		random = rand.Float64
	}
	pace = pace.withDefaults()
	return &Scheduler{pace: pace, random: random, window: newWindow(pace.Concurrency, now())}
}

// Wrap puts the model's calls under the scheduler.
func (s *Scheduler) Wrap(m Model) Model {
	return ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) { return s.generate(ctx, m, req) })
}

func (s *Scheduler) generate(ctx context.Context, m Model, req *Request) (*Reply, error) {
	c := &call{s: s, tokens: Estimate(req).Total(), number: s.number()}
	for {
		if c.tries > 0 && req.again != nil {
			if err := req.again(); err != nil {
				return nil, err
			}
		}
		t, err := s.wait(ctx, &waiter{number: c.number, failures: c.tries, tokens: c.tokens, ready: make(chan error, 1)})
		if err != nil {
			return nil, err
		}
		c.tries++
		reply, err := s.try(ctx, m, req)
		if err != nil && req.failed != nil {
			req.failed(err)
		}
		took := now().Sub(t.started)
		if err == nil {
			s.served(t, took, reply)
			return c.settle(reply, took), nil
		}
		var e *Error
		if ctx.Err() != nil || !errors.As(err, &e) || !e.Temporary() {
			s.done(t, ctx.Err() != nil)
			return nil, final(err)
		}
		if err := c.again(ctx, t, e, took); err != nil {
			return nil, err
		}
	}
}

// final is the error of a call that is not tried again. Without money none of
// the others gets a reply either, and the run is stopped for it.
func final(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Class == Quota {
		return stopped(e, "%s", e.Message)
	}
	return err
}

// try makes one try with a time limit of its own.
func (s *Scheduler) try(ctx context.Context, m Model, req *Request) (*Reply, error) {
	own, cancel := context.WithTimeout(ctx, s.pace.Timeout)
	defer cancel()
	reply, err := safely(own, m, req)
	var e *Error
	switch {
	case err == nil && reply != nil && !plausible(reply.Usage):
		clean := *reply
		clean.Usage = eval.Usage{Calls: 1, Unpriced: 1}
		clean.Notes = append(slices.Clone(reply.Notes), "tokens unknown: the server reports numbers that cannot be")
		return &clean, nil
	case err == nil && reply == nil:
		return nil, &Error{Class: Malformed, Message: "the model gave neither a reply nor an error"}
	case err == nil || ctx.Err() != nil || own.Err() == nil:
		return reply, err
	case errors.As(err, &e) && e.Class != Transport && e.Class != Timeout:
		return nil, err // it failed for a reason of its own as its time ran out
	}
	late := &Error{Class: Timeout, Message: fmt.Sprintf("no reply within %s", s.pace.Timeout), Err: err}
	if e != nil {
		late.Provider, late.Model = e.Provider, e.Model
	}
	return nil, late
}

// safely makes a panic of a model an error: its place must be given back.
func safely(ctx context.Context, m Model, req *Request) (reply *Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = nil, fmt.Errorf("the model broke: %v", p)
		}
	}()
	return m.Generate(ctx, req)
}

// call is what the scheduler knows of a call between its tries.
type call struct {
	s        *Scheduler
	number   uint64
	tokens   int
	tries    int
	failures int           // that count against [Pace.Tries]
	spent    time.Duration // on tries and the pauses after them
}

// settle makes a reply say what it took: the latency is that of the try that
// got it.
func (c *call) settle(reply *Reply, took time.Duration) *Reply {
	r := *reply
	if r.Latency == 0 {
		r.Latency = took
	}
	if c.tries > 1 {
		r.Tries = c.tries
	}
	return &r
}

// again waits until a failed call may be tried again, or says why not. The
// place is kept for the first part of the pause: see [window.hold].
func (c *call) again(ctx context.Context, t turn, e *Error, took time.Duration) error {
	s := c.s
	if c.counts(t, e) {
		c.failures++
	}
	pause := s.backoff(c.tries, e)
	c.spent += took + pause
	hold := min(s.failed(t, e, took), pause)
	err := c.bound(e)
	if err == nil {
		err = sleep(ctx, hold)
	}
	s.release()
	if err == nil {
		err = sleep(ctx, pause-hold)
	}
	return err
}

// counts tells whether a failure may be the call's own. A rate limit is not,
// and neither is a line that is down for everybody.
func (c *call) counts(t turn, e *Error) bool {
	return !rejected(e) && !(t.probe && e.Class == Transport)
}

// rejected tells whether the vendor had no room for a try.
func rejected(e *Error) bool { return e.Class == RateLimited || e.Class == Overloaded }

func (c *call) bound(e *Error) error {
	switch {
	case c.failures >= c.s.pace.Tries && c.tries > 1:
		return fmt.Errorf("%w; tried %d times", e, c.tries)
	case c.failures >= c.s.pace.Tries:
		return e
	case c.spent > c.s.pace.Patience:
		return fmt.Errorf("%w; tried %d times in %s", e, c.tries, c.s.pace.Patience)
	}
	return nil
}

const (
	firstPause = 500 * time.Millisecond
	mostPause  = 30 * time.Second

	// After a rejection: it is the window that brings the rate down, not the
	// pauses of its calls.
	firstRejected = 100 * time.Millisecond
	mostRejected  = time.Second
)

// backoff is the pause after so many tries: twice as long each time, half of
// it by chance, so that calls that failed together do not come back together.
func (s *Scheduler) backoff(tries int, e *Error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, most := firstPause, mostPause
	switch {
	case rejected(e) && s.window.bear > 0:
		first, most = firstRejected, firstRejected // by chance: there is nothing to wait for
	case rejected(e):
		first, most = firstRejected, mostRejected
	}
	d := min(first<<min(tries-1, 16), most)
	return d/2 + time.Duration(s.random()*float64(d/2))
}

func (s *Scheduler) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.calls
}

// wait waits for a call's turn.
func (s *Scheduler) wait(ctx context.Context, w *waiter) (turn, error) {
	if ctx.Err() != nil {
		return turn{}, context.Cause(ctx)
	}
	s.mu.Lock()
	at, _ := slices.BinarySearchFunc(s.queue, w.number, func(w *waiter, n uint64) int { return cmp.Compare(w.number, n) })
	s.queue = slices.Insert(s.queue, at, w)
	s.dispatch()
	s.mu.Unlock()

	select {
	case err := <-w.ready:
		return w.turn, err
	case <-ctx.Done():
	}
	s.mu.Lock()
	if i := slices.Index(s.queue, w); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		s.dispatch() // those behind may want less
		s.mu.Unlock()
		return turn{}, context.Cause(ctx)
	}
	s.mu.Unlock()
	if err := <-w.ready; err == nil { // its turn came at the same moment
		s.done(w.turn, true)
	}
	return turn{}, context.Cause(ctx)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stopped is the error of calls that end the run.
func stopped(e *Error, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	return &Error{
		Class: e.Class, Provider: e.Provider, Model: e.Model, Status: e.Status, RetryAfter: e.RetryAfter,
		Message: why, Err: &eval.Stop{Why: cmp.Or(e.Provider, "the model") + ": " + why},
	}
}
