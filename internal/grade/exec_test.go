//go:build unix

package grade

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// execCheck is an exec check that stands in a suite of a folder.
func execCheck(t *testing.T, dir string, g execGrader) *eval.Check {
	t.Helper()
	raw, err := json.Marshal(&g)
	if err != nil {
		t.Fatal(err)
	}
	d, n := kind.Parse(filepath.Join(dir, "suite.yaml"), []byte(`{"type": "exec", `+string(raw[1:])))
	if n == nil {
		t.Fatal(d.Problems)
	}
	c := DecodeCheck(d, n)
	if c == nil {
		t.Fatal(d.Problems)
	}
	return c
}

func TestExecEnvironment(t *testing.T) {
	t.Parallel()
	c := execCheck(t, t.TempDir(), execGrader{Command: []string{"sh", "-c", `echo "{\"pass\": true, \"reason\": \"[$SECRET_TOKEN] [$HOME] [$LANG]\"}"`}})
	for _, tc := range []struct {
		name    string
		environ []string
		want    string
	}{
		{"with an environment", PassedOn([]string{"PATH=" + os.Getenv("PATH"), "SECRET_TOKEN=hunter2", "HOME=/home/someone", "LANG=de_DE.UTF-8"}), "[] [/home/someone] [de_DE.UTF-8]"},
		{"without an environment", nil, "[] [] []"},
		{"with an empty environment", PassedOn(nil), "[] [] []"},
	} {
		a := attempt(&eval.Case{}, &eval.Response{}, nil)
		a.Env.Grading = &Env{Environ: tc.environ}
		if got := c.Grade(t.Context(), a).Reason; got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestExecRunsInTheSuitesFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := "#!/bin/sh\ncat > input.json\necho '{\"pass\": true, \"details\": [1]}'\n"
	if err := os.WriteFile(filepath.Join(dir, "check.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	c := execCheck(t, dir, execGrader{Command: []string{"./check.sh"}})
	if err := c.Grader.(eval.Preparer).Prepare(t.Context(), new(eval.Env), nil); err != nil {
		t.Fatal(err)
	}
	cs := &eval.Case{ID: "a", Input: json.RawMessage(`{"question":"?"}`), Checks: []*eval.Check{c}}
	s := c.Grade(t.Context(), attempt(cs, &eval.Response{Text: "An answer.", Meta: map[string]any{"confidence": 80.0}, Latency: 1500 * time.Millisecond}, nil))
	if s.Status != eval.Pass {
		t.Fatalf("%s: %s", s.Status, s.Reason)
	}
	if diff := cmp.Diff(map[string]any{"details": []any{1.0}}, s.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	var input struct {
		Case struct {
			ID    string
			Input map[string]string
		}
		Response struct {
			Text      string
			Meta      map[string]any
			LatencyMS float64 `json:"latency_ms"`
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "input.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &input); err != nil {
		t.Fatal(err)
	}
	if input.Case.ID != "a" || input.Case.Input["question"] != "?" || input.Response.Text != "An answer." ||
		input.Response.Meta["confidence"] != 80.0 || input.Response.LatencyMS != 1500 {
		t.Errorf("the program was given %s", data)
	}
}

func TestExecPrepare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mettle-here.sh"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		command string
		missing bool
	}{
		{"sh", false},
		{"./mettle-here.sh", false},
		{"mettle-here.sh", true},
		{"mettle-no-such-program", true},
		{"./none.sh", true},
		{dir + "/none.sh", true},
		{"./.", true},
	} {
		c := execCheck(t, dir, execGrader{Command: []string{tc.command}})
		all := &eval.Check{Grader: &all{children{[]child{{c}}}}}
		for _, g := range []eval.Grader{c.Grader, all.Grader} {
			err := g.(eval.Preparer).Prepare(t.Context(), new(eval.Env), nil)
			var missing *eval.Missing
			if errors.As(err, &missing) != tc.missing {
				t.Errorf("%s: %v", tc.command, err)
			}
			if tc.command == "mettle-here.sh" && !strings.Contains(err.Error(), "write ./mettle-here.sh") {
				t.Errorf("%s: no hint in %v", tc.command, err)
			}
			if !eval.IsExpensive(g) {
				t.Errorf("%s: %T is not expensive", tc.command, g)
			}
		}
	}
}

// TestExecEndsItsProcesses: neither a program that takes too long nor what a
// program leaves behind lives on. Each holds a pipe open for writing, and
// reading it ends when the last of them is gone.
func TestExecEndsItsProcesses(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"too slow":   `exec 3> pipe; sleep 600 & sleep 600`,
		"left alone": `exec 3> pipe; sleep 600 > /dev/null 2>&1 & echo '{"pass": true}'`,
		"holds out":  `exec 3> pipe; sleep 600 & echo '{"pass": true}'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			pipe, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			c := execCheck(t, dir, execGrader{Command: []string{"sh", "-c", script}, Timeout: kind.Duration(time.Second)})
			s := c.Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{}, nil))
			want := eval.Pass
			if name == "too slow" {
				want = eval.Unscored
			}
			if s.Status != want {
				t.Errorf("%s: %s, want %s", s.Status, s.Reason, want)
			}
			if _, err := io.ReadAll(pipe); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestExecEndsWithItsCase(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := execCheck(t, t.TempDir(), execGrader{Command: []string{"sh", "-c", "sleep 600"}})
	s := c.Grade(ctx, attempt(&eval.Case{}, &eval.Response{}, nil))
	if s.Status != eval.Unscored || !strings.Contains(s.Reason, context.Canceled.Error()) {
		t.Errorf("%s: %s", s.Status, s.Reason)
	}
}

// FuzzVerdict: whatever a program writes is a verdict in range, or none.
func FuzzVerdict(f *testing.F) {
	for _, out := range []string{
		`{"status": "pass"}`, `{"pass": false, "score": 0.2, "reason": "a\nb"}`, `{"score": 1e400}`, `{"score": -1}`, `{}`, `[]`, `null`,
		`{"status": "unscored", "details": [1]}`, `{"pass": "yes"}`, "{\"pass\": true, \"reason\": \"\x1b[31m\"}", `{"pass": true}{}`,
	} {
		f.Add([]byte(out), 0.5)
	}
	f.Fuzz(func(t *testing.T, out []byte, threshold float64) {
		s, err := parseVerdict(out, threshold)
		if err != nil {
			return
		}
		if s.Status != eval.Pass && s.Status != eval.Fail || s.Value < 0 || s.Value > 1 {
			t.Fatalf("status %q, value %v", s.Status, s.Value)
		}
		if strings.ContainsFunc(s.Reason, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("reason %q", s.Reason)
		}
	})
}
