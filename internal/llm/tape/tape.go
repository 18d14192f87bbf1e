// Package tape keeps exchanges with models and servers in a folder, so that a
// run can be replayed without them.
package tape

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

	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/secret"
)

// Mode is what a tape is used for.
type Mode int

const (
	// Record makes every call and keeps what came of it, replies as well as
	// the errors that calls ended with: a replay tells the same story.
	Record Mode = iota + 1
	// Replay makes no call. What is not on the tape is [ErrUnrecorded].
	Replay
	// Cache makes the calls whose replies it does not have, and keeps whole
	// replies. Errors are not kept, and neither are replies that were cut off,
	// filtered or empty, which callers make errors of: a cache must not keep
	// them alive.
	Cache
)

// ErrUnrecorded is a call that is not on a tape that is replayed.
var ErrUnrecorded = errors.New("not on the tape")

// Tape keeps exchanges in a folder, one file each, by what was asked. Calls
// with equal keys are one call: they are made once, and share what came of it.
// That is what makes a replay give the same bytes, whatever order calls come
// in.
//
// A tape holds no headers and no keys: it never sees them. It belongs around
// the other wrappers of a model: what it replays is not scheduled and spends no
// budget.
type Tape struct {
	// Redact, when set, is applied to every text before it is written. A
	// recording hands out what it has written, so that a later call which
	// quotes a reply is the same in the replay. Set it before the first call.
	Redact *secret.Redactor

	dir  string
	mode Mode

	mu   sync.Mutex
	made map[string]bool          // paths written by this recording
	busy map[string]chan struct{} // paths of calls under way; closed when they end
}

// Open opens the tape in a folder, or begins one there. One that is to be
// replayed must be there already.
func Open(dir string, mode Mode) (*Tape, error) {
	t := &Tape{dir: dir, mode: mode, made: map[string]bool{}, busy: map[string]chan struct{}{}}
	path := filepath.Join(dir, marker)
	b, err := os.ReadFile(path)
	switch {
	case err == nil:
		if err := t.checkMarker(b); err != nil {
			return nil, err
		}
		return t, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open tape: %w", err)
	case mode == Replay:
		return nil, fmt.Errorf("open tape: %s is no tape: it has no %s", dir, marker)
	}
	if holdsOthers(dir) {
		return nil, fmt.Errorf("open tape: %s holds other things, want an empty or a new folder", dir)
	}
	if err := fsx.WritePrivate(path, fmt.Appendf(nil, "{\"format\": %d}\n", format)); err != nil {
		return nil, fmt.Errorf("open tape: %w", err)
	}
	return t, nil
}

// holdsOthers tells whether a folder without a marker is somebody's. Hidden
// files do not count: another program may be beginning the same tape.
func holdsOthers(dir string) bool {
	files, _ := os.ReadDir(dir) // one that is not there holds nothing
	return slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		return !strings.HasPrefix(f.Name(), ".") && f.Name() != marker
	})
}

func (t *Tape) checkMarker(b []byte) error {
	var m struct {
		Format int `json:"format"`
	}
	err := json.Unmarshal(b, &m)
	switch {
	case err != nil:
		return fmt.Errorf("open tape: %s: %w", filepath.Join(t.dir, marker), err)
	case m.Format < 1 || m.Format > format:
		return fmt.Errorf("open tape: %s has format %d, and this mettle reads format %d", t.dir, m.Format, format)
	case m.Format < format:
		return fmt.Errorf("open tape: %s was made by an older mettle: record it again, into a new folder or after removing this one", t.dir)
	}
	return nil
}

// Mode is what the tape was opened for.
func (t *Tape) Mode() Mode { return t.mode }

// Dir is the folder the tape is in.
func (t *Tape) Dir() string { return t.dir }

// Exchange is a call with a tape between the caller and who is called. T is
// what came of the call, as the tape keeps it.
type Exchange[T any] struct {
	Kind string
	Key  any
	// Reuse tells whether an outcome on the tape will do. An error means that
	// it is damaged.
	Reuse func(*T) (bool, error)
	// Make makes the call. It tells whether the tape is to keep what came of
	// it; an error is not kept.
	Make func() (outcome *T, keep bool, err error)
}

// Do gives what came of a call: from the tape if it has it, else the call is
// made. A recording makes each call anew, once, and gives what it has written.
func Do[T any](ctx context.Context, t *Tape, x Exchange[T]) (*T, error) {
	path, err := t.path(x.Kind, x.Key)
	if err != nil {
		return nil, err
	}
	if t.mode != Replay {
		if err := t.enter(ctx, path); err != nil {
			return nil, err
		}
		defer t.leave(path)
	}
	if t.mode != Record || t.isMade(path) {
		if o, err := kept(t, path, &x); o != nil || err != nil {
			return o, err
		}
	}
	if t.mode == Replay {
		return nil, ErrUnrecorded
	}
	o, keep, err := x.Make()
	if err != nil || !keep {
		return o, err
	}
	if err := t.Save(x.Kind, x.Key, o); err != nil {
		return nil, err
	}
	if t.mode == Cache {
		return o, nil
	}
	t.mu.Lock()
	t.made[path] = true
	t.mu.Unlock()
	return kept(t, path, &x)
}

// kept finds what came of a call before, nil when it is to be made.
func kept[T any](t *Tape, path string, x *Exchange[T]) (*T, error) {
	o := new(T)
	ok, err := t.Load(x.Kind, x.Key, o)
	if err != nil || !ok {
		return nil, err
	}
	if ok, err = x.Reuse(o); err != nil {
		return nil, fmt.Errorf("tape entry %s: %w", path, err)
	}
	if !ok {
		return nil, nil
	}
	return o, nil
}

func (t *Tape) isMade(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made[path]
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

// Entry is what was saved on a tape under a key.
type Entry struct {
	Key, Value json.RawMessage
	Path       string
}

// Entries gives what was saved of a kind, in an order that stays.
func (t *Tape) Entries(kind string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		dir := filepath.Join(t.dir, kind)
		files, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Entry{}, fmt.Errorf("read tape: %w", err))
			return
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".json") || strings.HasPrefix(f.Name(), ".") {
				continue
			}
			path := filepath.Join(dir, f.Name())
			e, err := readEntry(path, kind)
			switch {
			case err != nil:
				e = new(entry)
			case e == nil:
				continue // it has gone meanwhile
			}
			if !yield(Entry{e.Key, e.Value, path}, err) {
				return
			}
		}
	}
}

// Decode reads the entry's key and value into pointers.
func (e *Entry) Decode(key, value any) error {
	if err := errors.Join(json.Unmarshal(e.Key, key), json.Unmarshal(e.Value, value)); err != nil {
		return fmt.Errorf("tape entry %s: %w", e.Path, err)
	}
	return nil
}
