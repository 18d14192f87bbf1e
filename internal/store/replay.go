package store

import (
	"context"
	"fmt"
	"os"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Replay is a stored run as a target: it answers each case with what the run
// holds for it, so that changed checks can be held against the same answers.
type Replay struct {
	file   *os.File
	places map[replayKey]place
}

type replayKey struct {
	id    string
	trial int
}

// NewReplay reads where the responses of the run in dir stand.
func NewReplay(dir string) (*Replay, error) {
	f := &folder{dir: dir}
	order, err := f.order()
	if err != nil {
		return nil, err
	}
	places, file, err := f.index(order)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(order))
	for id, n := range order {
		ids[n] = id
	}
	r := &Replay{file: file, places: make(map[replayKey]place, len(places))}
	for _, p := range places {
		r.places[replayKey{ids[p.order], p.trial}] = p
	}
	return r, nil
}

// Trials is how many trials of a case the run holds; 0 when it has none.
func (r *Replay) Trials(id string) int {
	n := 0
	for {
		if _, ok := r.places[replayKey{id, n + 1}]; !ok {
			return n
		}
		n++
	}
}

// Respond gives the stored response; where the run has no answer, its error.
func (r *Replay) Respond(ctx context.Context, c *eval.Case) (*eval.Response, error) {
	p, ok := r.places[replayKey{c.ID, eval.TrialOf(ctx)}]
	if !ok {
		return nil, fmt.Errorf("the run holds no answer for trial %d of %s", eval.TrialOf(ctx), c.ID)
	}
	res, err := readResult(r.file, p)
	if err != nil {
		return nil, fmt.Errorf("read the stored answer for %s: %w", c.ID, err)
	}
	if res.Response == nil {
		return nil, storedFault{res.Fault}
	}
	return res.Response, nil
}

// Close lets go of the run's file.
func (r *Replay) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

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
