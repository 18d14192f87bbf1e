package cli

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

// manifest is what a tape keeps of the run that was recorded on it, so that a
// replay reports the same: who it was, and when.
type manifest struct {
	ID       string            `json:"id"`
	Started  time.Time         `json:"started"`
	Finished time.Time         `json:"finished"`
	Git      *eval.Git         `json:"git,omitempty"`
	Models   map[string]string `json:"models,omitempty"`
	Timings  map[string]timing `json:"timings"` // by case and trial

	missed atomic.Int64 // calls of a replay that could not be had from the tape
}

type timing struct {
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"`
}

func timingKey(c *eval.Case, trial int) string { return fmt.Sprintf("%s#%d", c.ID, trial) }

const manifestEntry = "run"

// recording is the sink that keeps a run's manifest.
type recording struct {
	tape *llm.Tape
	kept manifest
}

// newRecording begins a manifest, or goes on with it: prior are the results
// that a resumed run has already, nil for none. One that was killed has kept no
// times of theirs.
func newRecording(tape *llm.Tape, prior iter.Seq2[*eval.Result, error]) *recording {
	r := &recording{tape: tape}
	_, _ = tape.Load(manifestEntry, manifestEntry, &r.kept) // of another run on the same tape; a damaged one is written anew
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
func (r *recording) Start(run *eval.Run) error {
	r.kept.ID, r.kept.Started, r.kept.Git, r.kept.Models = run.ID, run.Started, run.Git, run.Models
	r.kept.Finished = time.Time{}
	return r.tape.Save(manifestEntry, manifestEntry, &r.kept)
}

func (r *recording) note(res *eval.Result) {
	r.kept.Timings[timingKey(res.Case, res.Trial)] = timing{res.Started, res.Duration}
}

// Results notes when each case was put.
func (r *recording) Results(batch []*eval.Result) error {
	for _, res := range batch {
		r.note(res)
	}
	return nil
}

// Finish keeps it all.
func (r *recording) Finish(run *eval.Run) error {
	r.kept.Finished = run.Finished
	return r.tape.Save(manifestEntry, manifestEntry, &r.kept)
}

// replayed makes a run the one on the tape: its id, and its times.
func (m *manifest) replayed(runner *eval.Runner, head *eval.Header) {
	head.ID, head.Started, head.Git = m.ID, m.Started, m.Git
	ended := m.Finished
	if ended.IsZero() { // it was killed
		ended = m.Started
	}
	runner.Now = func() time.Time { return ended }
	runner.Timing = func(c *eval.Case, trial int) (time.Time, time.Duration, bool) {
		t, ok := m.Timings[timingKey(c, trial)]
		return t.Started, t.Took, ok
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

// whole tells whether a replay is the run that was recorded. Its verdict may be
// certain without what is missing, and is then still another run's.
func (m *manifest) whole(w *World) error {
	if m == nil || m.missed.Load() == 0 {
		return nil
	}
	w.printf("%s could not be had from the tape, so this is not the run that was recorded: record it again\n", count(int(m.missed.Load()), "call"))
	return &verdictError{ExitIncomplete}
}

// readManifest finds what was recorded on a tape.
func readManifest(tape *llm.Tape, dir string) (*manifest, error) {
	m := new(manifest)
	ok, err := tape.Load(manifestEntry, manifestEntry, m)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, usagef("nothing was recorded in %s: make a recording with --record %s", filepath.ToSlash(dir), filepath.ToSlash(dir))
	}
	return m, nil
}
