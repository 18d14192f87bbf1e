package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Replay is a stored run as a target: it answers each case with what the run
// holds for it, so that changed checks can be held against the same answers.
type Replay struct {
	file   *os.File
	places map[replayKey]place
	asked  map[string]string // what each case asked
	most   map[string]int    // highest trial of each case
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
	r.asked, err = f.questions()
	return r, err
}

// questions gives what each case of the run asked: its tool and input.
func (f *folder) questions() (map[string]string, error) {
	cases, err := openLines(filepath.Join(f.dir, casesFile))
	if err != nil {
		return nil, err
	}
	defer cases.Close()
	asked := map[string]string{}
	for {
		var c eval.Case
		switch err := cases.decode(&c); {
		case errors.Is(err, io.EOF):
			return asked, nil
		case err != nil:
			return nil, fmt.Errorf("read cases of run %s: %w", f.dir, err)
		}
		asked[c.ID] = question(&c)
	}
}

func question(c *eval.Case) string { return c.Tool + " " + c.Project + " " + string(c.Input) }

// Trials is the highest trial of a case that the run holds; 0 when it has none.
func (r *Replay) Trials(id string) int {
	if r.most == nil {
		r.most = map[string]int{}
		for k := range r.places {
			r.most[k.id] = max(r.most[k.id], k.trial)
		}
	}
	return r.most[id]
}

// Respond gives the stored response; where the run has no answer, its error.
func (r *Replay) Respond(ctx context.Context, c *eval.Case) (*eval.Response, error) {
	p, ok := r.places[replayKey{c.ID, eval.TrialOf(ctx)}]
	switch {
	case !ok:
		return nil, notStored("the run holds no answer to it")
	case r.asked[c.ID] != question(c):
		return nil, notStored("the case asks something else than when the run was made")
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
