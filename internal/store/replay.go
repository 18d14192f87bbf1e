package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Replay is a stored run as a target: it answers each case with what the run
// holds for it, so that the same answers can be graded by changed checks.
type Replay struct {
	listing *listing
	orders  map[string]int32 // of the cases by id; their suite may have been renamed

	mu     sync.Mutex // guards the reader
	reader *reader    // nil for a run without results
}

// NewReplay reads where the responses of the run in dir are.
func NewReplay(dir string) (*Replay, error) {
	f := &folder{dir: dir}
	l, err := f.list(true)
	if err != nil {
		return nil, err
	}
	r := &Replay{listing: l, orders: make(map[string]int32, len(l.cases))}
	for i := range l.cases {
		r.orders[l.cases[i].id] = int32(i)
	}
	if len(l.places) > 0 {
		r.reader, err = f.open()
	}
	return r, err
}

// of gives the results of a case.
func (r *Replay) of(id string) []place {
	order, ok := r.orders[id]
	if !ok {
		return nil
	}
	return r.listing.of(order)
}

func question(c *eval.Case) string { return c.Tool + " " + c.Project + " " + string(c.Input) }

// Trials is the highest trial of a case that the run holds; 0 when it has none.
func (r *Replay) Trials(id string) (most int) {
	for _, p := range r.of(id) {
		most = max(most, int(p.trial))
	}
	return most
}

// Respond gives the stored response; where the run has no answer, its error.
func (r *Replay) Respond(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
	id, places := a.Identity(), r.of(a.Case.ID)
	i := slices.IndexFunc(places, func(p place) bool { return int(p.trial) == id.Trial && r.listing.arms[p.arm] == id.Arm })
	if i < 0 {
		return nil, notStored("the run holds no answer to it")
	}
	r.mu.Lock()
	res, err := r.reader.result(places[i], r.listing.cases[places[i].order])
	r.mu.Unlock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the stored answer for %s: %w", a.Case.ID, err)
	case question(res.Case) != question(a.Case):
		return nil, notStored("the case asks something else than when the run was made")
	case res.Response == nil:
		return nil, storedFault{res.Fault}
	}
	return res.Response, nil
}

// Close lets go of the run's files.
func (r *Replay) Close() error {
	if r.reader == nil {
		return nil
	}
	return r.reader.Close()
}

// notStored says why there is no answer to grade.
type notStored string

func (e notStored) Error() string { return string(e) }

// Class names the fault in reports.
func (e notStored) Class() string { return "not stored" }

// storedFault is a fault of the stored run, with its class.
type storedFault struct{ fault *eval.Fault }

func (e storedFault) Error() string {
	if e.fault == nil {
		return "the stored run has no answer"
	}
	return e.fault.Message
}

// Class is the class the fault had.
func (e storedFault) Class() string {
	if e.fault == nil {
		return eval.InternalFault
	}
	return e.fault.Class
}
