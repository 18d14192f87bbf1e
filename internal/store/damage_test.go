package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
)

// resume makes what a run is missing, as a session does.
func resume(t *testing.T, dir string, s *eval.Suite) *eval.Run {
	t.Helper()
	return resumeWith(t, dir, s, eval.TargetFunc(echo))
}

func resumeWith(t *testing.T, dir string, s *eval.Suite, target eval.Target) *eval.Run {
	t.Helper()
	prior, err := store.Recount(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := store.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := runner(w)
	r.Env.Targets[""] = target
	r.Prior, r.Trials = prior.Results(), prior.Trials
	run, err := r.Run(t.Context(), prior.Header, []*eval.Suite{s})
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestDamagedLineIsLeftOutAndMadeAgain: one line of the results or the cases is
// damaged, in a finished run and in one that was killed. The others are read,
// the line is named, and a resumed run is whole.
func TestDamagedLineIsLeftOutAndMadeAgain(t *testing.T) {
	t.Parallel()
	replace := func(old, new string) func([]byte) []byte {
		return func(line []byte) []byte { return bytes.Replace(line, []byte(old), []byte(new), 1) }
	}
	cases := map[string]struct {
		file   string
		change func(line []byte) []byte
		note   string
	}{
		"rubbish of the same size": {"results.jsonl", func(line []byte) []byte {
			return append(bytes.Repeat([]byte("x"), len(line)-1), '\n')
		}, "line 4: "},
		"rubbish of another size": {"results.jsonl", func([]byte) []byte { return []byte("??\n") }, "line 4: "},
		"empty line":              {"results.jsonl", func([]byte) []byte { return []byte("\n") }, "line 4: "},
		"torn in the middle":      {"results.jsonl", func(line []byte) []byte { return append(line[:len(line)/2], '\n') }, "line 4: "},
		"unknown status":          {"results.jsonl", replace(`"status":"pass"`, `"status":"okay"`), `line 4: unknown status "okay"`},
		"unknown status, resized": {"results.jsonl", replace(`"status":"pass"`, `"status":"passed"`), `line 4: unknown status "passed"`},
		"unknown status of a check": {
			"results.jsonl", replace(`"kind":"even","status":"pass"`, `"kind":"even","status":"pssa"`), `line 4: check even: unknown status "pssa"`,
		},
		"status of a check that only a case has": {
			"results.jsonl", replace(`"kind":"even","status":"pass"`, `"kind":"even","status":"error"`), "line 4: check even: ",
		},
		"value too high":     {"results.jsonl", replace(`"status":"pass","value":1,"weight"`, `"status":"pass","value":7,"weight"`), "line 4: check even: value 7"},
		"huge trial":         {"results.jsonl", replace(`"trial":1`, `"trial":2000000000`), "line 4: trial 2000000000"},
		"huger trial":        {"results.jsonl", replace(`"trial":1`, `"trial":99999999999999999999`), "line 4: "},
		"another trial":      {"results.jsonl", replace(`"trial":1`, `"trial":3`), "line 4: "},
		"trial 0":            {"results.jsonl", replace(`"trial":1`, `"trial":0`), "line 4: "},
		"another case":       {"results.jsonl", replace(`"case":"case-`, `"case":"cake-`), "line 4: "},
		"case that is gone":  {"results.jsonl", replace(`"case":"case-`, `"case":"casework-`), "line 4: "},
		"rubbish for a case": {"cases.jsonl", func([]byte) []byte { return []byte("??\n") }, "cases.jsonl, line 4: "},
		"case of the same size": {"cases.jsonl", func(line []byte) []byte {
			return append(bytes.Repeat([]byte("x"), len(line)-1), '\n')
		}, "cases.jsonl, line 4: "},
	}
	for name, c := range cases {
		for _, finished := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := suiteOf(8)
				for i := range s.Cases { // so that every line passes
					s.Cases[i].ID = strings.Replace(s.Cases[i].ID, "case-00", "case-1"+string('0'+byte(i)), 1) + "2"
				}
				root := t.TempDir()
				record(t, root, "r1", 2, s)
				dir := filepath.Join(root, "r1")
				want := ids(t, open(t, dir))
				if !finished {
					unfinish(t, dir)
				}
				edit(t, filepath.Join(dir, c.file), func(b []byte) []byte {
					lines := bytes.SplitAfter(b, []byte("\n"))
					lines[3] = c.change(bytes.Clone(lines[3]))
					return bytes.Join(lines, nil)
				})
				run := open(t, dir)
				lost := 1
				if c.file == "cases.jsonl" {
					lost = 2
				}
				if got := len(ids(t, run)); got != len(want)-lost {
					t.Errorf("%d results are read, want %d", got, len(want)-lost)
				}
				if notes := strings.Join(run.Damage(), "\n"); !strings.Contains(notes, c.note) {
					t.Errorf("the damage is %q, want %q", notes, c.note)
				}
				if !finished && run.Verdict == eval.Passed {
					t.Error("the run is passed")
				}
				again := resume(t, dir, s)
				if diff := cmp.Diff(want, ids(t, again)); diff != "" || len(again.Damage()) > 0 {
					t.Errorf("after it was resumed, damage %v (-want +got):\n%s", again.Damage(), diff)
				}
				again = open(t, dir)
				if diff := cmp.Diff(want, ids(t, again)); diff != "" || len(again.Damage()) > 0 {
					t.Errorf("read again, damage %v (-want +got):\n%s", again.Damage(), diff)
				}
				if again.Verdict != eval.Passed || again.Summary.Total != len(want) {
					t.Errorf("%s, %d results", again.Verdict, again.Summary.Total)
				}
				if _, err := os.Stat(filepath.Join(dir, "damaged.jsonl")); (err == nil) != (c.file == "results.jsonl") {
					t.Errorf("the damaged line is kept: %v", err == nil)
				}
			})
		}
	}
}

// TestDamageEverywhere: a file of rubbish is read in no time, and said so once.
func TestDamageEverywhere(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	record(t, root, "r1", 1, suiteOf(6))
	dir := filepath.Join(root, "r1")
	if err := os.WriteFile(filepath.Join(dir, "results.jsonl"), bytes.Repeat([]byte("x\n"), 1<<16), 0o644); err != nil {
		t.Fatal(err)
	}
	run := open(t, dir)
	if got := ids(t, run); len(got) != 0 || len(run.Damage()) < 10 || len(run.Damage()) > 30 {
		t.Errorf("%d results, damage %v", len(got), run.Damage())
	}
	if again := resume(t, dir, suiteOf(6)); len(ids(t, again)) != 6 || len(again.Damage()) > 0 {
		t.Errorf("after it was resumed: %v, %v", ids(t, again), again.Damage())
	}
}

// FuzzResults reads any bytes as the results and the cases of a run: whatever
// they are, the run opens, and a resumed one is whole.
func FuzzResults(f *testing.F) {
	root := f.TempDir()
	s := suiteOf(3)
	record(f, root, "r1", 1, s)
	good := filepath.Join(root, "r1")
	results, err := os.ReadFile(filepath.Join(good, "results.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	cases, err := os.ReadFile(filepath.Join(good, "cases.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(results, cases)
	f.Add(results[:len(results)-9], cases[:len(cases)-9])
	f.Add(bytes.ReplaceAll(results, []byte(`"trial":1`), []byte(`"trial":-1`)), cases)
	f.Add(bytes.ReplaceAll(results, []byte(`"trial":1`), []byte(`"trial":1e9`)), bytes.ReplaceAll(cases, []byte(`"checks"`), []byte(`"trials":1000000000,"checks"`)))
	f.Add([]byte("{}\nnull\n[]\n\n\x00\n"), []byte("{}\nnull\n"))
	f.Fuzz(func(t *testing.T, results, cases []byte) {
		dir := filepath.Join(t.TempDir(), "r1")
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"results.jsonl": results, "cases.jsonl": cases} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		ids(t, open(t, dir))
		replay, err := store.NewReplay(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Cases {
			_, _ = replay.Respond(t.Context(), &eval.Attempt{Case: c})
		}
		if err := replay.Close(); err != nil {
			t.Error(err)
		}
		again := resume(t, dir, s)
		if again.Summary.Total < len(s.Cases) {
			t.Errorf("after it was resumed: %+v", again.Summary.Counts)
		}
	})
}
