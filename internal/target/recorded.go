package target

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Tape keeps exchanges under a kind and a key; what is equal as JSON is the
// same key.
type Tape interface {
	Load(kind string, key, into any) (bool, error)
	Save(kind string, key, value any) error
}

// Taping says what a [Recorded] target does with its tape.
type Taping int

// A recording target asks and keeps every answer. A replaying one asks nobody:
// what is not on the tape is an error. A caching one asks what it has not kept.
const (
	Recording Taping = iota
	Replaying
	Caching
)

// Recorded is a server with a tape between it and the run.
type Recorded struct {
	Name   string // as cases call it
	Target eval.Target
	Tape   Tape
	Taping Taping

	described map[string]string
}

// Asked is what an answer on a tape belongs to.
type Asked struct {
	Target string          `json:"target"`
	Tool   string          `json:"tool,omitempty"`
	Input  json.RawMessage `json:"input"`
	Trial  int             `json:"trial"`
}

// AnswerEntry is the kind of the entries of a tape that hold what a target said
// to a case: an [Asked], and an [eval.Result].
const AnswerEntry = "answer"

const (
	targetEntry = "target" // what a target turned out to be
)

// Prepare prepares the server, or finds on the tape what it was.
func (r *Recorded) Prepare(ctx context.Context, env *eval.Env, cases []*eval.Case) error {
	if r.Taping == Replaying {
		ok, err := r.Tape.Load(targetEntry, r.Name, &r.described)
		if err == nil && !ok {
			err = &eval.Missing{What: []string{fmt.Sprintf("the target %s is not on the tape: replay with the flags and the environment that the recording was made with", r.Name)}}
		}
		return err
	}
	if p, ok := r.Target.(eval.Preparer); ok {
		if err := p.Prepare(ctx, env, cases); err != nil {
			return err
		}
	}
	if d, ok := r.Target.(eval.Describer); ok {
		r.described = d.Describe()
	}
	return r.Tape.Save(targetEntry, r.Name, r.described)
}

// Describe says what the server is, or was.
func (r *Recorded) Describe() map[string]string { return r.described }

// Respond gives what is on the tape, or asks.
func (r *Recorded) Respond(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
	c := a.Case
	key := Asked{r.Name, c.Tool, c.Input, max(1, a.Trial)}
	if r.Taping != Recording {
		var kept eval.Result
		ok, err := r.Tape.Load(AnswerEntry, key, &kept)
		switch {
		case err != nil:
			return nil, err
		case ok && kept.Fault != nil:
			return nil, &fault{fmt.Errorf("%s", kept.Fault.Message), kept.Fault.Class}
		case ok:
			return kept.Response, nil
		case r.Taping == Replaying:
			return nil, &fault{fmt.Errorf("the call of %s with %s, trial %d, is not on the tape", c.Tool, c.Input, key.Trial), "unrecorded"}
		}
	}
	resp, err := r.Target.Respond(ctx, a)
	kept := &eval.Result{Case: c, Trial: key.Trial, Response: resp}
	if err != nil {
		if ctx.Err() != nil || r.Taping == Caching {
			return nil, err // nobody waited for it, or it may go well the next time
		}
		kept.Fault = eval.FaultOf(err)
	}
	if saved := r.Tape.Save(AnswerEntry, key, kept); saved != nil {
		return nil, saved
	}
	return resp, err
}

// Close ends the server.
func (r *Recorded) Close() error {
	if c, ok := r.Target.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}
