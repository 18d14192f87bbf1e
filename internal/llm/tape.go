package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/secret"
)

// TapeMode is what a tape is used for.
type TapeMode int

const (
	// Record makes every call and keeps what came of it, replies as well as
	// the errors that calls ended with: a replay tells the same story.
	Record TapeMode = iota + 1
	// Replay makes no call. What is not on the tape is an [Error] of the class
	// [Unrecorded].
	Replay
	// Cache makes the calls whose replies it does not have, and keeps whole
	// replies. Errors are not kept, and neither are replies that were cut off,
	// filtered or empty, which callers make errors of: a cache must not keep
	// them alive.
	Cache
)

// Tape keeps exchanges in a folder, one file each, by what was asked: the
// model, the request, the trial and the sample. Calls that are equal in all of
// them are one call: they are made once, and share what came of it. That is
// what makes a replay give the same bytes, whatever order calls come in.
//
// A tape holds no headers and no keys: it never sees them. It belongs around
// the other wrappers: what it replays is not scheduled and spends no budget.
type Tape struct {
	// Redact, when set, is applied to every text before it is written. A
	// recording hands out what it has written, so that a later call which
	// quotes a reply is the same in the replay. Set it before the first call.
	Redact *secret.Redactor

	dir  string
	mode TapeMode

	mu   sync.Mutex
	made map[string]bool          // paths written by this recording
	busy map[string]chan struct{} // paths of calls under way; closed when they end
}

// OpenTape opens the tape in a folder, or begins one there. One that is to be
// replayed must be there already.
func OpenTape(dir string, mode TapeMode) (*Tape, error) {
	t := &Tape{dir: dir, mode: mode, made: map[string]bool{}, busy: map[string]chan struct{}{}}
	marker := filepath.Join(dir, tapeMarker)
	b, err := os.ReadFile(marker)
	switch {
	case err == nil:
		if err := t.checkMarker(b); err != nil {
			return nil, err
		}
		return t, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open tape: %w", err)
	case mode == Replay:
		return nil, fmt.Errorf("open tape: %s is no tape: it has no %s", dir, tapeMarker)
	}
	if holdsOthers(dir) {
		return nil, fmt.Errorf("open tape: %s holds other things, want an empty or a new folder", dir)
	}
	if err := fsx.WriteFile(marker, fmt.Appendf(nil, "{\"format\": %d}\n", tapeFormat)); err != nil {
		return nil, fmt.Errorf("open tape: %w", err)
	}
	return t, nil
}

// holdsOthers tells whether a folder without a marker is somebody's. Hidden
// files do not count: another program may be beginning the same tape.
func holdsOthers(dir string) bool {
	files, _ := os.ReadDir(dir) // one that is not there holds nothing
	return slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		return !strings.HasPrefix(f.Name(), ".") && f.Name() != tapeMarker
	})
}

func (t *Tape) checkMarker(b []byte) error {
	var marker struct {
		Format int `json:"format"`
	}
	err := json.Unmarshal(b, &marker)
	switch {
	case err != nil:
		return fmt.Errorf("open tape: %s: %w", filepath.Join(t.dir, tapeMarker), err)
	case marker.Format < 1 || marker.Format > tapeFormat:
		return fmt.Errorf("open tape: %s has the format %d, and this program knows %d", t.dir, marker.Format, tapeFormat)
	}
	return nil
}

// Mode is what the tape was opened for.
func (t *Tape) Mode() TapeMode { return t.mode }

// Dir is the folder the tape is in.
func (t *Tape) Dir() string { return t.dir }

const callEntry = "model"

// callKey is what a call is known by.
type callKey struct {
	Model   string   `json:"model"`
	Request *Request `json:"request"`
}

// outcome is what came of a call.
type outcome struct {
	Reply *Reply     `json:"reply,omitempty"`
	Error *savedFail `json:"error,omitempty"`
}

// savedFail is an error on a tape.
type savedFail struct {
	Class    Class  `json:"class"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Status   int    `json:"status,omitempty"`
	Message  string `json:"message"`
	Text     string `json:"text"` // all that was said of it
}

// tapeError is an error from a tape: it says what the one it was said.
type tapeError struct {
	text string
	err  *Error
}

func (e *tapeError) Error() string { return e.text }
func (e *tapeError) Unwrap() error { return e.err }

func (f *savedFail) restore() error {
	return &tapeError{f.Text, &Error{Class: f.Class, Provider: f.Provider, Model: f.Model, Status: f.Status, Message: f.Message}}
}

func (o *outcome) result() (*Reply, error) {
	if o.Error != nil {
		return nil, o.Error.restore()
	}
	return o.Reply, nil
}

// Wrap puts the tape between a model and its callers. m may be nil when the
// tape is replayed.
//
// A reply from a cache says so, and has consumed nothing: the usage and cost
// of a run are what it really spent. One that is replayed is in all things the
// one that was recorded.
func (t *Tape) Wrap(spec Spec, m Model) Model {
	return ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) {
		key := callKey{spec.String(), req}
		path, err := t.path(callEntry, key)
		if err != nil {
			return nil, err
		}
		if t.mode != Replay {
			if err := t.enter(ctx, path); err != nil {
				return nil, err
			}
			defer t.leave(path)
		}
		if o, err := t.kept(path, key); o != nil || err != nil {
			if err != nil {
				return nil, err
			}
			return o.result()
		}
		if t.mode == Replay {
			return nil, t.unrecorded(spec, req)
		}
		reply, err := m.Generate(ctx, req)
		return t.keep(ctx, path, key, reply, err)
	})
}

// enter waits until no equal call is under way.
func (t *Tape) enter(ctx context.Context, path string) error {
	for {
		t.mu.Lock()
		other, busy := t.busy[path]
		if !busy {
			t.busy[path] = make(chan struct{})
		}
		t.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (t *Tape) leave(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.busy[path])
	delete(t.busy, path)
}

// kept finds what came of a call before, nil when it is to be made.
func (t *Tape) kept(path string, key callKey) (*outcome, error) {
	t.mu.Lock()
	made := t.made[path]
	t.mu.Unlock()
	if t.mode == Record && !made {
		return nil, nil // what an earlier recording has is recorded anew
	}
	var o outcome
	ok, err := t.Load(callEntry, key, &o)
	switch {
	case err != nil || !ok:
		return nil, err
	case o.Reply == nil && o.Error == nil:
		return nil, fmt.Errorf("tape entry %s: it has neither a reply nor an error", path)
	case t.mode == Cache && (o.Reply == nil || !o.Reply.whole()): // of a recording
		return nil, nil
	case t.mode == Cache:
		o.Reply.Usage, o.Reply.Cached = eval.Usage{}, true
	}
	return &o, nil
}

// keep saves what came of a call and gives it as it was saved. What is not the
// call's own doing is not kept: that nobody waited for it, or that the run is
// to stop.
func (t *Tape) keep(ctx context.Context, path string, key callKey, reply *Reply, err error) (*Reply, error) {
	o := outcome{Reply: reply}
	if err != nil {
		var e *Error
		var stop *eval.Stop
		if t.mode == Cache || ctx.Err() != nil || errors.As(err, &stop) || !errors.As(err, &e) {
			return nil, err
		}
		o = outcome{Error: &savedFail{e.Class, e.Provider, e.Model, e.Status, e.Message, err.Error()}}
	} else if reply == nil {
		return nil, errors.New("the model gave neither a reply nor an error")
	} else if t.mode == Cache && !reply.whole() {
		return reply, nil
	}
	if err := t.Save(callEntry, key, o); err != nil {
		return nil, err
	}
	if t.mode == Cache {
		return reply, nil
	}
	t.mu.Lock()
	t.made[path] = true
	t.mu.Unlock()
	saved, err := t.kept(path, key)
	if err != nil {
		return nil, err
	}
	return saved.result()
}

// whole tells whether a reply is what the model had to say.
func (r *Reply) whole() bool {
	switch r.Finish {
	case Refusal, ToolUse:
		return true
	case Stop:
		return strings.TrimSpace(r.Text) != "" || len(r.Calls) > 0
	}
	return false
}

// unrecorded names a call that is not on the tape.
func (t *Tape) unrecorded(spec Spec, req *Request) error {
	text := t.Redact.String(firstWords(req))
	return &Error{
		Class: Unrecorded, Provider: spec.Provider, Model: strings.TrimPrefix(spec.String(), spec.Provider+":"),
		Message: fmt.Sprintf("the tape %s has no reply to %q, trial %d, sample %d: it was not recorded, or what is asked has changed",
			t.dir, text, req.Trial, req.Sample),
	}
}

// firstWords shows what a request asks.
func firstWords(req *Request) string {
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
	Spec    Spec
	Request *Request
	Reply   *Reply // nil when it had none
	Err     error  // why
}

// Calls gives the calls of models on the tape, in an order that stays.
func (t *Tape) Calls() iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		for path, err := range t.files(callEntry) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(readCall(path)) {
				return
			}
		}
	}
}

// Entry is what was saved on a tape under a key.
type Entry struct{ Key, Value json.RawMessage }

// Entries gives what was saved of a kind, in an order that stays.
func (t *Tape) Entries(kind string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for path, err := range t.files(kind) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e, err := readEntry(path, kind)
			if e == nil && err == nil {
				continue // it has gone meanwhile
			}
			if err != nil {
				e = new(entry)
			}
			if !yield(Entry{e.Key, e.Value}, err) {
				return
			}
		}
	}
}

// files gives the paths of the entries of a kind, by name.
func (t *Tape) files(kind string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		dir := filepath.Join(t.dir, kind)
		files, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield("", fmt.Errorf("read tape: %w", err))
			return
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".json") || strings.HasPrefix(f.Name(), ".") {
				continue
			}
			if !yield(filepath.Join(dir, f.Name()), nil) {
				return
			}
		}
	}
}

func readCall(path string) (*Call, error) {
	e, err := readEntry(path, callEntry)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return nil, fmt.Errorf("tape entry %s: it has gone", path)
	}
	c, err := e.call()
	if err != nil {
		return nil, fmt.Errorf("tape entry %s: %w", path, err)
	}
	return c, nil
}

// call is the call an entry holds.
func (e *entry) call() (*Call, error) {
	var key callKey
	var o outcome
	if err := errors.Join(json.Unmarshal(e.Key, &key), json.Unmarshal(e.Value, &o)); err != nil {
		return nil, err
	}
	spec, err := ParseSpec(key.Model)
	if err != nil {
		return nil, err
	}
	if key.Request == nil || o.Reply == nil && o.Error == nil {
		return nil, errors.New("it has no request, or neither a reply nor an error")
	}
	c := &Call{Spec: spec, Request: key.Request}
	c.Reply, c.Err = o.result()
	return c, nil
}
