package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm/tape"
)

// A run that was killed while it was recorded can be replayed as far as it
// went, and when it was resumed, with the times of both parts.
func TestRecordingSurvivesAKill(t *testing.T) {
	dir := t.TempDir()
	begun := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	run := &eval.Run{Header: eval.Header{ID: "first", Started: begun, Models: eval.Models{{Role: eval.JudgeRole, Model: "openai:j"}}}}
	old := &eval.Result{Case: &eval.Case{ID: "a"}, Trial: 1, Started: begun.Add(time.Second), Duration: time.Second}
	prior := func(yield func(*eval.Result, error) bool) { yield(old, nil) }

	killed := newRecording(nothing{}, openTape(t, dir, tape.Record), nil)
	if err := killed.Start(run); err != nil {
		t.Fatal(err)
	}
	if err := killed.Append(old); err != nil {
		t.Fatal(err)
	}
	m, err := readManifest(openTape(t, dir, tape.Replay), "tape")
	if err != nil {
		t.Fatal(err)
	}
	env, head := new(eval.Env), new(eval.Header)
	m.replayed(env, head)
	if head.ID != "first" || !env.Now().Equal(begun) || first(m.Models.Of(eval.JudgeRole)) != "openai:j" {
		t.Errorf("the killed run is replayed as %q, at %v, with %v", head.ID, env.Now(), m.Models)
	}

	resumed := newRecording(nothing{}, openTape(t, dir, tape.Record), prior)
	next := &eval.Result{Case: &eval.Case{ID: "b"}, Trial: 1, Started: begun.Add(time.Hour), Duration: time.Minute}
	run.Finished = begun.Add(2 * time.Hour)
	for _, step := range []func() error{
		func() error { return resumed.Start(run) },
		func() error { return resumed.Append(next) },
		func() error { return resumed.Finish(run) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if m, err = readManifest(openTape(t, dir, tape.Replay), "tape"); err != nil {
		t.Fatal(err)
	}
	want := map[string]timing{"a": {Started: begun.Add(time.Second), Took: time.Second}, "b": {Started: begun.Add(time.Hour), Took: time.Minute}}
	if diff := cmp.Diff(want, m.Timings); diff != "" {
		t.Errorf("times (-want +got)\n%s", diff)
	}
}

func openTape(t *testing.T, dir string, mode tape.Mode) *tape.Tape {
	t.Helper()
	opened, err := tape.Open(dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// nothing is a journal that keeps nothing.
type nothing struct{ eval.Journal }

func (nothing) Start(*eval.Run) error     { return nil }
func (nothing) Append(*eval.Result) error { return nil }
func (nothing) Finish(*eval.Run) error    { return nil }
