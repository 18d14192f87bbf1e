package grade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/process"
)

// execGrader asks a program for the verdict.
type execGrader struct {
	Command   []string      `yaml:"command" json:"command" jsonschema:"program and its arguments" check:"required,min=1"`
	Timeout   kind.Duration `yaml:"timeout" json:"timeout,omitempty" jsonschema:"longest the program may take" check:"default=10s"`
	Threshold *float64      `yaml:"threshold" json:"threshold,omitempty" jsonschema:"lowest score that passes, where the program gives a score only" check:"min=0,max=1,default=0.5"`

	dir string
}

const (
	execTimeout   = 10 * time.Second
	execThreshold = 0.5
	execOutput    = 1 << 20                // most the program may write to stdout
	execTail      = 2 << 10                // how much of stderr is kept, from its end
	execLinger    = 500 * time.Millisecond // for what the program left running to let go of its pipes
)

var execKind = kind.Kind[eval.Grader]{
	Name: "exec",
	Doc:  "A program says whether the answer passes.",
	Mode: "rejected by program",
	Explain: "The program gets one JSON object on stdin, `{\"case\": …, \"response\": …}`, in the form of a run's files, with `latency_ms` in the " +
		"response. It writes one JSON object to stdout:\n\n" +
		"```json\n{\"status\": \"pass\", \"reason\": \"the example compiles\", \"details\": {\"warnings\": 0}}\n```\n\n" +
		"The verdict is `status` (pass, fail or unscored), `pass` (true or false) or `score` (0 to 1; passes from `threshold` on). A score beside " +
		"a verdict is only the value. `reason` and `details` may be left out. A member that is there twice, or in another case (`PASS`), is refused.\n\n" +
		"A program that exits with another code than 0, takes too long, or writes anything else leaves the check unscored; the end of its " +
		"stderr is in the reason.\n\n" +
		"It runs in the suite file's folder, without a shell, in its own process group, all of which is ended with it. Of the environment it " +
		"gets only what programs need to start (`PATH`, `HOME`, `LANG`, `TMPDIR` and their like), so that keys and tokens stay where they are.",
	Example: `- type: exec
  command: [python3, checks/compiles.py, --strict]
  timeout: 30s
`,
	New: func() eval.Grader { return new(execGrader) },
}

// Check wants a program.
func (g *execGrader) Check() error {
	if strings.TrimSpace(g.Command[0]) == "" {
		return fieldErrorf("command[0]", "the program's name is empty")
	}
	return nil
}

func (g *execGrader) place(dir string) { g.dir = dir }

// Expensive: a program takes its time.
func (g *execGrader) Expensive() bool { return true }

// Prepare looks for the program, so that a missing one stops the run before
// its first case.
func (g *execGrader) Prepare(context.Context, *eval.Env, []*eval.Case) error {
	if err := g.find(); err != nil {
		return &eval.Missing{What: []string{fmt.Sprintf("program %q of an exec check: %v", g.Command[0], err)}}
	}
	return nil
}

// find looks a program up as running it does: a bare name on the path, any
// other in the suite's folder.
func (g *execGrader) find() error {
	name := g.Command[0]
	if filepath.Base(name) == name {
		_, err := exec.LookPath(name)
		if _, here := os.Stat(filepath.Join(g.dir, name)); err != nil && here == nil {
			return fmt.Errorf("%w; for the file in the suite's folder write ./%s", err, name)
		}
		return err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(g.dir, name)
	}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	return err
}

func (g *execGrader) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	input, err := json.Marshal(execInput{a.Case, execResponse{a.Response, eval.Millis(a.Response.Latency)}})
	if err != nil {
		return eval.Score{}, fmt.Errorf("write the answer as JSON: %w", err)
	}
	out, err := g.run(ctx, input, envOf(a.Env).environ())
	if err != nil {
		return eval.Score{}, fmt.Errorf("%s %w", cut(filepath.Base(g.Command[0])), err)
	}
	threshold := execThreshold
	if g.Threshold != nil {
		threshold = *g.Threshold
	}
	s, err := parseVerdict(out, threshold)
	if err != nil {
		return s, fmt.Errorf("%s %w", cut(filepath.Base(g.Command[0])), err)
	}
	return s, nil
}

type execInput struct {
	Case     *eval.Case   `json:"case"`
	Response execResponse `json:"response"`
}

type execResponse struct {
	*eval.Response
	LatencyMS float64 `json:"latency_ms"`
}

// run gives what the program wrote to stdout.
func (g *execGrader) run(ctx context.Context, input []byte, environ []string) ([]byte, error) {
	timeout := time.Duration(g.Timeout)
	if timeout == 0 {
		timeout = execTimeout
	}
	own, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(own, g.Command[0], g.Command[1:]...)
	stdout := &head{most: execOutput}
	stderr := &ending{most: execTail}
	cmd.Dir, cmd.Env = g.dir, environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), stdout, stderr
	cmd.WaitDelay = execLinger
	process.Group(cmd)
	err := cmd.Run()
	process.Kill(cmd)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well, and left something running that still held its output
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("was stopped with its case: %w", ctx.Err())
	case own.Err() != nil:
		return nil, fmt.Errorf("was not done after %s%s", timeout, stderr.text())
	case err != nil:
		return nil, fmt.Errorf("did not end well: %w%s", err, stderr.text())
	case stdout.over:
		return nil, fmt.Errorf("wrote more than %d bytes", execOutput)
	}
	return stdout.kept, nil
}

// head keeps the first bytes written to it.
type head struct {
	kept []byte
	most int
	over bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.most - len(h.kept)
	h.over = h.over || len(p) > room
	h.kept = append(h.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

// ending keeps the last bytes written to it.
type ending struct {
	kept []byte
	most int
}

func (e *ending) Write(p []byte) (int, error) {
	e.kept = append(e.kept, p...)
	if n := len(e.kept) - e.most; n > 0 {
		e.kept = append(e.kept[:0], e.kept[n:]...)
	}
	return len(p), nil
}

// text is the end of what was written, for a reason.
func (e *ending) text() string {
	last := trim(strings.ToValidUTF8(string(e.kept), "\uFFFD"))
	if last == "" {
		return ""
	}
	return ": " + tail(oneLine(last, execTail), 200)
}

type verdict struct {
	Status  *string         `json:"status"`
	Pass    *bool           `json:"pass"`
	Score   *float64        `json:"score"`
	Reason  string          `json:"reason"`
	Details json.RawMessage `json:"details"`
}

// verdictMembers are those of a [verdict].
var verdictMembers = []string{"status", "pass", "score", "reason", "details"}

// checkMembers refuses what readers of JSON understand differently: a member
// that is there twice, and one whose name is written in another case.
func checkMembers(out []byte) error {
	members, err := jsondoc.Members(string(out))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if i := slices.IndexFunc(verdictMembers, func(known string) bool { return strings.EqualFold(known, name) }); i >= 0 && verdictMembers[i] != name {
			return fmt.Errorf("gave the member %s, want %s", quote(name), quote(verdictMembers[i]))
		}
	}
	return nil
}

// parseVerdict reads what a program wrote.
func parseVerdict(out []byte, threshold float64) (eval.Score, error) {
	var v verdict
	if err := json.Unmarshal(out, &v); err != nil {
		return eval.Score{}, fmt.Errorf("wrote no verdict: want one JSON object, got %s", quote(oneLine(string(out), 2*shown)))
	}
	if err := checkMembers(out); err != nil {
		return eval.Score{}, err
	}
	status, err := v.status(threshold)
	if err != nil {
		return eval.Score{}, err
	}
	s := eval.PassIf(status == eval.Pass, "%s", v.reason(status, threshold))
	if v.Score != nil {
		s.Value = *v.Score
	}
	if details := v.details(); details != nil {
		s.Details = details
	}
	if status == eval.Unscored {
		return s, fmt.Errorf("could not decide: %s", v.reason(status, threshold))
	}
	return s, nil
}

// status is the verdict. Ways of saying it that contradict each other are none.
func (v *verdict) status(threshold float64) (eval.Status, error) {
	said := map[bool]bool{}
	if v.Pass != nil {
		said[*v.Pass] = true
	}
	if v.Status != nil {
		switch s := eval.Status(*v.Status); s {
		case eval.Unscored:
			return s, nil
		case eval.Pass, eval.Fail:
			said[s == eval.Pass] = true
		default:
			return "", fmt.Errorf("gave the status %s, want pass, fail or unscored", quote(*v.Status))
		}
	}
	switch {
	case v.Score != nil && (*v.Score < 0 || *v.Score > 1):
		return "", fmt.Errorf("gave the score %s, want 0 to 1", decimal(*v.Score))
	case len(said) == 2:
		return "", errors.New("contradicts itself: status and pass differ")
	case said[true], len(said) == 0 && v.Score != nil && *v.Score >= threshold:
		return eval.Pass, nil
	case said[false], v.Score != nil:
		return eval.Fail, nil
	}
	return "", errors.New("gave no verdict: want status, pass or score")
}

func (v *verdict) reason(status eval.Status, threshold float64) string {
	switch {
	case v.Reason != "":
		return oneLine(v.Reason, 300)
	case v.Score != nil && v.Status == nil && v.Pass == nil:
		return judged(status == eval.Pass, "the program's score is "+decimal(*v.Score), bounds(&threshold, nil)).Reason
	}
	return "the program says " + string(status)
}

func (v *verdict) details() map[string]any {
	var given any
	if len(v.Details) == 0 || json.Unmarshal(v.Details, &given) != nil || given == nil {
		return nil
	}
	if m, ok := given.(map[string]any); ok {
		return m
	}
	return map[string]any{"details": given}
}
