package eval

import (
	"encoding/json"
	"slices"
	"time"
)

// EventKind says what an [Event] is about.
type EventKind string

// The kinds of events. Calls of models, tools and judges are reported where
// they are made, one place for each kind. A [ScoreEvent] is reported for a check that
// made calls: they have it as their parent.
const (
	ModelEvent EventKind = "model"
	ToolEvent  EventKind = "tool"
	JudgeEvent EventKind = "judge"
	ScoreEvent EventKind = "score"
)

// Event is something that took time in an attempt: a call of a model, a tool or
// a judge, or a check that made such calls.
type Event struct {
	Attempt  Identity
	ID       int // within the attempt, from 1
	Parent   int // the event it is part of; 0 for the attempt itself
	Kind     EventKind
	Name     string // of the model, the tool, the check
	Start    time.Duration
	Duration time.Duration
	Usage    *Usage
	Error    string

	// What was sent and what came back. Observers see it; results keep the
	// response and the scores instead.
	Input, Output any
}

type eventJSON struct {
	ID         int       `json:"id"`
	Parent     int       `json:"parent,omitempty"`
	Kind       EventKind `json:"kind"`
	Name       string    `json:"name,omitempty"`
	StartMS    float64   `json:"start_ms"`
	DurationMS float64   `json:"duration_ms"`
	Usage      *Usage    `json:"usage,omitempty"`
	Error      string    `json:"error,omitempty"`
}

// MarshalJSON writes the event as a result keeps it.
func (e Event) MarshalJSON() ([]byte, error) {
	return marshal(func(enc *Encoder) { enc.event(&e) })
}

func (j *eventJSON) event() Event {
	return Event{
		ID: j.ID, Parent: j.Parent, Kind: j.Kind, Name: j.Name,
		Start: fromMillis(j.StartMS), Duration: fromMillis(j.DurationMS), Usage: j.Usage, Error: j.Error,
	}
}

// UnmarshalJSON reads an event of a stored result.
func (e *Event) UnmarshalJSON(b []byte) error {
	var j eventJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*e = j.event()
	return nil
}

// scope is a check while it is graded. It becomes an event when the first call
// is made in it.
type scope struct {
	id     int // 0 until then
	parent *scope
	name   string
	start  time.Duration
}

// Call is a call under way; [Call.End] reports it.
type Call struct {
	attempt *Attempt
	id      int
	kind    EventKind
	name    string
	input   any
	start   time.Duration
}

// Begin starts a call of a model, a tool or a judge.
func (a *Attempt) Begin(kind EventKind, name string, input any) *Call {
	c := &Call{attempt: a, kind: kind, name: name, input: input}
	if a.life == nil {
		return c
	}
	a.life.mu.Lock()
	defer a.life.mu.Unlock()
	c.id, c.start = a.nextID(), a.elapsed()
	return c
}

// nextID numbers an event; the checks it happens in are numbered before it.
// a.life.mu is held.
func (a *Attempt) nextID() int {
	if a.scope != nil && a.scope.id == 0 {
		outer := *a
		outer.scope = a.scope.parent
		a.scope.id = outer.nextID()
	}
	a.life.events = append(a.life.events, Event{})
	return len(a.life.events)
}

func (a *Attempt) elapsed() time.Duration { return a.Env.now().Sub(a.life.start) }

// Start is when the call began, since the attempt started.
func (c *Call) Start() time.Duration { return c.start }

// End reports the call: what came back, what it consumed, how it failed.
func (c *Call) End(output any, usage *Usage, err error) {
	a := c.attempt
	if a.life == nil {
		return
	}
	e := Event{ID: c.id, Kind: c.kind, Name: c.name, Start: c.start, Usage: usage, Input: c.input, Output: output}
	if err != nil {
		e.Error = err.Error()
	}
	a.report(e)
}

// report keeps an event and tells the observer.
func (a *Attempt) report(e Event) {
	e.Attempt = a.Identity()
	a.life.mu.Lock()
	e.Duration = a.elapsed() - e.Start
	if s := a.scope; s != nil && s.id != e.ID {
		e.Parent = s.id
	} else if s != nil && s.parent != nil {
		e.Parent = s.parent.id
	}
	kept := e
	kept.Attempt, kept.Input, kept.Output = Identity{}, nil, nil
	a.life.events[e.ID-1] = kept
	a.life.mu.Unlock()
	if a.Env != nil && a.Env.Observe != nil {
		a.Env.Observe(e)
	}
}

// finished lists the events that were reported. A call that has not ended, as
// that of a target which gave up waiting for it, is not one of them.
func (l *life) finished() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.events) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.events), func(e Event) bool { return e.ID == 0 })
}

// within is the attempt as a check sees it: with the part of the response that
// it looks at, and so that the calls it makes are reported as part of it.
func (a *Attempt) within(key string, r *Response) *Attempt {
	inner := &struct { // one allocation for each check
		Attempt
		own scope
	}{Attempt: *a}
	inner.Response = r
	if a.life != nil {
		inner.own = scope{parent: a.scope, name: key, start: a.elapsed()}
		inner.scope = &inner.own
	}
	return &inner.Attempt
}

// leave reports the check if calls were made in it.
func (a *Attempt) leave(s *Score) {
	if a.life == nil {
		return
	}
	a.life.mu.Lock()
	id := a.scope.id
	a.life.mu.Unlock()
	if id == 0 {
		return
	}
	e := Event{ID: id, Kind: ScoreEvent, Name: a.scope.name, Start: a.scope.start}
	if s.Status == Unscored {
		e.Error = s.Reason
	}
	a.report(e)
}
