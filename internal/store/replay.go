package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Replay is a stored run as a target: it answers each case with what the run
// holds for it, so that the same answers can be graded by changed checks.
type Replay struct {
	listing *listing
	orders  map[string]int32 // of the cases with results by id; their suite may have been renamed
	cases   map[string]Stored

	mu     sync.Mutex // guards the reader
	reader *reader    // nil for a run without results
}

// Stored is what a run has of a case.
type Stored struct {
	Target  string
	Trials  int // the highest trial with a result, 0 for none
	Planned int // how often it was to be tried
}

// NewReplay reads where the responses of the run in dir are.
func NewReplay(dir string) (*Replay, error) {
	run, err := readHeader(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, trials: run.Trials}
	l, err := f.list(true)
	if err != nil {
		return nil, err
	}
	cases, err := f.cases()
	if err != nil {
		return nil, err
	}
	r := &Replay{listing: l, orders: make(map[string]int32, len(l.cases)), cases: make(map[string]Stored, len(cases))}
	for i := range l.cases {
		r.orders[l.cases[i].id] = int32(i)
	}
	most := f.mostTrials(cases)
	for _, c := range cases {
		r.cases[c.id] = Stored{Target: c.target, Trials: r.trials(c.id, most[c.id]), Planned: most[c.id]}
	}
	if len(l.places) > 0 {
		r.reader, err = f.open()
	}
	return r, err
}

// Case is what the run has of a case; false for one it did not ask.
func (r *Replay) Case(id string) (Stored, bool) {
	s, ok := r.cases[id]
	return s, ok
}

// of gives the results of a case.
func (r *Replay) of(id string) []place {
	order, ok := r.orders[id]
	if !ok {
		return nil
	}
	return r.listing.of(order)
}

// trials is the highest trial of a case that the run has, up to a bound.
func (r *Replay) trials(id string, bound int) (most int) {
	for _, p := range r.of(id) {
		if int(p.trial) <= bound {
			most = max(most, int(p.trial))
		}
	}
	return most
}

// sameQuestion tells whether two cases ask the same, in whatever order their
// input is written.
func sameQuestion(a, b *eval.Case) bool {
	if a.Tool != b.Tool || a.Project != b.Project {
		return false
	}
	if bytes.Equal(a.Input, b.Input) {
		return true
	}
	var x, y any
	return json.Unmarshal(a.Input, &x) == nil && json.Unmarshal(b.Input, &y) == nil && reflect.DeepEqual(x, y)
}

// Respond gives the stored response; where the run has no answer, its error.
func (r *Replay) Respond(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
	id, places := a.Identity(), r.of(a.Case.ID)
	i := slices.IndexFunc(places, func(p place) bool { return int(p.trial) == id.Trial && r.listing.arms[p.arm] == id.Arm })
	if i < 0 {
		return nil, notStored("the run holds no answer to it")
	}
	r.mu.Lock()
	res, err := r.reader.result(places[i], r.listing.cases[places[i].order], id.Arm)
	r.mu.Unlock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the stored answer for %s: %w", a.Case.ID, err)
	case !sameQuestion(res.Case, a.Case):
		return nil, notStored("the case asks something else than when the run was made")
	case res.Response == nil:
		return nil, storedFault{res.Fault}
	}
	return res.Response, nil
}

// Close lets go of the run's files. It may be closed more than once: several
// targets of a run can be one replay.
func (r *Replay) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader == nil {
		return nil
	}
	reader := r.reader
	r.reader = nil
	return reader.Close()
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
