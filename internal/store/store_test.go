package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
)

// suiteOf makes a suite of n cases whose check passes when the answer has an
// even number in it.
func suiteOf(n int) *eval.Suite {
	s := &eval.Suite{Name: "numbers"}
	for i := range n {
		s.Cases = append(s.Cases, &eval.Case{
			ID: fmt.Sprintf("case-%03d", i), Suite: s.Name, Tool: "count", Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)),
			Checks: []*eval.Check{{Key: "even", Kind: "even", Weight: 1, Severity: eval.ErrorSeverity, Grader: even{}}},
		})
	}
	return s
}

type even struct{}

func (even) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	text := a.Response.Text
	return eval.PassIf((text[len(text)-1]-'0')%2 == 0, "answered %s", text), nil
}

func echo(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
	if a.Case.ID == "case-003" {
		return nil, fmt.Errorf("no line to the server")
	}
	return &eval.Response{Text: a.Case.ID, Meta: map[string]any{"confidence": 50.0}, Latency: time.Millisecond}, nil
}

func runner(journal eval.Journal) *eval.Runner {
	env := &eval.Env{
		Targets: map[string]eval.Target{"": eval.TargetFunc(echo)},
		Now:     func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	return &eval.Runner{Env: env, Executor: &eval.Pool{Env: env, Concurrency: 4}, Journal: journal}
}

// record runs a suite with a writer and lets go of it.
func record(t testing.TB, root, id string, trials int, s *eval.Suite) *eval.Run {
	t.Helper()
	w := store.Create(root, id, []*eval.Suite{s})
	r := runner(w)
	r.Trials = trials
	run, err := r.Run(t.Context(), eval.Header{ID: id}, []*eval.Suite{s})
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return run
}

func ids(t *testing.T, run *eval.Run) (out []string) {
	t.Helper()
	for res, err := range run.Results() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s/%d %s", res.Case.ID, res.Trial, res.Status))
	}
	return out
}

func TestRunIsReadBackInSuiteOrder(t *testing.T) {
	root := t.TempDir()
	record(t, root, "r1", 2, suiteOf(6))
	run, err := store.Open(filepath.Join(root, "r1"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"case-000/1 pass", "case-000/2 pass", "case-001/1 fail", "case-001/2 fail", "case-002/1 pass", "case-002/2 pass",
		"case-003/1 error", "case-003/2 error", "case-004/1 pass", "case-004/2 pass", "case-005/1 fail", "case-005/2 fail",
	}
	if diff := cmp.Diff(want, ids(t, run)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	wantCounts := eval.Counts{Total: 12, Passed: 6, Failed: 4, Errors: 2}
	if diff := cmp.Diff(wantCounts, run.Summary.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if run.Verdict != eval.Failed || run.Header.Status != eval.Done {
		t.Errorf("verdict %s, status %s", run.Verdict, run.Header.Status)
	}
}

func TestTornLastLineIsDroppedAndMadeAgain(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(5)
	record(t, root, "r1", 1, s)
	dir := filepath.Join(root, "r1")
	results := filepath.Join(dir, "results.jsonl")
	b, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(results, b[:len(b)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	unfinish(t, dir)

	run, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(ids(t, run)); got != 4 {
		t.Fatalf("%d results are whole, want 4", got)
	}
	if run.Verdict == eval.Passed {
		t.Errorf("a run that was killed counts as passed")
	}
	w, err := store.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := runner(w)
	r.Prior = run.Results()
	if _, err := r.Run(t.Context(), run.Header, []*eval.Suite{s}); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"case-000/1 pass", "case-001/1 fail", "case-002/1 pass", "case-003/1 error", "case-004/1 pass"}
	if diff := cmp.Diff(want, ids(t, again)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	after, _ := os.ReadFile(results)
	if n := strings.Count(string(after), "\n"); n != 5 {
		t.Errorf("results.jsonl has %d lines, want 5", n)
	}
}

// unfinish makes a finished run look as if its process had been killed.
func unfinish(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "run.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	m["status"] = "running"
	for _, k := range []string{"summary", "gate_outcomes", "verdict", "cases", "finished"} {
		delete(m, k)
	}
	b, _ = json.Marshal(m)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReplayAnswersWithWhatTheRunHolds(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(5)
	record(t, root, "r1", 1, s)
	replay, err := store.NewReplay(filepath.Join(root, "r1"))
	if err != nil {
		t.Fatal(err)
	}
	defer replay.Close()
	got, err := replay.Respond(t.Context(), &eval.Attempt{Case: s.Cases[1]})
	if err != nil {
		t.Fatal(err)
	}
	want := &eval.Response{Text: "case-001", Meta: map[string]any{"confidence": 50.0}, Latency: time.Millisecond}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	_, err = replay.Respond(t.Context(), &eval.Attempt{Case: s.Cases[3]})
	if err == nil || eval.FaultOf(err).Class != eval.TransportFault || err.Error() != "no line to the server" {
		t.Errorf("an answer that was never had gives %v", err)
	}
	if _, err := replay.Respond(t.Context(), &eval.Attempt{Case: &eval.Case{ID: "new"}}); err == nil {
		t.Error("a case the run does not know gets an answer")
	}
}

func TestLockKeepsASecondWriterOut(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(1)
	w := store.Create(root, "r1", []*eval.Suite{s})
	if err := w.Start(&eval.Run{Header: eval.Header{ID: "r1", Format: eval.FormatVersion}}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Resume(filepath.Join(root, "r1")); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second writer gets %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := store.Resume(filepath.Join(root, "r1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestFindAndList(t *testing.T) {
	root := t.TempDir()
	for _, id := range []string{"20260101-000000-001aa", "20260102-000000-002bb"} {
		record(t, root, id, 1, suiteOf(1))
	}
	if err := os.Mkdir(filepath.Join(root, "zz-not-a-run"), 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err := store.List(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(filepath.Base(e.Dir), " ", e.Err == nil))
	}
	want := []string{"20260102-000000-002bb true", "20260101-000000-001aa true", "zz-not-a-run false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"20260101": "20260101-000000-001aa", "20260102-000000-002bb": "20260102-000000-002bb",
		filepath.Join(root, "20260101-000000-001aa"): "20260101-000000-001aa",
	} {
		if got, err := store.Find(root, name); err != nil || filepath.Base(got) != want {
			t.Errorf("Find(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"2026", "nothing", ""} {
		if got, err := store.Find(root, name); err == nil {
			t.Errorf("Find(%q) = %q, want an error", name, got)
		}
	}
}

// TestLatestGoesByStart: the folder says when a run was started, the header of a
// replay when the recorded one was, and a renamed folder nothing.
func TestLatestGoesByStart(t *testing.T) {
	root := t.TempDir()
	for name, started := range map[string]time.Time{
		"20260103-000000-00100":        time.Date(2026, 1, 3, 0, 0, 0, 1e6, time.UTC),
		"20260104-000000-00200-replay": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		"zz-kept":                      time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		"aa-kept":                      time.Date(2026, 1, 3, 12, 0, 0, 0, time.UTC),
	} {
		w := store.Create(root, name, []*eval.Suite{suiteOf(1)})
		_, err := runner(w).Run(t.Context(), eval.Header{ID: "r", Started: started}, []*eval.Suite{suiteOf(1)})
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := store.List(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, filepath.Base(e.Dir))
	}
	if diff := cmp.Diff([]string{"20260104-000000-00200-replay", "aa-kept", "20260103-000000-00100", "zz-kept"}, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if dir, err := store.Find(root, "latest"); err != nil || filepath.Base(dir) != got[0] {
		t.Errorf("latest is %s, %v", dir, err)
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"id":"x","format":99,"tool":"v9"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir); err == nil || !strings.Contains(err.Error(), "newer mettle") {
		t.Errorf("Open gives %v", err)
	}
}

// failing is a listener that takes nothing.
type failing struct{}

func (failing) Name() string                 { return "uploads" }
func (failing) Start(*eval.Run) error        { return nil }
func (failing) Event(eval.Event) error       { return nil }
func (failing) Results([]*eval.Result) error { return errors.New("503") }
func (failing) Finish(*eval.Run) error       { return nil }
func (failing) Spools() bool                 { return true }

// The errors of a listener are notes of the run, which is finished once more
// with them, and what it did not take is noted.
func TestListenerErrorsAreKept(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(5)
	w := store.Create(root, "r", []*eval.Suite{s})
	r := runner(w)
	r.Listeners = []eval.Listener{failing{}}
	run, err := r.Run(t.Context(), eval.Header{ID: "r"}, []*eval.Suite{s})
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(filepath.Join(root, "r"))
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Notes) != 1 || !strings.Contains(again.Notes[0], "uploads: 503") {
		t.Errorf("notes: %v", again.Notes)
	}
	if diff := cmp.Diff(ids(t, run), ids(t, again)); diff != "" || len(ids(t, again)) != 5 {
		t.Errorf("results (-run +stored):\n%s", diff)
	}
	spool, err := os.ReadFile(filepath.Join(root, "r", "spool", "uploads.jsonl"))
	if err != nil || strings.Count(string(spool), "\n") != 5 {
		t.Errorf("spool: %s, %v", spool, err)
	}
}
