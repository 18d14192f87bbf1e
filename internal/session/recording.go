package session

import (
	"context"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/tape"
)

// manifest is what a tape keeps of the run that was recorded on it, so that a
// replay reports the same: its id, and its times.
type manifest struct {
	ID       string            `json:"id"`
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished"`
	Git      *eval.Git         `json:"git,omitempty"`
	Models   eval.Models       `json:"models,omitempty"`
	Timings  map[string]timing `json:"timings"` // by identity

	missed atomic.Int64 // calls of a replay that could not be had from the tape
}

type timing struct {
	Started time.Time       `json:"started"`
	Took    time.Duration   `json:"took"`
	Parts   []time.Duration `json:"parts,omitempty"` // see times
}

// times are the durations of a result's scores, those inside others first, and
// the starts and durations of its steps.
func times(res *eval.Result) (out []*time.Duration) {
	var add func(scores []eval.Score)
	add = func(scores []eval.Score) {
		for i := range scores {
			add(scores[i].Checks)
			out = append(out, &scores[i].Duration)
		}
	}
	add(res.Scores)
	if res.Response != nil {
		for i := range res.Response.Steps {
			out = append(out, &res.Response.Steps[i].Start, &res.Response.Steps[i].Duration)
		}
	}
	return out
}

const manifestEntry = "run"

// recordedJournal is a journal that also keeps the manifest of the recording. A
// recording is part of what the run was asked for, so its errors count.
type recordedJournal struct {
	eval.Journal
	tape *tape.Tape

	mu   sync.Mutex
	kept manifest
}

// newRecording begins a manifest, or goes on with it: prior are the results
// that a resumed run has already, nil for none. One that was killed has kept no
// times of theirs.
func newRecording(inner eval.Journal, t *tape.Tape, prior iter.Seq2[*eval.Result, error]) *recordedJournal {
	r := &recordedJournal{Journal: inner, tape: t}
	_, _ = t.Load(manifestEntry, manifestEntry, &r.kept) // of another run on the same tape; a damaged one is written anew
	if r.kept.Timings == nil {
		r.kept.Timings = map[string]timing{}
	}
	if prior == nil {
		return r
	}
	for res, err := range prior {
		if err != nil {
			break // the run says so itself when it counts them
		}
		r.note(res)
	}
	return r
}

// Start notes which run it is, at once: what a killed run has on its tape can
// be replayed.
func (r *recordedJournal) Start(run *eval.Run) error {
	if err := r.Journal.Start(run); err != nil {
		return err
	}
	r.kept.ID, r.kept.Started, r.kept.Git, r.kept.Models = run.ID, run.Started, run.Git, run.Models
	r.kept.Finished = time.Time{}
	return r.tape.Save(manifestEntry, manifestEntry, &r.kept)
}

func (r *recordedJournal) note(res *eval.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := timing{Started: res.Started, Took: res.Duration}
	for _, d := range times(res) {
		t.Parts = append(t.Parts, d.Truncate(time.Microsecond)) // as results keep them
	}
	r.kept.Timings[res.Identity().String()] = t
}

// Append notes when the attempt was made.
func (r *recordedJournal) Append(res *eval.Result) error {
	r.note(res)
	return r.Journal.Append(res)
}

// Finish keeps it all.
func (r *recordedJournal) Finish(run *eval.Run) error {
	r.kept.Finished = run.Finished
	if err := r.tape.Save(manifestEntry, manifestEntry, &r.kept); err != nil {
		return err
	}
	return r.Journal.Finish(run)
}

// replayed makes a run the one on the tape: its id, and its times.
func (m *manifest) replayed(env *eval.Env, head *eval.Header) {
	head.ID, head.Started, head.Git = m.ID, m.Started, m.Git
	ended := m.Finished
	if ended.IsZero() { // it was killed
		ended = m.Started
	}
	env.Now = func() time.Time { return ended }
	env.Timing = func(res *eval.Result) {
		t, ok := m.Timings[res.Identity().String()]
		if !ok {
			return
		}
		res.Started, res.Duration = t.Started, t.Took
		for i, d := range times(res) {
			if i < len(t.Parts) {
				*d = t.Parts[i]
			}
		}
	}
}

// watched counts the calls that a tape does not have, or has damaged.
func (m *manifest) watched(inner llm.Model) llm.Model {
	return llm.ModelFunc(func(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
		reply, err := inner.Generate(ctx, req)
		if class := llm.ClassOf(err); err != nil && (class == llm.Unrecorded || class == "") && ctx.Err() == nil {
			m.missed.Add(1)
		}
		return reply, err
	})
}

// readManifest finds what was recorded on a tape.
func readManifest(t *tape.Tape, dir string) (*manifest, error) {
	m := new(manifest)
	ok, err := t.Load(manifestEntry, manifestEntry, m)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, usagef("nothing was recorded in %s: make a recording with --record %s", filepath.ToSlash(dir), filepath.ToSlash(dir))
	}
	return m, nil
}
