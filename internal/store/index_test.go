package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
)

// edit changes a file of a run.
func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *eval.Run {
	t.Helper()
	run, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// wipeOthers overwrites every line of a file but those that hold text.
func wipeOthers(t *testing.T, path, text string) {
	t.Helper()
	edit(t, path, func(b []byte) []byte {
		for line := range bytes.Lines(b) {
			if !bytes.Contains(line, []byte(text)) {
				copy(line, bytes.Repeat([]byte("x"), len(line)-1))
			}
		}
		return b
	})
}

// TestOneResultIsOpenedWithoutReadingTheOthers: all other lines are unreadable.
func TestOneResultIsOpenedWithoutReadingTheOthers(t *testing.T) {
	root := t.TempDir()
	run := writeRun(t, root, benchSuite(20_000), eval.Pass)
	dir := filepath.Join(root, run.ID)
	wipeOthers(t, filepath.Join(dir, "results.jsonl"), `"bench-015000"`)
	wipeOthers(t, filepath.Join(dir, "cases.jsonl"), `"bench-015000"`)
	for _, run := range []*eval.Run{run, open(t, dir)} {
		r, err := run.Result(eval.Identity{Suite: "bench 0", Case: "bench-015000", Trial: 1})
		if err != nil || r == nil || r.Case.Name != "What is o1js?" || r.Response.Raw != benchRaw {
			t.Fatalf("the result is %+v, %v", r, err)
		}
		for _, id := range []eval.Identity{
			{Case: "bench-015000", Trial: 2}, {Case: "bench-015000", Arm: "b", Trial: 1}, {Case: "none", Trial: 1}, {Suite: "other", Case: "bench-015000", Trial: 1},
		} {
			if r, err := run.Result(id); r != nil || err != nil {
				t.Errorf("%+v gives %+v, %v", id, r, err)
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, "index")); err != nil {
		t.Fatal(err)
	}
	if r, err := run.Result(eval.Identity{Case: "bench-015000", Trial: 1}); err != nil || r == nil {
		t.Errorf("without the index it is %+v, %v", r, err)
	}
	if len(run.Damage()) == 0 {
		t.Error("without its index the run is not read through")
	}
}

// TestIndexThatDoesNotFitIsNotUsed: missing or damaged in any way, the results
// are the same.
func TestIndexThatDoesNotFitIsNotUsed(t *testing.T) {
	root := t.TempDir()
	record(t, root, "r1", 2, suiteOf(6))
	dir := filepath.Join(root, "r1")
	index := filepath.Join(dir, "index")
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	want := ids(t, open(t, dir))
	if len(want) != 12 {
		t.Fatalf("%d results, want 12", len(want))
	}
	for name, damage := range map[string]func() error{
		"missing":   func() error { return os.Remove(index) },
		"empty":     func() error { return os.WriteFile(index, nil, 0o644) },
		"truncated": func() error { return os.WriteFile(index, whole[:len(whole)-40], 0o644) },
		"a line less": func() error {
			return os.WriteFile(index, whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1], 0o644)
		},
		"one digit": func() error {
			return os.WriteFile(index, bytes.Replace(whole, []byte("\t1\t"), []byte("\t2\t"), 1), 0o644)
		},
		"other version": func() error {
			return os.WriteFile(index, bytes.Replace(whole, []byte("index 3"), []byte("index 2"), 1), 0o644)
		},
		"folder": func() error { return errors.Join(os.Remove(index), os.Mkdir(index, 0o755)) },
	} {
		if err := errors.Join(os.RemoveAll(index), os.WriteFile(index, whole, 0o644), damage()); err != nil {
			t.Fatal(err)
		}
		run := open(t, dir)
		if diff := cmp.Diff(want, ids(t, run)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if r, err := run.Result(eval.Identity{Case: "case-004", Trial: 2}); err != nil || r == nil || r.Trial != 2 {
			t.Errorf("%s: one result is %+v, %v", name, r, err)
		}
	}
}

// TestIndexAfterResume: what was added is seen before there is a new index, and
// the new one has it.
func TestIndexAfterResume(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(5)
	record(t, root, "r1", 1, s)
	dir := filepath.Join(root, "r1")
	edit(t, filepath.Join(dir, "results.jsonl"), func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
	unfinish(t, dir)
	before := open(t, dir)
	if got := len(ids(t, before)); got != 4 {
		t.Fatalf("%d results, want 4: the index is stale", got)
	}
	w, err := store.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := runner(w)
	r.Prior = before.Results()
	_, err = r.Run(t.Context(), before.Header, []*eval.Suite{s})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"case-000/1 pass", "case-001/1 fail", "case-002/1 pass", "case-003/1 error", "case-004/1 pass"}
	if diff := cmp.Diff(want, ids(t, open(t, dir))); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	wipeOthers(t, filepath.Join(dir, "results.jsonl"), `"case-002"`)
	if r, err := open(t, dir).Result(eval.Identity{Case: "case-002", Trial: 1}); err != nil || r == nil {
		t.Errorf("there is no new index: %+v, %v", r, err)
	}
}

// TestLaterResultCounts, with the index and without, in order of case, arm and
// trial.
func TestLaterResultCounts(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(2)
	w := store.Create(root, "r1", []*eval.Suite{s})
	run := &eval.Run{Header: eval.Header{ID: "r1", Format: eval.FormatVersion}}
	if err := w.Start(run); err != nil {
		t.Fatal(err)
	}
	tally := eval.NewTally(nil, nil)
	for i, r := range []*eval.Result{
		{Case: s.Cases[1], Trial: 1, Target: "a"},
		{Case: s.Cases[0], Arm: "z\t\"", Trial: 1, Target: "b"},
		{Case: s.Cases[0], Trial: 2, Target: "c"},
		{Case: s.Cases[0], Trial: 1, Target: "old"},
		{Case: s.Cases[0], Trial: 1, Target: "d"},
		{Case: &eval.Case{ID: "unknown"}, Trial: 1, Target: "e"},
	} {
		r.Status = eval.Statuses[i%3]
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	run.Summary = tally.Summary()
	if err := errors.Join(w.Finish(run), w.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"case-000 d", "case-000 c", "case-000 b", "case-001 a"}
	for range 2 {
		var got []string
		for r, err := range run.Results() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Case.ID+" "+r.Target)
			one, err := run.Result(r.Identity())
			if err != nil || one == nil || one.Target != r.Target {
				t.Errorf("one result is %+v, %v, want that to %s", one, err, r.Target)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		_ = os.Remove(filepath.Join(root, "r1", "index"))
	}
}

// TestNotableSkipsByStatus, but not what has a check that only warns.
func TestNotableSkipsByStatus(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(4)
	s.Cases[2].Checks = []*eval.Check{{Key: "even", Kind: "even", Severity: eval.WarnSeverity, Grader: even{}}}
	run := record(t, root, "r1", 1, s)
	read := func(skip ...eval.Status) (out []string) {
		for r, err := range run.Notable(func(s eval.Status) bool { return strings.Contains(fmt.Sprint(skip), string(s)) }) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(r.Case.ID, " ", r.Status))
		}
		return out
	}
	if diff := cmp.Diff([]string{"case-001 fail", "case-002 pass", "case-003 error"}, read(eval.Pass)); diff != "" {
		t.Errorf("without passes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"case-000 pass", "case-002 pass"}, read(eval.Fail, eval.Error)); diff != "" {
		t.Errorf("without failures and errors (-want +got):\n%s", diff)
	}
}

// TestContextIsKeptOnce, by its digest.
func TestContextIsKeptOnce(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(3)
	text := strings.Repeat("the skill ", 1000)
	r := runner(nil)
	w := store.Create(root, "r1", []*eval.Suite{s})
	r.Journal = w
	r.Env.Targets[""] = eval.TargetFunc(func(context.Context, *eval.Attempt) (*eval.Response, error) {
		return &eval.Response{Text: "0", Context: text}, nil
	})
	run, err := r.Run(t.Context(), eval.Header{ID: "r1"}, []*eval.Suite{s})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "r1")
	for res, err := range run.Results() {
		if err != nil || res.Response.Context != text {
			t.Fatalf("the context is not read back: %v", err)
		}
	}
	kept, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%d blobs, %v, want 1", len(kept), err)
	}
	results := filepath.Join(dir, "results.jsonl")
	if info, err := os.Stat(results); err != nil || info.Size() > 3000 {
		t.Errorf("the results have %d bytes, %v", info.Size(), err)
	}

	edit(t, filepath.Join(dir, "blobs", kept[0].Name()), func(b []byte) []byte { return append(b, '!') })
	lost := func(what, why string) {
		t.Helper()
		run := open(t, dir)
		if got := ids(t, run); len(got) != 3 {
			t.Errorf("%s: the results are %v", what, got)
		}
		if notes := strings.Join(run.Damage(), "\n"); !strings.Contains(notes, "results.jsonl, line 3: the context is missing") || !strings.Contains(notes, why) {
			t.Errorf("%s gives %q", what, notes)
		}
		if _, err := run.Result(eval.Identity{Case: "case-001", Trial: 1}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: one result gives %v", what, err)
		}
		replay, err := store.NewReplay(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer replay.Close()
		if r, err := replay.Respond(t.Context(), &eval.Attempt{Case: s.Cases[1]}); err == nil {
			t.Errorf("%s: an answer without its context is graded: %+v", what, r)
		}
	}
	lost("a damaged blob", "is damaged")
	if again := resumeWith(t, dir, s, r.Env.Targets[""]); len(ids(t, again)) != 3 || len(open(t, dir).Damage()) > 0 {
		t.Errorf("a resumed run has not restored the context: %v", again.Damage())
	}
	for res, err := range open(t, dir).Results() {
		if err != nil || res.Response.Context != text {
			t.Fatalf("the restored context is not read back: %v", err)
		}
	}
	edit(t, results, func(b []byte) []byte { // as before
		lines := bytes.SplitAfter(b, []byte("\n"))
		return bytes.Join(lines[:3], nil)
	})
	if err := os.Remove(filepath.Join(dir, "blobs", kept[0].Name())); err != nil {
		t.Fatal(err)
	}
	lost("a missing blob", "no such file")
	secret := filepath.Join(dir, "run.json")
	for _, digest := range []string{"../run.json", "sha256:../run.json", "sha256:", secret, "sha256:" + strings.Repeat("Z", 64), strings.Repeat("/", 64)} {
		edit(t, results, func(b []byte) []byte {
			var lines []byte
			for line := range bytes.Lines(b) {
				from := bytes.Index(line, []byte(`"context_digest":"`)) + len(`"context_digest":"`)
				to := from + bytes.IndexByte(line[from:], '"')
				lines = append(append(append(lines, line[:from]...), digest...), line[to:]...)
			}
			return lines
		})
		lost("the digest "+digest, "invalid digest")
	}
}

func TestArtifactsAndSpool(t *testing.T) {
	root := t.TempDir()
	w := store.Create(root, "r1", nil)
	if err := w.Start(&eval.Run{Header: eval.Header{ID: "r1"}}); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	digest, err := w.Keep([]byte("artifact"))
	if again, err2 := w.Keep([]byte("artifact")); err != nil || err2 != nil || again != digest || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("digests %q and %q, %v, %v", digest, again, err, err2)
	}
	b, err := os.ReadFile(filepath.Join(w.Dir(), "blobs", strings.TrimPrefix(digest, "sha256:")))
	if err != nil || string(b) != "artifact" {
		t.Errorf("kept %q, %v", b, err)
	}

	missed := []eval.Identity{{Suite: "s", Case: "a", Trial: 1}, {Suite: "s", Case: "b", Arm: "x", Trial: 2}}
	for i := range missed {
		if err := w.Spool("../up", missed[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	spooled, err := os.ReadFile(filepath.Join(w.Dir(), "spool", "up.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got []eval.Identity
	for line := range bytes.Lines(spooled) {
		var id eval.Identity
		if err := json.Unmarshal(line, &id); err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	if diff := cmp.Diff(missed, got); diff != "" {
		t.Errorf("spool (-want +got):\n%s", diff)
	}
}

// TestAppendSideBySide: results that arrive together are all there, each once.
func TestAppendSideBySide(t *testing.T) {
	root := t.TempDir()
	s := benchSuite(400)
	w := store.Create(root, "r1", []*eval.Suite{s})
	run := &eval.Run{Header: eval.Header{ID: "r1", Format: eval.FormatVersion}}
	if err := w.Start(run); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := worker; i < len(s.Cases); i += 8 {
				r := benchResult(s.Cases[i], eval.Pass)
				r.Response.Context = fmt.Sprint("skill ", i%3)
				if err := errors.Join(w.Append(r), w.Sync()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	tally := eval.NewTally(nil, nil)
	run.Summary = tally.Summary()
	if err := errors.Join(w.Finish(run), w.Close()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for r, err := range run.Results() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Case.ID != s.Cases[n].ID || r.Response.Context != fmt.Sprint("skill ", n%3) {
			t.Fatalf("result %d is that of %s with the context %q", n, r.Case.ID, r.Response.Context)
		}
		n++
	}
	if n != len(s.Cases) {
		t.Errorf("%d results, want %d", n, len(s.Cases))
	}
}

// TestResultWithoutAFormIsAnError: what cannot be written as JSON does not end
// the run.
func TestResultWithoutAFormIsAnError(t *testing.T) {
	root := t.TempDir()
	s := suiteOf(2)
	w := store.Create(root, "r1", []*eval.Suite{s})
	run := &eval.Run{Header: eval.Header{ID: "r1", Format: eval.FormatVersion}}
	if err := w.Start(run); err != nil {
		t.Fatal(err)
	}
	for i, r := range []*eval.Result{
		{Status: eval.Pass, Scores: []eval.Score{{Key: "k", Status: eval.Pass, Details: map[string]any{"x": math.NaN()}}}},
		{Status: eval.Pass, Response: &eval.Response{Structured: json.RawMessage("{oops")}},
	} {
		r.Case, r.Trial = s.Cases[i], 1
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	run.Summary = new(eval.Summary)
	if err := errors.Join(w.Finish(run), w.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"case-000/1 error", "case-001/1 error"}, ids(t, run)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	for r := range run.Results() {
		if r.Fault.Class != eval.ProtocolFault || !strings.Contains(r.Fault.Message, "cannot be kept") {
			t.Errorf("fault %+v", r.Fault)
		}
	}
}

// TestListStopsBeforeTheCases: what comes there is not even parsed.
func TestListStopsBeforeTheCases(t *testing.T) {
	root := t.TempDir()
	record(t, root, "r1", 1, suiteOf(6))
	edit(t, filepath.Join(root, "r1", "run.json"), func(b []byte) []byte {
		return append(b[:bytes.LastIndex(b, []byte(`"cases":[{`))+len(`"cases":`)], "#!"...)
	})
	entries, err := store.List(root)
	if err != nil || len(entries) != 1 || entries[0].Err != nil {
		t.Fatalf("%+v, %v", entries, err)
	}
	if run := entries[0].Run; run.Summary.Total != 6 || run.Verdict != eval.Failed || run.ID != "r1" {
		t.Errorf("the entry has %+v, %s", run.Summary, run.Verdict)
	}
	if _, err := store.Open(filepath.Join(root, "r1")); err == nil {
		t.Error("a broken header is opened")
	}
}

// TestFormat1 reads runs that the last mettle of format 1 recorded.
func TestFormat1(t *testing.T) {
	for name, want := range map[string][]string{
		"docs": {
			"pda/1 pass", "pda/2 pass", "wrong/1 fail", "wrong/2 fail", "search/1 pass", "search/2 pass", "facts/1 fail", "facts/2 fail", "broken/1 fail", "broken/2 fail",
		},
		"coding": {"valid/1 pass", "prose/1 fail"},
	} {
		dir := filepath.Join("testdata/format1", name)
		run := open(t, dir)
		if diff := cmp.Diff(want, ids(t, run)); diff != "" {
			t.Errorf("results of %s (-want +got):\n%s", name, diff)
		}
		counted, err := store.Recount(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run.Summary.Counts, counted.Summary.Counts); diff != "" || run.Verdict != counted.Verdict {
			t.Errorf("%s counted again (-header +counted):\n%s", name, diff)
		}
		if c := eval.Compare(run, counted); c.Same != run.Summary.Cases || len(c.Better)+len(c.Worse)+len(c.New)+len(c.Gone) > 0 {
			t.Errorf("%s differs from itself: %+v", name, c)
		}
		replay, err := store.NewReplay(dir)
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range run.Results() {
			if err != nil {
				t.Fatal(err)
			}
			got, err := replay.Respond(t.Context(), &eval.Attempt{Case: r.Case, Trial: r.Trial})
			if err != nil || cmp.Diff(r.Response, got) != "" {
				t.Errorf("%s is replayed as %+v, %v", r.Identity(), got, err)
			}
			if one, err := run.Result(r.Identity()); err != nil || one == nil || cmp.Diff(r.Scores, one.Scores) != "" {
				t.Errorf("%s is opened as %+v, %v", r.Identity(), one, err)
			}
		}
		if err := replay.Close(); err != nil {
			t.Error(err)
		}
	}
	run := open(t, "testdata/format1/coding")
	if diff := cmp.Diff(eval.Models{{Role: eval.AnswerRole, Model: "anthropic:claude-test"}, {Role: eval.JudgeRole, Model: "openai:gpt-test"}}, run.Models); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	r, err := run.Result(eval.Identity{Case: "valid", Trial: 1})
	if err != nil || !strings.Contains(r.Response.Context, "createAgent") {
		t.Errorf("the context of format 1 is lost: %v", err)
	}
	if steps := r.Response.Steps; len(steps) == 0 || steps[0].Duration == 0 {
		t.Errorf("the times of format 1 are lost: %+v", steps)
	}
}
