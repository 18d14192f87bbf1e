//go:build e2e && unix

// Package e2e holds mettle against what others wrote: MCP servers from npm, the
// official client SDK and the protocol's conformance suite. e2e/run installs
// them and runs these tests.
package e2e

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// installed is where e2e/run puts what the tests need.
func installed(t *testing.T, parts ...string) string {
	t.Helper()
	path := abs(t, append([]string{"..", "out", "e2e"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run e2e/run", err)
	}
	return path
}

func abs(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// node is the Node.js that e2e/run chose.
func node(t *testing.T) string {
	t.Helper()
	path := os.Getenv("E2E_NODE")
	if path == "" {
		t.Fatal("E2E_NODE is not set; run e2e/run")
	}
	return path
}

// environ is that of everything a test starts: a home of its own, so that no
// server finds or leaves a configuration, and a mark to find processes by.
func environ(t *testing.T, mark string, extra ...string) []string {
	t.Helper()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NO_COLOR=1", "DO_NOT_TRACK=1",
		"E2E_NODE=" + node(t), "E2E_MARK=" + mark,
	}
	return append(env, extra...)
}

// An invocation of mettle in a folder of its own.
type invocation struct {
	args   []string
	env    []string
	during func(dir string, p *os.Process) // called while it runs
}

// An outcome is what mettle left: its exit code, what it wrote and the report.
type outcome struct {
	exit           int
	stdout, stderr string
	dir            string
	report         report
}

// A report is what the tests read of the JSON report.
type report struct {
	Run struct {
		Targets map[string]map[string]string `json:"targets"`
	} `json:"run"`
	Verdict string `json:"verdict"`
	Summary struct {
		TotalTests, Passed, Failed, Errors, Unscored int
	} `json:"summary"`
	Retrieval []struct {
		Metric string   `json:"metric"`
		Mean   *float64 `json:"mean"`
		N      int      `json:"n"`
	} `json:"retrieval"`
	Results []struct {
		TestCase struct {
			ID   string   `json:"id"`
			Tags []string `json:"tags"`
		} `json:"testCase"`
		Status string `json:"status"`
	} `json:"results"`
}

// run runs mettle and makes sure that nothing it started is left.
func (in invocation) run(t *testing.T) outcome {
	t.Helper()
	dir, mark := t.TempDir(), rand.Text()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, installed(t, "bin", "mettle"), in.args...)
	cmd.Dir, cmd.Env = dir, environ(t, mark, in.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if in.during != nil {
		in.during(dir, cmd.Process)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("mettle %s: %v\n%s", strings.Join(in.args, " "), err, &stderr)
	}
	nothingLeft(t, mark)
	o := outcome{exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), dir: dir}
	if raw, err := os.ReadFile(filepath.Join(dir, reportFile)); err == nil {
		if err := json.Unmarshal(raw, &o.report); err != nil {
			t.Errorf("the JSON report: %v", err)
		}
	}
	return o
}

const reportFile = "report.json"

// runSuite runs one of our suites; args say more.
func runSuite(t *testing.T, suite string, env []string, args ...string) outcome {
	t.Helper()
	return invocation{args: append(runArgs(t, abs(t, "suites", suite+".yaml")), args...), env: env}.run(t)
}

// runArgs runs a suite file with our targets and keeps what is written in the
// folder mettle runs in.
func runArgs(t *testing.T, suite string) []string {
	t.Helper()
	return []string{"run", suite, "--config", abs(t, "mettle.yaml"), "--runs", "runs", "-o", reportFile}
}

// A verdict is how a suite is expected to end. Its cases with the tag
// known-gap fail, because of what the server really does, and no others.
type verdict struct {
	exit, passed, failed, errors int
}

func (o outcome) check(t *testing.T, want verdict) {
	t.Helper()
	s := o.report.Summary
	got := verdict{o.exit, s.Passed, s.Failed, s.Errors}
	if got != want || s.Unscored != 0 || s.TotalTests != want.passed+want.failed+want.errors {
		t.Errorf("got %+v of %d, %d unscored, want %+v\n%s%s", got, s.TotalTests, s.Unscored, want, o.stdout, o.stderr)
	}
	for _, r := range o.report.Results {
		gap := strings.Contains(strings.Join(r.TestCase.Tags, " "), "known-gap")
		if gap != (r.Status == "fail") {
			t.Errorf("%s: %s, known gap: %v", r.TestCase.ID, r.Status, gap)
		}
	}
}

// spoke checks what the run says about its target.
func (o outcome) spoke(t *testing.T, transport, protocol string) {
	t.Helper()
	for name, target := range o.report.Run.Targets {
		if target["transport"] != transport || target["protocol"] != protocol {
			t.Errorf("target %s: %v, want %s, %s", name, target, transport, protocol)
		}
		return
	}
	t.Error("the report names no target")
}

// A stored result is what the tests read of a line of results.jsonl.
type stored struct {
	Case     string `json:"case"`
	Response struct {
		Text     string `json:"text"`
		Exchange struct {
			Response json.RawMessage `json:"response"`
		} `json:"exchange"`
	} `json:"response"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// stored gives the stored result of a case.
func (o outcome) stored(t *testing.T, id string) stored {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(o.dir, "runs", "*", "results.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d runs are stored: %v", len(files), err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var s stored
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if s.Case == id {
			return s
		}
	}
	t.Fatalf("no result of %s is stored", id)
	return stored{}
}

// nothingLeft fails when a process with the mark is there. What was killed may
// need a moment to be gone.
func nothingLeft(t *testing.T, mark string) {
	t.Helper()
	var left []string
	for range 100 {
		if left = marked(mark); len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("left behind: %s", strings.Join(left, "; "))
}

// marked lists the processes whose environment has the mark. Where there is no
// /proc, it finds none.
func marked(mark string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte("E2E_MARK="+mark)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found = append(found, cmp.Or(strings.ReplaceAll(string(line), "\x00", " "), file))
	}
	return found
}
