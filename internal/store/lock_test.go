package store

import (
	"strings"
	"testing"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// TestRunningIsNotKilled: a run that is being written is neither listed as
// killed nor resumed a second time; one whose writer is gone is both.
func TestRunningIsNotKilled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	id := NewID(time.Unix(0, 0), 1)
	w := Create(root, id, nil)
	run := &eval.Run{}
	run.ID, run.Format, run.Status = id, eval.FormatVersion, eval.Running
	if err := w.Start(run); err != nil {
		t.Fatal(err)
	}
	killed := func(want bool) {
		t.Helper()
		list, err := List(root)
		if err != nil || len(list) != 1 || list[0].Err != nil || list[0].Killed != want {
			t.Errorf("%+v (%v), want killed: %v", list, err, want)
		}
	}
	killed(false)
	if _, err := Resume(w.Dir()); err == nil || !strings.Contains(err.Error(), "being written by another process") {
		t.Errorf("resumed while it is written: %v", err)
	}
	killed(false)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	killed(true)
	again, err := Resume(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	killed(false)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
