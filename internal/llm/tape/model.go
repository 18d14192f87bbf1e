package tape

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

const modelEntry = "model"

// modelKey is what a call of a model is known by.
type modelKey struct {
	Model   string       `json:"model"`
	Request *llm.Request `json:"request"`
}

// outcome is what came of a call of a model.
type outcome struct {
	Reply *llm.Reply `json:"reply,omitempty"`
	Error *llm.Error `json:"error,omitempty"`
	Text  string     `json:"text,omitempty"` // all that was said of the error
}

// keptError is an error from a tape: it says what the one it was said.
type keptError struct {
	text string
	err  *llm.Error
}

func (e *keptError) Error() string { return e.text }
func (e *keptError) Unwrap() error { return e.err }

func (o *outcome) result() (*llm.Reply, error) {
	if o.Error != nil {
		return nil, &keptError{o.Text, o.Error}
	}
	return o.Reply, nil
}

var errNoOutcome = errors.New("it has neither a reply nor an error")

// Wrap puts the tape between a model and its callers. m may be nil when the
// tape is replayed. Calls are the same that are equal in the model, the
// request, the trial and the sample.
//
// A reply from a cache says so, and has consumed nothing: the usage and cost
// of a run are what it really spent. One that is replayed is in all things the
// one that was recorded.
func (t *Tape) Wrap(spec llm.Spec, m llm.Model) llm.Model {
	return llm.ModelFunc(func(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
		o, err := Do(ctx, t, Exchange[outcome]{
			Kind: modelEntry, Key: modelKey{spec.String(), req}, Reuse: t.reuse,
			Make: func() (*outcome, bool, error) { return t.ask(ctx, m, req) },
		})
		switch {
		case errors.Is(err, ErrUnrecorded):
			return nil, t.unrecorded(spec, req)
		case err != nil:
			return nil, err
		}
		return o.result()
	})
}

// reuse tells whether a call need not be made again. A cache may also be given
// a recording, which has errors and replies that were cut off.
func (t *Tape) reuse(o *outcome) (bool, error) {
	switch {
	case o.Reply == nil && o.Error == nil:
		return false, errNoOutcome
	case t.mode == Cache && (o.Reply == nil || !whole(o.Reply)):
		return false, nil
	case t.mode == Cache:
		o.Reply.Usage, o.Reply.Cached = eval.Usage{}, true
	}
	return true, nil
}

// ask makes a call. What is not the call's own doing is not kept: that nobody
// waited for it, or that the run is to stop.
func (t *Tape) ask(ctx context.Context, m llm.Model, req *llm.Request) (*outcome, bool, error) {
	reply, err := m.Generate(ctx, req)
	var e *llm.Error
	var stop *eval.Stop
	switch {
	case err == nil && reply == nil:
		return nil, false, errors.New("the model gave neither a reply nor an error")
	case err == nil:
		return &outcome{Reply: reply}, t.mode != Cache || whole(reply), nil
	case t.mode == Cache || ctx.Err() != nil || errors.As(err, &stop) || !errors.As(err, &e):
		return nil, false, err
	}
	return &outcome{Error: e, Text: err.Error()}, true, nil
}

// whole tells whether a reply is what the model had to say.
func whole(r *llm.Reply) bool {
	switch r.Finish {
	case llm.Refusal, llm.ToolUse:
		return true
	case llm.Stop:
		return strings.TrimSpace(r.Text) != "" || len(r.Calls) > 0
	}
	return false
}

// unrecorded names a call that is not on the tape.
func (t *Tape) unrecorded(spec llm.Spec, req *llm.Request) error {
	text := firstWords(req)
	text = t.Redact.String(text)
	return &llm.Error{
		Class: llm.Unrecorded, Provider: spec.Provider, Model: strings.TrimPrefix(spec.String(), spec.Provider+":"),
		Message: fmt.Sprintf("the tape %s has no reply to %q, trial %d, sample %d: it was not recorded, or what is asked has changed",
			t.dir, text, req.Trial, req.Sample),
	}
}

// firstWords shows what a request asks.
func firstWords(req *llm.Request) string {
	var text string
	if n := len(req.Messages); n > 0 {
		m := req.Messages[n-1]
		text = m.Text
		for _, r := range m.Results {
			text += " " + r.Text
		}
	}
	words := []rune(strings.Join(strings.Fields(text), " "))
	if len(words) > 80 {
		return string(words[:80]) + "…"
	}
	return string(words)
}

// Call is a call of a model on a tape.
type Call struct {
	Spec    llm.Spec
	Request *llm.Request
	Reply   *llm.Reply // nil when it had none
	Err     error      // why
}

// Calls gives the calls of models on the tape, in an order that stays.
func (t *Tape) Calls() iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		for e, err := range t.Entries(modelEntry) {
			var c *Call
			if err == nil {
				c, err = e.call()
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// call is the call an entry holds.
func (e *Entry) call() (*Call, error) {
	var key modelKey
	var o outcome
	if err := e.Decode(&key, &o); err != nil {
		return nil, err
	}
	spec, err := llm.ParseSpec(key.Model)
	switch {
	case err != nil:
	case key.Request == nil:
		err = errors.New("it has no request")
	case o.Reply == nil && o.Error == nil:
		err = errNoOutcome
	}
	if err != nil {
		return nil, fmt.Errorf("tape entry %s: %w", e.Path, err)
	}
	c := &Call{Spec: spec, Request: key.Request}
	c.Reply, c.Err = o.result()
	return c, nil
}
