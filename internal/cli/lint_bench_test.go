//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manySkills writes skills of the size and make of real ones, 5 to 8 kB, one in
// ten with something wrong, and gives their paths.
func manySkills(tb testing.TB, dir string, n int) (paths []string) {
	tb.Helper()
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		var b strings.Builder
		fmt.Fprintf(&b, "---\nname: %s\ndescription: Does task number %d for people who ask. Use when the user says %d.\n---\n\n# Skill %d\n", name, i, i, i)
		if i%10 == 0 {
			b.WriteString("\nSee [the guide](references/guide.md).\n")
		}
		for s := range 9 + i%5 {
			fmt.Fprintf(&b, "\n## Section %d\n\n%s\n\n- see [the reference](https://example.com/%d/%d)\n- run `run.py --n %d`\n\n", s,
				strings.Repeat("Read the whole file before you change it, and say what you did. ", 6), i, s, s)
			switch s % 4 {
			case 0:
				b.WriteString("```bash\nnpm install\nnpm test\n```\n")
			case 1:
				fmt.Fprintf(&b, "```typescript\nimport { a } from \"b\";\n\nexport async function f%d(x: number): Promise<string> {\n  const y = await a(x);\n  return `${y}`;\n}\n```\n", i)
			case 2:
				fmt.Fprintf(&b, "```python\nimport os\n\ndef f%d(x):\n    return os.path.join(\"a\", x)\n```\n", i)
			case 3:
				b.WriteString("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n")
			}
		}
		paths = append(paths, writeSkill(tb, dir, name, b.String()))
	}
	return paths
}

// BenchmarkLint is the whole command over 1,000 files: finding, reading,
// checking and reporting them. files/cpu-s counts the time of the processor,
// which says what one core does also when others want it; cpu/read is that time
// over what reading the files alone takes.
func BenchmarkLint(b *testing.B) {
	dir := b.TempDir()
	paths := manySkills(b, dir, 1000)
	size := 0
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			b.Fatal(err)
		}
		size += int(info.Size())
	}
	for _, profile := range []string{"spec", "strict"} {
		b.Run(profile, func(b *testing.B) {
			b.SetBytes(int64(size))
			start := cpuTime(b)
			for b.Loop() {
				if code := Main(lintWorld(dir, io.Discard, "--profile", profile)); code > ExitNotMet {
					b.Fatalf("exit code %d", code)
				}
			}
			lint := (cpuTime(b) - start) / time.Duration(b.N)
			start = cpuTime(b)
			for _, p := range paths {
				if _, err := os.ReadFile(p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(paths))/lint.Seconds(), "files/cpu-s")
			b.ReportMetric(float64(lint)/float64(cpuTime(b)-start), "cpu/read")
		})
	}
}

// cpuTime is what the process has had of the processor.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLintFirstFinding is from the start of the program to the first line
// about one file, beside a start of the program that does nothing.
func BenchmarkLintFirstFinding(b *testing.B) {
	dir := b.TempDir()
	bin := filepath.Join(dir, "mettle")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "../../cmd/mettle").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	manySkills(b, filepath.Join(dir, "skills"), 1)
	for _, c := range []struct {
		name string
		args []string
	}{{"version", []string{"version"}}, {"lint", []string{"lint", filepath.Join(dir, "skills")}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command(bin, c.args...)
				out, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				line, err := bufio.NewReader(out).ReadString('\n')
				b.StopTimer()
				if err != nil || line == "" {
					b.Fatalf("%q, %v", line, err)
				}
				_, _ = io.Copy(io.Discard, out)
				_ = cmd.Wait() // its exit code says that something was found
				b.StartTimer()
			}
		})
	}
}
