//go:build unix

// Command bench measures mettle as a user types it: the built program as a
// child process, with its default options, store and reports. Beside it, in
// the same round, runs a bare net/http loop that sends the same requests and
// makes the same string checks, also as a child process. Compare the ratios;
// the absolute numbers depend on the machine and on what else it does.
//
//	go run ./bench                         everything but 100,000 cases
//	go run ./bench -large                  100,000 cases too
//	go run ./bench -only 'passing'         the scenarios whose names match
//	go run ./bench -mettle /tmp/mettle-1   another build of mettle
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	mettle      string
	rounds      int
	concurrency int
	large       bool
	only        *regexp.Regexp
}

// scenario is a suite and the server it runs against.
type scenario struct {
	name    string
	cases   int
	files   int
	failing bool
	latency time.Duration
	large   bool
}

var scenarios = []scenario{
	{name: "10,000 passing", cases: 10_000, files: 1},
	{name: "10,000 failing", cases: 10_000, files: 1, failing: true},
	{name: "5,000 at 50ms", cases: 5_000, files: 1, latency: 50 * time.Millisecond},
	{name: "1,000 at 500ms", cases: 1_000, files: 1, latency: 500 * time.Millisecond},
	{name: "100,000 in 20 files", cases: 100_000, files: 20, large: true},
}

func main() {
	var o options
	mode := flag.String("mode", "", "for the bench itself: server or bare")
	url := flag.String("url", "", "address of the server, for -mode bare")
	cases := flag.Int("cases", 0, "number of requests, for -mode bare")
	failing := flag.Bool("failing", false, "make checks that fail, for -mode bare")
	only := flag.String("only", "", "regular expression of the scenarios to measure")
	flag.StringVar(&o.mettle, "mettle", "", "mettle program to measure (default: build it)")
	flag.IntVar(&o.rounds, "rounds", 3, "times that each scenario is measured; the least is shown")
	flag.IntVar(&o.concurrency, "concurrency", 64, "cases at a time")
	flag.BoolVar(&o.large, "large", false, "measure 100,000 cases too")
	flag.Parse()
	var err error
	switch *mode {
	case "server":
		err = serve()
	case "bare":
		err = bare(*url, *cases, o.concurrency, *failing)
	default:
		if o.only, err = regexp.Compile(*only); err == nil {
			err = measure(o)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(o options) error {
	dir, err := os.MkdirTemp("", "mettle-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.mettle == "" {
		o.mettle = filepath.Join(dir, "mettle")
		if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", o.mettle, "./cmd/mettle").CombinedOutput(); err != nil {
			return fmt.Errorf("build mettle: %w\n%s", err, out)
		}
	} else if o.mettle, err = filepath.Abs(o.mettle); err != nil {
		return err
	}
	s, err := startServer()
	if err != nil {
		return err
	}
	defer s.stop()
	if err := runs(o, s, dir); err != nil {
		return err
	}
	if o.only.MatchString("lint") {
		if err := lint(o); err != nil {
			return err
		}
	}
	if o.only.MatchString("start-up") {
		if err := startUp(dir, o.mettle); err != nil {
			return err
		}
	}
	if o.only.MatchString("models") {
		return models(o.mettle, dir)
	}
	return nil
}

// runs measures the scenarios, and the reports of their last runs.
func runs(o options, s *testServer, dir string) error {
	fmt.Printf("four checks a case, %d cases at a time, least of %d rounds\n", o.concurrency, o.rounds)
	fmt.Printf("%-20s %-16s %9s %9s %8s %10s %9s\n", "scenario", "program", "wall s", "cpu s", "peak MB", "wall/bare", "cpu/bare")
	for _, sc := range scenarios {
		if !o.only.MatchString(sc.name) || (sc.large && !o.large) {
			continue
		}
		suites := filepath.Join(dir, "suites")
		if err := writeSuites(suites, sc); err != nil {
			return err
		}
		if err := compare(o, s, sc, dir, suites); err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
		if err := os.RemoveAll(suites); err != nil {
			return err
		}
	}
	return nil
}

// compare measures a scenario, the bare loop and mettle in turns.
func compare(o options, s *testServer, sc scenario, dir, suites string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	url := s.url + sc.latency.String()
	var bares, mettles []usage
	var last string
	for i := range o.rounds {
		b, err := timed(exec.Command(self, "-mode", "bare", "-url", url, "-cases", fmt.Sprint(sc.cases), "-concurrency", fmt.Sprint(o.concurrency), fmt.Sprintf("-failing=%t", sc.failing)))
		if err != nil {
			return err
		}
		if _, err := s.calls(); err != nil {
			return err
		}
		if last != "" {
			_ = os.RemoveAll(last)
		}
		last = filepath.Join(dir, fmt.Sprint("run", i))
		m, err := runMettle(o, s, sc, last, suites, url)
		if err != nil {
			return err
		}
		bares, mettles = append(bares, b), append(mettles, m)
	}
	defer os.RemoveAll(last)
	b, m := least(bares), least(mettles)
	row(sc.name, "bare", b, b)
	row("", "mettle", m, b)
	for _, st := range m.stages {
		row("", "  "+st.name, st.usage, b)
	}
	return reports(o, b, last)
}

// reports measures the two default reports of a stored run, apart.
func reports(o options, b usage, dir string) error {
	for _, format := range []string{"json", "terminal"} {
		var all []usage
		for range o.rounds {
			cmd := exec.Command(o.mettle, "report", "latest", "--format", format, "-o", "report.out")
			cmd.Dir = dir
			u, err := timed(cmd)
			if err != nil {
				return fmt.Errorf("report: %w", err)
			}
			all = append(all, u)
		}
		row("", "report "+format, least(all), b)
	}
	return nil
}

func row(scenario, program string, u, bare usage) {
	peak := "-"
	if u.peakMB > 0 {
		peak = fmt.Sprintf("%.0f", u.peakMB)
	}
	fmt.Printf("%-20s %-16s %9.3f %9.3f %8s %10.2f %9.2f\n", scenario, program, u.wall.Seconds(), u.cpu.Seconds(), peak,
		u.wall.Seconds()/bare.wall.Seconds(), u.cpu.Seconds()/bare.cpu.Seconds())
}

// runMettle runs the suites in a folder of their own with the default options,
// and finds when each stage was over.
func runMettle(o options, s *testServer, sc scenario, dir, suites, url string) (usage, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage{}, err
	}
	log, err := os.Create(filepath.Join(dir, "terminal.log"))
	if err != nil {
		return usage{}, err
	}
	defer log.Close()
	cmd := exec.Command(o.mettle, "run", suites, "--url", url, "--concurrency", fmt.Sprint(o.concurrency))
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	u, err := timed(cmd)
	if code := cmd.ProcessState.ExitCode(); (code == 1 && sc.failing) || (code == 0 && !sc.failing) {
		err = nil
	} else if err == nil {
		err = fmt.Errorf("exit code %d", code)
	}
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		return u, fmt.Errorf("mettle: %w\n%s", err, text[max(0, len(text)-2000):])
	}
	seen, err := s.calls()
	if err != nil {
		return u, err
	}
	if seen.Count != int64(sc.cases) {
		return u, fmt.Errorf("mettle made %d calls, want %d", seen.Count, sc.cases)
	}
	return u, u.cut(dir, seen)
}

// lint measures mettle lint over the built-in skills.
func lint(o options) error {
	var all []usage
	for range 10 * o.rounds {
		cmd := exec.Command(o.mettle, "lint", "builtin/skills")
		cmd.Stderr = nil
		u, err := timed(cmd)
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
			return fmt.Errorf("lint: %w", err)
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b usage) int { return cmp.Compare(a.wall, b.wall) })
	l, median := least(all), all[len(all)/2]
	fmt.Printf("\nlint of builtin/skills: wall %s (median %s), cpu %s, peak %.0f MB\n", l.wall.Round(time.Microsecond), median.wall.Round(time.Microsecond), l.cpu.Round(time.Millisecond), l.peakMB)
	return nil
}

// startUp compares the time of `mettle version` with that of a program that
// does nothing, run in turns.
func startUp(dir, mettle string) error {
	src, empty := filepath.Join(dir, "empty.go"), filepath.Join(dir, "empty")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", empty, src).CombinedOutput(); err != nil {
		return fmt.Errorf("build the empty program: %w\n%s", err, out)
	}
	var nothing, version []time.Duration
	for range 200 {
		for _, p := range []struct {
			cmd  *exec.Cmd
			into *[]time.Duration
		}{{exec.Command(empty), &nothing}, {exec.Command(mettle, "version"), &version}} {
			start := time.Now()
			if err := p.cmd.Run(); err != nil {
				return err
			}
			*p.into = append(*p.into, time.Since(start))
		}
	}
	slices.Sort(nothing)
	slices.Sort(version)
	e, v := nothing[len(nothing)/2], version[len(version)/2]
	fmt.Printf("\nstart-up, median of %d: empty program %s, mettle version %s, ratio %.2f\n", len(nothing), e.Round(time.Microsecond), v.Round(time.Microsecond), v.Seconds()/e.Seconds())
	return nil
}

// writeSuites writes the suites of a scenario.
func writeSuites(dir string, sc scenario) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range sc.files {
		each := sc.cases / sc.files
		if err := writeSuite(filepath.Join(dir, fmt.Sprintf("bench-%03d.yaml", i)), i*each, (i+1)*each, sc.failing); err != nil {
			return err
		}
	}
	return nil
}

// writeSuite writes cases of four checks. It keeps nothing in memory: what
// this process holds is counted as the peak of its children.
func writeSuite(path string, from, to int, failing bool) error {
	checks := []string{"min_length, chars: 100", "contains, value: zero-knowledge", "has_citation", `matches_regex, pattern: "circuit|proof"`}
	if failing {
		checks = []string{"min_length, chars: 100000", "contains, value: lattice", "has_citation, not: true", `matches_regex, pattern: "lattice|pairing"`}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "name: bench %d\nproject: mina\nversion: \"1\"\ntests:\n", from)
	for i := from; i < to; i++ {
		fmt.Fprintf(w, `  - id: bench-%06d
    name: What is o1js?
    tool: ask_docs
    difficulty: basic
    input: {question: "What is o1js, for the %dth time?"}
    expected:
      validations:
        - {type: %s}
`, i, i, strings.Join(checks, "}\n        - {type: "))
	}
	return cmp.Or(w.Flush(), f.Close())
}
