package code

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/code/program"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// TestMain lets the test binary play an outside program.
func TestMain(m *testing.M) {
	if part := os.Getenv("METTLE_TEST_TOOL"); part != "" {
		playTool(part)
		return
	}
	os.Exit(m.Run())
}

func playTool(part string) {
	src, _ := io.ReadAll(os.Stdin)
	switch {
	case part == "hang":
		select {}
	case part == "crash":
		os.Exit(139)
	case part == "garbage":
		fmt.Println("Traceback (most recent call last): …")
	case part == "solc" && strings.Contains(string(src), "different"):
		fmt.Fprintln(os.Stderr, "Error: Source file requires different compiler version\n --> <stdin>:1:1:")
		os.Exit(1)
	case part == "solc" && strings.Contains(string(src), "contract") && !strings.Contains(string(src), "bad"):
		fmt.Fprintln(os.Stderr, "Warning: SPDX license identifier not provided in source file.\n --> <stdin>\n\nError: Source \"a.sol\" not found: File not found.\n --> <stdin>:1:1:")
		os.Exit(1)
	case part == "solc":
		line := strings.Count(string(src[:max(strings.Index(string(src), "bad"), 0)]), "\n") + 1
		fmt.Fprintf(os.Stderr, "Error: Expected ';' but got 'bad'\n --> <stdin>:%d:5:\n  |\n", line)
		os.Exit(1)
	}
}

// fakeProgram is this binary as the program of every language.
func fakeProgram(t *testing.T, part string) *Checkers {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &Checkers{programs: map[string]*program.Program{}}
	for _, name := range CheckerNames() {
		c.programs[name] = &program.Program{Path: self, Label: name + " 0.8.30", Environ: []string{"METTLE_TEST_TOOL=" + part}, Timeout: 20 * time.Second}
	}
	return c
}

// realProgram is a program of this machine; the test is skipped where it is not there.
func realProgram(t *testing.T, name string) *Checkers {
	t.Helper()
	c, err := NewCheckers([]string{name}, os.Environ())
	if err != nil {
		t.Skip(err)
	}
	c.programs[name].Timeout = time.Minute // the machine may be busy
	return c
}

func TestCheckPython(t *testing.T) {
	t.Parallel()
	checkers := realProgram(t, "python3")
	file := filepath.Join(t.TempDir(), "written")
	for _, tc := range []struct{ src, want string }{
		{"x = 1\n", ""},
		{"x = (1\n", "1:5: '(' was never closed"},
		{"x = 1\nprint 'a'\n", "2:1: Missing parentheses in call to 'print'. Did you mean print(...)?"},
		{"    x = 1\n    y = = 2\n", "2:9: invalid syntax"},
		{">>> x = 1\n1\n>>> y = = 2\n", "3:9: invalid syntax"},
		{"!pip install x\nx = 1\n", ""},
		{"x = 'é' é é\n", "1:9: invalid syntax"},
		{"open(" + fmt.Sprintf("%q", file) + ", 'w').write('x')\n", ""},
		{"", ""},
	} {
		v := checkers.Check(t.Context(), "python", tc.src)
		if !v.Checked || !strings.HasPrefix(v.Checker, "python3 3.") {
			t.Errorf("%q: checked %t by %q", tc.src, v.Checked, v.Checker)
		}
		if diff := cmp.Diff(tc.want, renderProblems(v)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tc.src, diff)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the code was run")
	}
}

func renderProblems(v Verdict) string {
	var out []string
	for _, p := range v.Problems {
		out = append(out, fmt.Sprintf("%d:%d: %s", p.Line, p.Col, p.Message))
		if p.Checker != v.Checker {
			out = append(out, "by "+p.Checker)
		}
	}
	return strings.Join(out, "\n")
}

func TestCheckRustfmt(t *testing.T) {
	t.Parallel()
	checkers := realProgram(t, "rustfmt")
	for _, tc := range []struct {
		src  string
		line int // of the first problem
	}{
		{"fn main() {}\n", 0},
		{"mod elsewhere;\nfn f() {}\n", 0},
		{"let x = 1;\nprintln!(\"{}\", x);\n", 0},
		{"let x = 1;\nlet y = ;\n", 2},
		{"fn main() {\n    let x = ;\n}\n", 2},
	} {
		v := checkers.Check(t.Context(), "rust", tc.src)
		if !v.Checked || !strings.HasPrefix(v.Checker, "rustfmt ") {
			t.Errorf("%q: checked %t by %q", tc.src, v.Checked, v.Checker)
		}
		line := 0
		if len(v.Problems) > 0 {
			line = v.Problems[0].Line
		}
		if line != tc.line {
			t.Errorf("%q: %v, want the first in line %d", tc.src, v.Problems, tc.line)
		}
	}
}

// TestParserAgrees compares the parsers of this package with the languages' own, on all examples of theirs.
func TestParserAgrees(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ lang, program, newer string }{
		{"python", "python3", "program"}, // has what older versions lack
		{"rust", "rustfmt", "file documentation of nothing"},
	} {
		t.Run(tc.lang, func(t *testing.T) {
			t.Parallel()
			checkers := realProgram(t, tc.program)
			a, err := txtar.ParseFile("testdata/syntax/" + tc.lang + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, ".want") || strings.Contains(tc.newer, f.Name) {
					continue
				}
				problems, checked := Syntax(tc.lang, string(f.Data))
				v := checkers.Check(t.Context(), tc.lang, string(f.Data))
				if checked && (len(problems) == 0) != (len(v.Problems) == 0) {
					t.Errorf("%s: we say %v, %s says %v", f.Name, problems, v.Checker, v.Problems)
				}
			}
		})
	}
}

// TestBrokenPrograms checks that a program without a verdict leaves the source unchecked, whatever our own parser says.
func TestBrokenPrograms(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"crash", "garbage"} {
		for _, src := range []string{"x = = 1", "x = 1"} {
			if v := fakeProgram(t, part).Check(t.Context(), "python", src); v.Checked || v.Checker != "python3 0.8.30" || len(v.Problems) > 0 {
				t.Errorf("%s: %+v", part, v)
			}
		}
	}
	if v := fakeProgram(t, "crash").Check(t.Context(), "ts", "let a = 1"); v.Checker != "esbuild" || !v.Checked || len(v.Problems) > 0 {
		t.Errorf("typescript: %+v", v)
	}
	if v := fakeProgram(t, "crash").Check(t.Context(), "java", "x"); v.Checked || v.Checker != "" {
		t.Errorf("java: %+v", v)
	}
}

// TestNoCheckers checks that without programs the parsers of this package decide, whatever is on the machine.
func TestNoCheckers(t *testing.T) {
	t.Parallel()
	none, err := NewCheckers(nil, os.Environ())
	if none != nil || err != nil {
		t.Fatalf("got %v, %v", none, err)
	}
	for _, lang := range []string{"python", "rust", "solidity"} {
		if v := none.Check(t.Context(), lang, "= ="); v.Checker != source.OwnChecker || !v.Checked || len(v.Problems) != 1 {
			t.Errorf("%s: %+v", lang, v)
		}
	}
	if none.Describe() != nil {
		t.Errorf("describe: %v", none.Describe())
	}
}

// TestProgramTimeLimit checks that a program that does not end is ended.
func TestProgramTimeLimit(t *testing.T) {
	t.Parallel()
	checkers := fakeProgram(t, "hang")
	checkers.programs["python3"].Timeout = 100 * time.Millisecond
	if v := checkers.Check(t.Context(), "python", "x = 1"); v.Checked {
		t.Errorf("%+v", v)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v := fakeProgram(t, "hang").Check(ctx, "python", "x = 1"); v.Checked {
		t.Errorf("%+v", v)
	}
}

// TestCheckSolc plays the compiler's part with what it prints.
func TestCheckSolc(t *testing.T) {
	t.Parallel()
	checkers := fakeProgram(t, "solc")
	for _, tc := range []struct{ src, checker, want string }{
		{"import \"a.sol\";\ncontract A {}\n", "solc 0.8.30", ""},
		{"uint x = 1;\n", "solc 0.8.30", ""},
		{"contract A {\n  bad\n}\n", "solc 0.8.30", "2:5: Expected ';' but got 'bad'"},
		{"uint x;\nuint bad y;\n", "solc 0.8.30", "2:5: Expected ';' but got 'bad'"},
		{"pragma solidity 0.4.0;\ncontract different {}\n", source.OwnChecker, ""},
	} {
		v := checkers.Check(t.Context(), "solidity", tc.src)
		if v.Checker != tc.checker || !v.Checked {
			t.Errorf("%q: checked %t by %q", tc.src, v.Checked, v.Checker)
		}
		if diff := cmp.Diff(tc.want, renderProblems(v)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tc.src, diff)
		}
	}
}

func TestNewCheckers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	dir, other := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "python3"), "#!/bin/sh\necho Python 3.1.4\n", 0o755)
	write(filepath.Join(other, "python3"), "#!/bin/sh\necho Python 2.7\n", 0o755)
	write(filepath.Join(other, "solc"), "#!/bin/sh\necho 'solc, the compiler'; echo 'Version: 0.8.30+commit.1'\n", 0o755)
	write(filepath.Join(dir, "rustfmt"), "", 0o644) // not executable
	environ := []string{"HOME=/x", "PATH=" + strings.Join([]string{".", dir, other}, string(filepath.ListSeparator))}

	c, err := NewCheckers([]string{"solc", "python3"}, environ)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"python3": "Python 3.1.4", "solc": "Version: 0.8.30+commit.1"}
	if diff := cmp.Diff(want, c.Describe()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff("python3 (Python 3.1.4), solc (Version: 0.8.30+commit.1)", c.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := c.programs["solc"].Label; got != "solc 0.8.30" {
		t.Errorf("label %q", got)
	}

	write(filepath.Join(other, "rustfmt"), "#!/bin/sh\necho none\n", 0o755)
	for names, want := range map[string]string{
		"pyton":       `unknown checker "pyton", want one of python3, rustfmt, solc`,
		"rustfmt":     "rustfmt --version names no version",
		"pyton gofmt": "unknown checker \"pyton\", want one of python3, rustfmt, solc\nunknown checker \"gofmt\", want one of python3, rustfmt, solc",
	} {
		if _, err := NewCheckers(strings.Fields(names), environ); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", names, err, want)
		}
	}
	if _, err := NewCheckers([]string{"solc"}, nil); err == nil || err.Error() != "solc is not on PATH" {
		t.Errorf("got %v", err)
	}
}
