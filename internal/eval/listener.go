package eval

import (
	"fmt"
	"sync"
	"time"
)

// Journal keeps a run. It is the only part of a run whose error ends it.
type Journal interface {
	// Start is called before the first case.
	Start(run *Run) error
	// Append writes a result, so that it survives the end of the process. It is
	// safe for concurrent use.
	Append(res *Result) error
	// Sync makes what was written survive a power cut.
	Sync() error
	// Finish keeps the finished run.
	Finish(run *Run) error
	// Keep stores data under its digest.
	Keep(data []byte) (digest string, err error)
	// Spool notes results that a listener did not take, to be delivered later.
	Spool(listener string, results []Identity) error
}

// Listener is told what happens in a run: progress, uploads, exports, a live
// page. Each has a goroutine and a bounded queue of its own. What a listener
// does, a hang and a panic included, changes no verdict, no exit code and not
// the duration of the run; its errors become notes of the run.
type Listener interface {
	// Name is how notes and the spool call it.
	Name() string
	Start(run *Run) error
	// Event is told of a finished call. Events are dropped when the queue is full.
	Event(e Event) error
	// Results is told of results that are on disk.
	Results(batch []*Result) error
	Finish(run *Run) error
}

// Spooler is implemented by listeners that can deliver later what they missed:
// the results they did not take are noted in the run folder.
type Spooler interface{ Spools() bool }

// Patient is implemented by listeners that a run waits for longer than usual
// at its end.
type Patient interface{ Patience() time.Duration }

// queued bounds what waits for one listener: results, and events beside them.
const queued = 4096

// How long a run waits for its listeners at the end: a share of its own
// duration, within bounds.
const (
	graceShare = 25
	leastGrace = 20 * time.Millisecond
	mostGrace  = 5 * time.Second
)

// broadcast tells the listeners of a run.
type broadcast struct {
	journal Journal
	started time.Time
	posts   []*post
}

func newBroadcast(listeners []Listener, j Journal) *broadcast {
	b := &broadcast{journal: j}
	for _, l := range listeners {
		b.posts = append(b.posts, &post{listener: l, wake: make(chan struct{}, 1), gone: make(chan struct{})})
	}
	return b
}

// start tells the listeners that the run starts, or goes on, at the given time.
func (b *broadcast) start(run *Run, now time.Time) {
	b.started = now
	for _, p := range b.posts {
		snapshot := *run // the run goes on
		p.add(letter{start: &snapshot})
		go p.deliver()
	}
}

func (b *broadcast) event(e Event) {
	for _, p := range b.posts {
		p.add(letter{event: &e})
	}
}

func (b *broadcast) results(batch []*Result) {
	for _, p := range b.posts {
		p.add(letter{results: batch})
	}
}

// abandon ends all deliveries without waiting for them.
func (b *broadcast) abandon() {
	for _, p := range b.posts {
		p.close()
	}
}

// finish lets the listeners finish, all at the same time, and returns what went
// wrong with them. The run goes on without one that takes too long.
func (b *broadcast) finish(run *Run) (notes []string) {
	grace := min(max(run.Finished.Sub(b.started)/graceShare, leastGrace), mostGrace)
	for _, p := range b.posts {
		snapshot := *run // the run gets notes while the listener reads it
		p.add(letter{finish: &snapshot})
		p.close()
		p.patience = grace
		if patient, ok := p.listener.(Patient); ok {
			p.patience = patient.Patience()
		}
		p.timer = time.NewTimer(p.patience)
	}
	for _, p := range b.posts {
		if note := p.wait(); note != "" {
			notes = append(notes, note)
		}
		if missed := p.takeMissed(); len(missed) > 0 && p.spools() && b.journal != nil {
			if err := b.journal.Spool(p.listener.Name(), missed); err != nil {
				notes = append(notes, fmt.Sprintf("%s: spool %d results: %v", p.listener.Name(), len(missed), err))
			}
		}
	}
	return notes
}

// letter is one thing to tell a listener.
type letter struct {
	start, finish *Run
	event         *Event
	results       []*Result
}

// post is the queue of one listener.
type post struct {
	listener Listener
	wake     chan struct{}
	gone     chan struct{} // closed when the listener is done with the run
	patience time.Duration // how long the run waits for it at its end
	timer    *time.Timer   // of that

	mu      sync.Mutex
	queue   []letter
	waiting int // results in the queue
	closed  bool
	current []*Result  // being delivered
	missed  []Identity // results that were not taken
	errors  int
	first   error
}

// add queues a letter without ever blocking. What does not fit is dropped:
// events for good, results as missed.
func (p *post) add(l letter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed && l.finish == nil:
		return
	case l.event != nil && len(p.queue) >= queued:
		return
	case l.results != nil && p.waiting+len(l.results) > queued:
		p.miss(l.results)
		return
	}
	p.waiting += len(l.results)
	p.queue = append(p.queue, l)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *post) miss(results []*Result) {
	for _, r := range results {
		p.missed = append(p.missed, r.Identity())
	}
}

// close ends the queue: what is in it is still delivered.
func (p *post) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// next takes the next letter, nil when there is none yet. done tells that there
// will be none.
func (p *post) next() (l *letter, done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = nil
	if len(p.queue) == 0 {
		return nil, p.closed
	}
	first := p.queue[0]
	p.queue[0] = letter{} // so that its results can be freed
	p.queue = p.queue[1:]
	p.waiting -= len(first.results)
	p.current = first.results
	return &first, false
}

// deliver hands letters to the listener until the queue is closed and empty.
func (p *post) deliver() {
	defer close(p.gone)
	for {
		l, done := p.next()
		switch {
		case done:
			return
		case l == nil:
			<-p.wake
		default:
			if !p.hand(l) {
				return
			}
		}
	}
}

// hand gives one letter to the listener. One that panicked gets no more.
func (p *post) hand(l *letter) (alive bool) {
	var err error
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		} else {
			alive = true
		}
		if err != nil {
			p.failed(err, l.results)
		}
	}()
	switch {
	case l.start != nil:
		err = p.listener.Start(l.start)
	case l.event != nil:
		err = p.listener.Event(*l.event)
	case l.finish != nil:
		err = p.listener.Finish(l.finish)
	default:
		err = p.listener.Results(l.results)
	}
	return alive
}

func (p *post) failed(err error, results []*Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors++
	if p.first == nil {
		p.first = err
	}
	p.miss(results)
	p.current = nil
}

// wait waits until the listener is done or its time is up. It returns what went
// wrong.
func (p *post) wait() string {
	hung := false
	defer p.timer.Stop()
	select {
	case <-p.gone:
	case <-p.timer.C:
		select {
		case <-p.gone: // it finished while the run waited for another
		default:
			hung = true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := p.listener.Name()
	switch {
	case hung:
		return fmt.Sprintf("%s: not done %s after the run, so the run did not wait for it", name, p.patience.Round(time.Millisecond))
	case p.errors > 1:
		return fmt.Sprintf("%s: %v (%d errors)", name, p.first, p.errors)
	case p.first != nil:
		return fmt.Sprintf("%s: %v", name, p.first)
	}
	return ""
}

// takeMissed returns the results that the listener did not take, those still
// in its hands included.
func (p *post) takeMissed() []Identity {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.miss(p.current)
	for _, l := range p.queue {
		p.miss(l.results)
	}
	p.queue, p.current = nil, nil
	return p.missed
}

func (p *post) spools() bool {
	s, ok := p.listener.(Spooler)
	return ok && s.Spools()
}
