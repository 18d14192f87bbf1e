package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

// A run that was killed while it was recorded can be replayed as far as it
// went, and when it was resumed, with the times of both parts.
func TestRecordingSurvivesAKill(t *testing.T) {
	dir := t.TempDir()
	begun := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	run := &eval.Run{Header: eval.Header{ID: "first", Started: begun, Models: map[string]string{"judge": "openai:j"}}}
	old := &eval.Result{Case: &eval.Case{ID: "a"}, Trial: 1, Started: begun.Add(time.Second), Duration: time.Second}
	prior := func(yield func(*eval.Result, error) bool) { yield(old, nil) }

	killed := newRecording(openTape(t, dir, llm.Record), nil)
	if err := killed.Start(run); err != nil {
		t.Fatal(err)
	}
	if err := killed.Results([]*eval.Result{old}); err != nil {
		t.Fatal(err)
	}
	m, err := readManifest(openTape(t, dir, llm.Replay), "tape")
	if err != nil {
		t.Fatal(err)
	}
	runner, head := new(eval.Runner), new(eval.Header)
	m.replayed(runner, head)
	if head.ID != "first" || !runner.Now().Equal(begun) || m.Models["judge"] != "openai:j" {
		t.Errorf("the killed run is replayed as %q, at %v, with %v", head.ID, runner.Now(), m.Models)
	}

	resumed := newRecording(openTape(t, dir, llm.Record), prior)
	next := &eval.Result{Case: &eval.Case{ID: "b"}, Trial: 1, Started: begun.Add(time.Hour), Duration: time.Minute}
	run.Finished = begun.Add(2 * time.Hour)
	for _, step := range []func() error{
		func() error { return resumed.Start(run) },
		func() error { return resumed.Results([]*eval.Result{next}) },
		func() error { return resumed.Finish(run) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if m, err = readManifest(openTape(t, dir, llm.Replay), "tape"); err != nil {
		t.Fatal(err)
	}
	want := map[string]timing{"a#1": {begun.Add(time.Second), time.Second}, "b#1": {begun.Add(time.Hour), time.Minute}}
	if diff := cmp.Diff(want, m.Timings); diff != "" {
		t.Errorf("times (-want +got)\n%s", diff)
	}
}

func openTape(t *testing.T, dir string, mode llm.TapeMode) *llm.Tape {
	t.Helper()
	tape, err := llm.OpenTape(dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	return tape
}
