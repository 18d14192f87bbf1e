package mettle_test

import (
	"bufio"
	"encoding/json"
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

// results reads how often each case stands in a run's results.
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

// TestKilledRunIsResumed kills a run of 1,000 cases at random moments, again
// and again, and resumes it until it is done: every case has one result, and
// the server was asked again only for what was in flight.
func TestKilledRunIsResumed(t *testing.T) {
	const cases, inFlight = 1000, 8
	server := &planServer{answers: map[string]string{"any": planAnswer}, latency: 2 * time.Millisecond}
	url, stop := server.start()
	defer stop()
	dir := t.TempDir()
	writeSuite(t, dir, cases)

	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command("mettle", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "MCP_URL="+url)
		return cmd
	}
	kills := 0
	cmd := command("run", "many.yaml", "--concurrency", fmt.Sprint(inFlight))
	for {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		wait := time.Duration(30+rand.IntN(120)) * time.Millisecond
		if kills >= 8 {
			wait = time.Minute // let it finish
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %v", cmd.Args, err)
			}
		case <-time.After(wait):
			kills++
			_ = cmd.Process.Kill()
			<-ended
			if runs, _ := filepath.Glob(filepath.Join(dir, ".mettle", "runs", "2*")); len(runs) == 0 {
				cmd = command("run", "many.yaml", "--concurrency", fmt.Sprint(inFlight)) // killed before there was a run
				continue
			}
			cmd = command("resume", "latest")
			continue
		}
		break
	}
	seen := results(t, dir)
	if len(seen) != cases {
		t.Errorf("%d cases have results, want %d", len(seen), cases)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s has %d results", id, n)
		}
	}
	if extra := int(server.calls.Load()) - cases; extra > kills*inFlight {
		t.Errorf("the server answered %d calls more than needed after %d kills with %d in flight", extra, kills, inFlight)
	}
	t.Logf("%d kills, %d calls answered", kills, server.calls.Load())
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
		t.Errorf("nobody says how to go on:\n%s", stderr.String())
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
