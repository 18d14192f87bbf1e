package code

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
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
	case len(os.Args) > 1 && os.Args[1] == "--version":
		fmt.Println("solc, the solidity compiler commandline interface\nVersion: 0.8.30+commit.73712a01.Linux.g++")
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

// fakeTool is this binary as an outside program.
func fakeTool(t *testing.T, part string) Tools {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Tools{Python: self, Rustfmt: self, Solc: self, Environ: []string{"METTLE_TEST_TOOL=" + part}, Timeout: 20 * time.Second}
}

func realTools(t *testing.T) Tools {
	t.Helper()
	tools := FindTools(os.Environ())
	tools.Timeout = time.Minute // the machine may be busy
	return tools
}

func TestSyntaxWithPython(t *testing.T) {
	t.Parallel()
	tools := realTools(t)
	if tools.Python == "" {
		t.Skip("python3 is not on this machine")
	}
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
		v := SyntaxWith(t.Context(), "python", tc.src, tools)
		if !v.Checked || !strings.HasPrefix(v.Checker, "python3 3.") || !strings.HasSuffix(v.Checker, " ast") {
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

func TestSyntaxWithRustfmt(t *testing.T) {
	t.Parallel()
	tools := realTools(t)
	if tools.Rustfmt == "" {
		t.Skip("rustfmt is not on this machine")
	}
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
		v := SyntaxWith(t.Context(), "rust", tc.src, tools)
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

// TestParserAgrees holds the parsers of this package to the verdicts of the languages' own, on all examples of theirs.
func TestParserAgrees(t *testing.T) {
	t.Parallel()
	tools := realTools(t)
	for _, tc := range []struct{ lang, tool, path, newer string }{
		{"python", "python3", tools.Python, "program"}, // has what older versions lack
		{"rust", "rustfmt", tools.Rustfmt, "file documentation of nothing"},
	} {
		if tc.path == "" {
			t.Logf("%s is not on this machine", tc.tool)
			continue
		}
		a, err := txtar.ParseFile("testdata/syntax/" + tc.lang + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".want") || strings.Contains(tc.newer, f.Name) {
				continue
			}
			problems, checked := Syntax(tc.lang, string(f.Data))
			v := SyntaxWith(t.Context(), tc.lang, string(f.Data), tools)
			if checked && (len(problems) == 0) != (len(v.Problems) == 0) {
				t.Errorf("%s, %s: we say %v, %s says %v", tc.lang, f.Name, problems, v.Checker, v.Problems)
			}
		}
	}
}

// TestSyntaxWithBrokenTools holds that a program without a verdict leaves it to the parser of this package.
func TestSyntaxWithBrokenTools(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"crash", "garbage"} {
		v := SyntaxWith(t.Context(), "python", "x = = 1", fakeTool(t, part))
		if v.Checker != ownChecker || len(v.Problems) != 1 {
			t.Errorf("%s: %+v", part, v)
		}
	}
	for name, tools := range map[string]Tools{
		"none":      {},
		"not there": {Python: "/nowhere/python3", Rustfmt: "/nowhere/rustfmt", Solc: "/nowhere/solc"},
	} {
		for _, lang := range []string{"python", "rust", "solidity"} {
			if v := SyntaxWith(t.Context(), lang, "= =", tools); v.Checker != ownChecker || !v.Checked || len(v.Problems) != 1 {
				t.Errorf("%s, %s: %+v", name, lang, v)
			}
		}
	}
	if v := SyntaxWith(t.Context(), "ts", "let a = 1", fakeTool(t, "crash")); v.Checker != "esbuild" || !v.Checked || len(v.Problems) > 0 {
		t.Errorf("typescript: %+v", v)
	}
	if v := SyntaxWith(t.Context(), "java", "x", Tools{}); v.Checked || v.Checker != "" {
		t.Errorf("java: %+v", v)
	}
}

// TestSyntaxWithTimeLimit holds that a program that does not end is ended.
func TestSyntaxWithTimeLimit(t *testing.T) {
	t.Parallel()
	tools := fakeTool(t, "hang")
	tools.Timeout = 100 * time.Millisecond
	if v := SyntaxWith(t.Context(), "python", "x = 1", tools); v.Checker != ownChecker || !v.Checked {
		t.Errorf("%+v", v)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v := SyntaxWith(ctx, "python", "x = 1", fakeTool(t, "hang")); v.Checker != ownChecker {
		t.Errorf("%+v", v)
	}
}

// TestSyntaxWithSolc plays the compiler's part with what it prints.
func TestSyntaxWithSolc(t *testing.T) {
	t.Parallel()
	tools := fakeTool(t, "solc")
	for _, tc := range []struct{ src, checker, want string }{
		{"import \"a.sol\";\ncontract A {}\n", "solc 0.8.30", ""},
		{"uint x = 1;\n", "solc 0.8.30", ""},
		{"contract A {\n  bad\n}\n", "solc 0.8.30", "2:5: Expected ';' but got 'bad'"},
		{"uint x;\nuint bad y;\n", "solc 0.8.30", "2:5: Expected ';' but got 'bad'"},
		{"pragma solidity 0.4.0;\ncontract different {}\n", ownChecker, ""},
	} {
		v := SyntaxWith(t.Context(), "solidity", tc.src, tools)
		if v.Checker != tc.checker || !v.Checked {
			t.Errorf("%q: checked %t by %q", tc.src, v.Checked, v.Checker)
		}
		if diff := cmp.Diff(tc.want, renderProblems(v)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tc.src, diff)
		}
	}
}

func TestFindTools(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "python3"), filepath.Join(other, "python3"), filepath.Join(other, "solc")} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "rustfmt"), nil, 0o644); err != nil { // not executable
		t.Fatal(err)
	}
	environ := []string{"HOME=/x", "PATH=" + strings.Join([]string{".", dir, other}, string(filepath.ListSeparator))}
	want := Tools{Python: filepath.Join(dir, "python3"), Solc: filepath.Join(other, "solc"), Environ: environ}
	if diff := cmp.Diff(want, FindTools(environ)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(Tools{}, FindTools(nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
