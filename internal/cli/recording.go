package cli

import (
	"fmt"
	"path/filepath"
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

func newRecording(tape *llm.Tape) *recording {
	r := &recording{tape: tape}
	_, _ = tape.Load(manifestEntry, manifestEntry, &r.kept) // of an earlier part of the run
	if r.kept.Timings == nil {
		r.kept.Timings = map[string]timing{}
	}
	return r
}

// Start notes which run it is.
func (r *recording) Start(run *eval.Run) error {
	r.kept.ID, r.kept.Started, r.kept.Git, r.kept.Models = run.ID, run.Started, run.Git, run.Models
	return nil
}

// Results notes when each case was put.
func (r *recording) Results(batch []*eval.Result) error {
	for _, res := range batch {
		r.kept.Timings[timingKey(res.Case, res.Trial)] = timing{res.Started, res.Duration}
	}
	return nil
}

// Finish keeps it all.
func (r *recording) Finish(run *eval.Run) error {
	r.kept.Finished = run.Finished
	return r.tape.Save(manifestEntry, manifestEntry, r.kept)
}

// replayed makes a run the one on the tape: its id, and its times.
func (m *manifest) replayed(runner *eval.Runner, head *eval.Header) {
	head.ID, head.Started, head.Git = m.ID, m.Started, m.Git
	runner.Now = func() time.Time { return m.Finished }
	runner.Timing = func(c *eval.Case, trial int) (time.Time, time.Duration, bool) {
		t, ok := m.Timings[timingKey(c, trial)]
		return t.Started, t.Took, ok
	}
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
