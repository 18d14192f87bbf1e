package mettle_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const planAnswer = "The answer, with words enough to be one [Source 1].\n\n---\n<response_metadata>\n```json\n" +
	"{\"confidence\": 80, \"sourcesUsed\": 1}\n```\n</response_metadata>\n\n### Sources\n[1] Page\n    https://docs.example/page\n"

// writeSuite writes n cases that the plan server's answer passes.
func writeSuite(t *testing.T, dir string, n int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("name: many\nproject: mina\nversion: \"1\"\ntests:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: case-%04d\n    name: case %d\n    tool: ask_docs\n    difficulty: basic\n    input: {question: \"number %d\"}\n"+
			"    expected: {validations: [{type: has_citation}, {type: confidence_above, threshold: 40}]}\n", i, i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// results reads how often each case is in a run's results.
func results(t *testing.T, dir string) map[string]int {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, ".mettle", "runs", "*", "results.jsonl"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	f, err := os.Open(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			Case   string `json:"case"`
			Trial  int    `json:"trial"`
			Status string `json:"status"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		if r.Status != "pass" || r.Trial != 1 {
			t.Errorf("%s, trial %d: %s", r.Case, r.Trial, r.Status)
		}
		seen[r.Case]++
	}
	return seen
}

// kills is how many processes the tests below kill at random moments, and at
// the end a fifth of them: go test . -run Killed -kills 200 takes a minute.
var kills = flag.Int("kills", 20, "processes to kill at random moments")

// victim is a folder with a suite, and the server its cases are for.
type victim struct {
	t        *testing.T
	dir      string
	server   *planServer
	url      string
	cases    int
	inFlight int
}

func newVictim(t *testing.T, cases int, latency time.Duration) *victim {
	t.Helper()
	v := &victim{t: t, dir: t.TempDir(), server: &planServer{answers: map[string]string{"any": planAnswer}, latency: latency}, cases: cases, inFlight: 8}
	url, stop := v.server.start()
	t.Cleanup(stop)
	v.url = url
	writeSuite(t, v.dir, cases)
	return v
}

// command continues the run, or starts it when it was killed before there was
// one.
func (v *victim) command(args ...string) *exec.Cmd {
	if v.run() == "" {
		args = append([]string{"run", "many.yaml", "--concurrency", fmt.Sprint(v.inFlight)}, args...)
	} else {
		args = append([]string{"resume", "latest"}, args...)
	}
	cmd := exec.Command("mettle", args...)
	cmd.Dir = v.dir
	cmd.Env = append(os.Environ(), "MCP_URL="+v.url)
	return cmd
}

// run is the folder of the run, "" for none.
func (v *victim) run() string {
	runs, err := filepath.Glob(filepath.Join(v.dir, ".mettle", "runs", "2*"))
	if err != nil || len(runs) > 1 {
		v.t.Fatalf("%d runs, %v", len(runs), err)
	}
	if len(runs) == 0 {
		return ""
	}
	return runs[0]
}

// kill starts a command and kills it when the moment has come. It tells
// whether the command was still there.
func (v *victim) kill(cmd *exec.Cmd, moment <-chan struct{}) bool {
	v.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			v.t.Fatalf("%v: %v\n%s", cmd.Args, err, out.String())
		}
		return false
	case <-moment:
		_ = cmd.Process.Kill()
		<-ended
		return cmd.ProcessState.ExitCode() < 0
	}
}

// finish completes the run and checks that every case has one result, that the
// server was asked again only for what was in flight, and that nothing is left
// behind.
func (v *victim) finish(killed int) {
	t := v.t
	t.Helper()
	if out, err := v.command("-o", "out/report.json").CombinedOutput(); err != nil {
		t.Fatalf("the last resume: %v\n%s", err, out)
	}
	seen := results(t, v.dir)
	if len(seen) != v.cases {
		t.Errorf("%d cases have results, want %d: %d are lost", len(seen), v.cases, v.cases-len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s has %d results", id, n)
		}
	}
	if extra := int(v.server.calls.Load()) - v.cases; extra > killed*v.inFlight {
		t.Errorf("the server answered %d calls more than needed after %d kills with %d in flight", extra, killed, v.inFlight)
	}
	var run struct{ Status, Verdict string }
	b, err := os.ReadFile(filepath.Join(v.run(), "run.json"))
	if err == nil {
		err = json.Unmarshal(b, &run)
	}
	if err != nil || run.Status != "done" || run.Verdict != "passed" {
		t.Errorf("the header says %+v, %v", run, err)
	}
	before := v.server.calls.Load()
	if out, err := v.command("-o", "none").CombinedOutput(); err != nil || v.server.calls.Load() != before {
		t.Errorf("the finished run is resumed: %v, %d calls\n%s", err, v.server.calls.Load()-before, out)
	}
	for _, pattern := range []string{".mettle/runs/2*/.mettle-*", "out/.mettle-*"} {
		if left, _ := filepath.Glob(filepath.Join(v.dir, pattern)); len(left) > 0 {
			t.Errorf("temporary files are left: %v", left)
		}
	}
}

// moment is any moment from now on, or from when the process has had its first
// answer.
func (v *victim) moment(atWork bool) <-chan struct{} {
	c, had := make(chan struct{}), v.server.calls.Load()
	go func() {
		defer close(c)
		for i := 0; atWork && i < 10_000 && v.server.calls.Load() == had; i++ {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
	}()
	return c
}

// TestKilledRunIsResumed kills runs at random moments, each up to eight times, and
// resumes them until they are done.
func TestKilledRunIsResumed(t *testing.T) {
	killed, runs, calls := 0, 0, 0
	for killed < *kills {
		v := newVictim(t, 1000, 4*time.Millisecond)
		runs++
		own := 0
		for own < 8 && killed < *kills && v.kill(v.command("-o", "none"), v.moment(own%2 == 0)) {
			killed++
			own++
		}
		v.finish(own)
		calls += int(v.server.calls.Load()) - v.cases
	}
	t.Logf("%d kills in %d runs, %d calls more than without", killed, runs, calls)
}

// TestKilledAtTheEnd kills processes that have all their results and write the
// index, the header and the report: of a run, of a resume that has only the end
// to do, and of resume --errors on a finished run.
func TestKilledAtTheEnd(t *testing.T) {
	killed, finished, want := 0, 0, max(8, *kills/5)
	phases := map[string]int{}
	for i := 0; killed < want; i++ {
		if i > 50*want {
			t.Fatalf("only %d of %d processes could be killed", killed, i)
		}
		v := newVictim(t, 60, 0)
		own := 0
		kill := func(args ...string) {
			wait := time.Duration(rand.IntN(12_000)) * time.Microsecond
			if v.kill(v.command(args...), v.complete(wait)) {
				killed++
				own++
				phases[v.phase()]++
			} else {
				finished++
			}
		}
		kill("-o", "out/report.json")
		if v.run() != "" && killed < want {
			kill("-o", "out/report.json")
		}
		if v.run() != "" && killed < want {
			if out, err := v.command("-o", "none").CombinedOutput(); err != nil {
				t.Fatalf("resume: %v\n%s", err, out)
			}
			kill("--errors", "-o", "out/report.json")
		}
		v.finish(own)
	}
	t.Logf("%d kills, %d processes were faster; killed with %v", killed, finished, phases)
}

// TestEndThatCannotBeWritten: the index cannot be written, as on a full disk. The
// run says how to go on, and resume has only the end to do.
func TestEndThatCannotBeWritten(t *testing.T) {
	v := newVictim(t, 100, 20*time.Millisecond)
	cmd := v.command("-o", "none")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for v.lines() == 0 {
		time.Sleep(time.Millisecond) // there has to be a run
	}
	in := filepath.Join(v.run(), "index")
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(stderr.String(), "continue with mettle resume "+filepath.Base(v.run())) {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	if err := os.Remove(in); err != nil {
		t.Fatal(err)
	}
	v.finish(0)
}

// complete is the moment when all results are on disk, and a little later.
func (v *victim) complete(wait time.Duration) <-chan struct{} {
	c := make(chan struct{})
	had := v.lines()
	go func() {
		defer close(c)
		for start := time.Now(); time.Since(start) < time.Minute && v.lines() < v.cases; { //nolint:forbidigo // a test of real processes
			time.Sleep(200 * time.Microsecond)
		}
		if had == v.cases { // nothing comes to go by: somewhere in the whole of it
			wait *= 5
		}
		time.Sleep(wait)
	}()
	return c
}

func (v *victim) lines() int {
	runs, _ := filepath.Glob(filepath.Join(v.dir, ".mettle", "runs", "2*", "results.jsonl"))
	if len(runs) == 0 {
		return 0
	}
	b, _ := os.ReadFile(runs[0])
	return bytes.Count(b, []byte("\n"))
}

// phase is how far a killed process has come.
func (v *victim) phase() string {
	dir := v.run()
	if dir == "" {
		return "no run"
	}
	var phase string
	if b, _ := os.ReadFile(filepath.Join(dir, "run.json")); bytes.Contains(b, []byte(`"status":"done"`)) {
		phase = "header done"
	} else if _, err := os.Stat(filepath.Join(dir, "index")); err == nil {
		phase = "index, header running"
	} else {
		phase = "no index"
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".mettle-*")); len(left) > 0 {
		phase += ", half-written file"
	}
	if left, _ := filepath.Glob(filepath.Join(v.dir, "out", ".mettle-*")); len(left) > 0 {
		phase += ", half-written report"
	}
	return phase
}

// TestTroubleOnTheWayIsNoFailure puts cases to a server of which a third of
// the answers break: every case still gets its verdict.
func TestTroubleOnTheWayIsNoFailure(t *testing.T) {
	server := &planServer{answers: map[string]string{"any": planAnswer}, faults: map[string]int{"429": 20, "500": 10, "drop": 5}}
	url, stop := server.start()
	defer stop()
	dir := t.TempDir()
	writeSuite(t, dir, 300)
	cmd := exec.Command("mettle", "run", "many.yaml", "--url", url, "--concurrency", "16")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if seen := results(t, dir); len(seen) != 300 {
		t.Errorf("%d cases have results", len(seen))
	}
	if server.refused.Load() < 50 {
		t.Errorf("only %d calls broke", server.refused.Load())
	}
}

// TestInterruptedRunKeepsWhatIsDone asks a run to stop as Ctrl-C does.
func TestInterruptedRunKeepsWhatIsDone(t *testing.T) {
	server := &planServer{answers: map[string]string{"any": planAnswer}, latency: 20 * time.Millisecond}
	url, stop := server.start()
	defer stop()
	dir := t.TempDir()
	writeSuite(t, dir, 400)
	cmd := exec.Command("mettle", "run", "many.yaml", "--url", url, "-o", "none")
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for server.calls.Load() < 40 {
		time.Sleep(time.Millisecond) // the run has to be under way before it can be stopped
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, stderr.String())
	}
	if !strings.Contains(stderr.String(), "mettle resume ") {
		t.Errorf("no hint how to continue:\n%s", stderr.String())
	}
	if n := len(results(t, dir)); n < 30 || n == 400 {
		t.Errorf("%d results were kept", n)
	}
	resume := exec.Command("mettle", "resume", "latest", "-o", "none")
	resume.Dir = dir
	if out, err := resume.CombinedOutput(); err != nil {
		t.Fatalf("resume: %v\n%s", err, out)
	}
	if n := len(results(t, dir)); n != 400 {
		t.Errorf("%d results after resuming, want 400", n)
	}
}
