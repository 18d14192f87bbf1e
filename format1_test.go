package mettle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const format1Run = "20261115-201235-088ee"

// format1 puts a run that the last mettle of format 1 recorded into a folder,
// with a suite that asks the same and accepts any answer.
func format1(t *testing.T, url string) (dir string, mettle func(args ...string) (string, int)) {
	t.Helper()
	dir = t.TempDir()
	run := filepath.Join(dir, ".mettle", "runs", format1Run)
	if err := os.CopyFS(run, os.DirFS("internal/store/testdata/format1/docs")); err != nil {
		t.Fatal(err)
	}
	var tests []map[string]any
	cases, err := os.ReadFile(filepath.Join(run, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(cases) {
		var c map[string]any
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, map[string]any{
			"id": c["id"], "name": c["name"], "tool": c["tool"], "difficulty": c["difficulty"], "input": c["input"],
			"expected": map[string]any{"validations": []any{map[string]any{"type": "not_empty"}}},
		})
	}
	suite, err := json.Marshal(map[string]any{"name": "docs", "project": "solana", "tests": tests})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "docs.yaml"), suite, 0o644); err != nil {
		t.Fatal(err)
	}
	change(t, filepath.Join(run, "run.json"),
		"/home/me/docs", dir, "http://127.0.0.1:40601", url, `"judge":"openai:gpt-test",`, "",
		"6a48a3c4952c826dceba910a5bf5dfd8aa8f78ff1fe30988f7a8f2c06d48328e", fmt.Sprintf("%x", sha256.Sum256(suite)))
	return dir, func(args ...string) (string, int) {
		cmd := exec.Command("mettle", append(args, "-o", "none")...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
}

func change(t *testing.T, path string, oldnew ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.NewReplacer(oldnew...).Replace(string(b))), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFormat1IsResumed: its results have no suite. What is there is not asked
// again, and what is made goes after it.
func TestFormat1IsResumed(t *testing.T) {
	server := &planServer{answers: map[string]string{"any": planAnswer}, latency: time.Millisecond}
	url, stop := server.start()
	defer stop()
	dir, mettle := format1(t, url)
	results := filepath.Join(dir, ".mettle", "runs", format1Run, "results.jsonl")
	b, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if err := os.WriteFile(results, append(bytes.Join(lines[:6], nil), lines[6][:50]...), 0o644); err != nil { // 6 of 10, one torn
		t.Fatal(err)
	}
	out, code := mettle("resume", "latest")
	if code != 0 || !strings.Contains(out, "Total Tests:       10") || !strings.Contains(out, "Failed:            3") { // it has a gate that allows them
		t.Errorf("exit code %d\n%s", code, out)
	}
	if n := server.calls.Load(); n != 4 {
		t.Errorf("%d calls, want 4", n)
	}
	if out, code = mettle("resume", "latest"); code != 0 || !strings.Contains(out, "nothing is asked") {
		t.Errorf("resumed again: exit code %d\n%s", code, out)
	}
	if n := server.calls.Load(); n != 4 {
		t.Errorf("%d calls after the second resume, want 4", n)
	}
	after, err := os.ReadFile(results)
	if err != nil || bytes.Count(after, []byte("\n")) != 10 || !bytes.HasPrefix(after, bytes.Join(lines[:6], nil)) {
		t.Errorf("the results are\n%s\n%v", after, err)
	}
}

// TestFormat1IsRescored by the suite as it is now; and one that was killed is
// not complete.
func TestFormat1IsRescored(t *testing.T) {
	dir, mettle := format1(t, "http://127.0.0.1:1")
	out, code := mettle("rescore", format1Run, "--gate", "pass_rate{target=url} >= 50%")
	if code != 0 || !strings.Contains(out, "Total Tests:       10") || !strings.Contains(out, "PASSED") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	change(t, filepath.Join(dir, ".mettle", "runs", format1Run, "results.jsonl"), `{"case":"facts","trial":2`, `{"case":"facts","trial":2000000000`)
	out, code = mettle("rescore", format1Run, "--gate", "pass_rate{target=url} >= 50%")
	if code != 3 || !strings.Contains(out, "Total Tests:       9") || !strings.Contains(out, "INCOMPLETE") {
		t.Errorf("with a damaged line: exit code %d\n%s", code, out)
	}
}
