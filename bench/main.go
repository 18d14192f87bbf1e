//go:build unix

// Command bench measures whole runs of the mettle binary beside a bare
// net/http loop that sends the same requests and makes the same string checks,
// against the same local server, each in a process of its own. What it prints
// are ratios taken in one go on one machine; the absolute numbers depend on
// the machine and on what else it does.
//
//	go run ./bench                       everything, about six minutes
//	go run ./bench -latencies 0 -large 0  the part that is limited by CPU
//	go run ./bench -cases 0               start-up and runs that ask models
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	cases       int
	large       int
	concurrency int
	latencies   string
	servers     []string
}

func main() {
	var o options
	mode := flag.String("mode", "", "used by the program itself: server or bare")
	url := flag.String("url", "", "server's address, for -mode bare")
	latency := flag.Duration("latency", 0, "time each answer takes, for -mode server")
	kind := flag.String("server", "sdk", "server to measure against: sdk, on the official Go SDK, or plain, which does the least that is MCP")
	flag.IntVar(&o.cases, "cases", 10_000, "cases of a run; 0 leaves out all runs against servers")
	flag.IntVar(&o.large, "large", 100_000, "cases of the run that shows memory; 0 leaves it out")
	flag.IntVar(&o.concurrency, "concurrency", 64, "cases at a time")
	flag.StringVar(&o.latencies, "latencies", "0,50ms,500ms", "times each answer takes")
	flag.Parse()
	var err error
	switch *mode {
	case "server":
		err = serve(*kind, *latency)
	case "bare":
		err = bare(*url, o.cases, o.concurrency)
	default:
		o.servers = []string{"sdk", "plain"}
		flag.Visit(func(f *flag.Flag) {
			if f.Name == "server" {
				o.servers = []string{*kind}
			}
		})
		err = measure(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	peakMB    float64
}

func measure(o options) error {
	dir, err := os.MkdirTemp("", "mettle-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	mettle, self := filepath.Join(dir, "mettle"), filepath.Join(dir, "bench")
	for bin, pkg := range map[string]string{mettle: "./cmd/mettle", self: "./bench"} {
		if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	if err := startUp(dir, mettle); err != nil {
		return err
	}
	if err := models(mettle, dir); err != nil {
		return err
	}
	if o.cases == 0 {
		return nil
	}
	suites := filepath.Join(dir, "suites")
	if err := writeSuites(suites, o.cases); err != nil {
		return err
	}
	fmt.Printf("\n%d cases of four rules, %d at a time\n", o.cases, o.concurrency)
	fmt.Printf("%-7s %-8s %-8s %10s %10s %9s %12s %12s\n", "server", "latency", "program", "wall", "cpu", "peak MB", "wall/bare", "wall/ideal")
	for text := range strings.SplitSeq(o.latencies, ",") {
		if text == "0" {
			text = "0s"
		}
		latency, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		for _, kind := range o.servers {
			if latency > 0 && kind != o.servers[0] {
				continue // with latency the server's own work does not matter
			}
			if err := oneLatency(self, mettle, suites, dir, kind, latency, o); err != nil {
				return err
			}
		}
	}
	if o.large > 0 {
		return memory(self, mettle, dir, o)
	}
	return nil
}

func oneLatency(self, mettle, suites, dir, kind string, latency time.Duration, o options) error {
	server, url, err := startServer(self, kind, latency)
	if err != nil {
		return err
	}
	defer func() { _ = server.Process.Kill() }()
	b, err := timed(exec.Command(self, "-mode", "bare", "-url", url, "-cases", fmt.Sprint(o.cases), "-concurrency", fmt.Sprint(o.concurrency)))
	if err != nil {
		return err
	}
	m, err := runMettle(mettle, suites, dir, url, o.concurrency)
	if err != nil {
		return err
	}
	ideal := time.Duration(o.cases) * latency / time.Duration(o.concurrency)
	row(kind, latency, "bare", b, b, ideal)
	row(kind, latency, "mettle", m, b, ideal)
	return nil
}

func row(kind string, latency time.Duration, name string, u, bare usage, ideal time.Duration) {
	over := "-"
	if ideal > 0 {
		over = fmt.Sprintf("%.3f", u.wall.Seconds()/ideal.Seconds())
	}
	fmt.Printf("%-7s %-8s %-8s %10s %10s %9.0f %12.2f %12s\n", kind, latency, name, u.wall.Round(time.Millisecond), u.cpu.Round(time.Millisecond),
		u.peakMB, u.wall.Seconds()/bare.wall.Seconds(), over)
}

// memory shows that ten times the cases do not take more of it.
func memory(self, mettle, dir string, o options) error {
	suites := filepath.Join(dir, "large")
	if err := writeSuites(suites, o.large); err != nil {
		return err
	}
	server, url, err := startServer(self, o.servers[0], 0)
	if err != nil {
		return err
	}
	defer func() { _ = server.Process.Kill() }()
	m, err := runMettle(mettle, suites, dir, url, o.concurrency)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d cases: wall %s, cpu %s, peak %.0f MB\n", o.large, m.wall.Round(time.Millisecond), m.cpu.Round(time.Millisecond), m.peakMB)
	return nil
}

func runMettle(mettle, suites, dir, url string, concurrency int) (usage, error) {
	cmd := exec.Command(mettle, "run", suites, "--url", url, "--concurrency", fmt.Sprint(concurrency), "-o", "none", "--runs", filepath.Join(dir, "runs"))
	cmd.Dir = dir
	log, err := os.Create(filepath.Join(dir, "mettle.log"))
	if err != nil {
		return usage{}, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	u, err := timed(cmd)
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		return u, fmt.Errorf("mettle: %w\n%s", err, text[max(0, len(text)-2000):])
	}
	return u, nil
}

// timed runs a command and asks the system what it took.
func timed(cmd *exec.Cmd) (usage, error) {
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	start := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(start)}
	if cmd.ProcessState != nil {
		u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			u.peakMB = float64(r.Maxrss) / 1024
		}
	}
	return u, err
}

// startUp compares the time of `mettle version` with that of a program that
// does nothing, run in turns.
func startUp(dir, mettle string) error {
	src := filepath.Join(dir, "empty.go")
	empty := filepath.Join(dir, "empty")
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
	fmt.Printf("start-up, median of %d: empty program %s, mettle version %s, ratio %.2f\n", len(nothing), e.Round(time.Microsecond), v.Round(time.Microsecond), v.Seconds()/e.Seconds())
	return nil
}
