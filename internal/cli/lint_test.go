package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/suite"
)

// lintWorld is a world in which a folder is linted.
func lintWorld(dir string, out io.Writer, args ...string) *World {
	return &World{
		Args: append([]string{"lint"}, args...), Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard, Dir: dir,
		Environ: []string{"GOGC=100"}, Now: time.Now, Random: func() uint32 { return 0 }, Interrupts: context.WithCancel,
	}
}

// writeSkill writes a skill and gives its path.
func writeSkill(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name, skill.FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const unquoted = "---\nname: a\ndescription: Extracts tables: when the user has a PDF file\n---\n# A\n\nDo it.\n"

// watched is a stream that tells when something was written to it.
type watched struct {
	bytes.Buffer
	once sync.Once
	seen chan struct{}
}

func (w *watched) Write(b []byte) (int, error) {
	defer w.once.Do(func() { close(w.seen) })
	return w.Buffer.Write(b)
}

// heldBack is a file whose text comes when something has been seen.
type heldBack struct {
	after <-chan struct{}
	io.Reader
}

func (h heldBack) Read(b []byte) (int, error) {
	<-h.after
	return h.Reader.Read(b)
}

// TestLintShowsWhatItKnows: what is wrong with the first file is shown while
// the second is still being read.
func TestLintShowsWhatItKnows(t *testing.T) {
	dir := t.TempDir()
	writeSkill(t, dir, "a", unquoted)
	for _, format := range []string{"terminal", "github"} {
		out := &watched{seen: make(chan struct{})}
		w := lintWorld(dir, out, "a", "-", "--format", format)
		w.Stdin = heldBack{out.seen, strings.NewReader(unquoted)}
		if code := Main(w); code != ExitNotMet || !strings.Contains(out.String(), "stdin") {
			t.Errorf("exit code %d\n%s", code, out)
		}
	}
}

// TestLintPaths: a file has one name for people, and one for suppressions and
// baselines that does not depend on where one stands.
func TestLintPaths(t *testing.T) {
	root := t.TempDir()
	path := writeSkill(t, filepath.Join(root, "repo", "skills"), "a", unquoted)
	for _, c := range []struct{ dir, arg, id, shown string }{
		{"repo", ".", "skills/a/SKILL.md", "skills/a/SKILL.md"},
		{"repo", "skills", "skills/a/SKILL.md", "skills/a/SKILL.md"},
		{"repo/skills", "a", "skills/a/SKILL.md", "a/SKILL.md"},
		{"repo/skills/a", "SKILL.md", "skills/a/SKILL.md", "SKILL.md"},
		{"repo/skills/a", "../..", "skills/a/SKILL.md", "SKILL.md"},
		{"repo", path, "skills/a/SKILL.md", "skills/a/SKILL.md"},
		{"elsewhere", path, "skills/a/SKILL.md", filepath.ToSlash(path)},
		{"elsewhere", "../repo", "skills/a/SKILL.md", "../repo/skills/a/SKILL.md"},
	} {
		w := &World{Dir: filepath.Join(root, filepath.FromSlash(c.dir))}
		files, err := findSkills(w, new(lintOptions), &suite.Config{Dir: filepath.Join(root, "repo")}, []string{c.arg, c.arg})
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 1 || files[0].id != c.id || files[0].shown != c.shown {
			t.Errorf("%s in %s is %+v, want %s, %s", c.arg, c.dir, files, c.id, c.shown)
		}
	}
}

func TestRewrite(t *testing.T) {
	path := writeSkill(t, t.TempDir(), "a", "old")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(path), "link.md")
	if err := os.Symlink(skill.FileName, link); err != nil {
		t.Skip(err)
	}
	if err := rewrite(link, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("the file is %v, %v, want the permissions it had", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is no longer one: %v", err)
	}
	if err := rewrite(path, []byte("old"), []byte("newer")); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a file that has changed was written: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("the file holds %q", text)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".mettle-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestInOrder(t *testing.T) {
	var got []int
	err := inOrder(t.Context(), 500, 4, func(i int) int { return i * i }, func(n int) error {
		got = append(got, n)
		return nil
	})
	if err != nil || len(got) != 500 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i, n := range got {
		if n != i*i {
			t.Fatalf("result %d is %d", i, n)
		}
	}
	var done atomic.Int32
	stop := errors.New("enough")
	err = inOrder(t.Context(), 1000, 4, func(i int) int { done.Add(1); return i }, func(n int) error {
		if n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || done.Load() > 50 {
		t.Errorf("%v after %d", err, done.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = inOrder(ctx, 1000, 2, func(i int) int { return i }, func(n int) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if err := inOrder(t.Context(), 0, 0, func(i int) int { return i }, func(int) error { return stop }); err != nil {
		t.Error(err)
	}
}

// TestLintInterrupted: a report that is not whole is not left in a file's place.
func TestLintInterrupted(t *testing.T) {
	dir := t.TempDir()
	writeSkill(t, dir, "a", unquoted)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := lintWorld(dir, io.Discard, ".", "-o", "out.json", "-f", "json")
	w.Interrupts = func(context.Context) (context.Context, context.CancelFunc) { return ctx, cancel }
	if code := Main(w); code != ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.json")); err == nil {
		t.Error("half a report was left")
	}
}

// TestMendReachesTheEnd: fixes that stand in each other's way are made one
// after the other, and none is made twice.
func TestMendReachesTheEnd(t *testing.T) {
	dir := t.TempDir()
	text := "\n```markdown\n---\nname: A\ndescription: Extracts tables: when # the user has a PDF file\nallowed-tools: [Read, Grep]\n---\n# A\r\n\nSee [x](b\\c.md).\n```\n"
	path := writeSkill(t, dir, "a", text)
	var out bytes.Buffer
	Main(lintWorld(dir, &out, "a", "--fix"))
	once, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	Main(lintWorld(dir, &again, "a", "--fix"))
	if strings.Contains(again.String(), "fixed:") || strings.Contains(again.String(), "can be fixed") {
		t.Errorf("there was more to mend:\n%s\nfirst:\n%s", &again, &out)
	}
	twice, _ := os.ReadFile(path)
	if diff := cmp.Diff(string(once), string(twice)); diff != "" || string(once) == text {
		t.Errorf("(-once +twice)\n%s", diff)
	}
}

// lintDocument is the JSON report as a reader sees it.
type lintDocument struct {
	Findings []skill.Finding
	Problems []struct{ File, Message string }
	Summary  report.LintTotals
}

// TestLintRealSkills lints real skills, if they are here, with every profile
// and in every format, and holds the places against the files.
func TestLintRealSkills(t *testing.T) {
	dir, err := filepath.Abs("../../../shared/skills-sample")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no sample of real skills here")
	}
	for _, profile := range suite.ProfileNames(nil) {
		for _, format := range lintFormatNames() {
			var out bytes.Buffer
			if code := Main(lintWorld(dir, &out, "--profile", profile, "--format", format)); code != ExitNotMet {
				t.Errorf("%s as %s exits with %d", profile, format, code)
			}
			if format == "json" {
				checkPlaces(t, dir, out.Bytes())
			}
		}
	}
}

// checkPlaces holds the places of findings and edits against the bytes of the
// files: what an editor would do with them.
func checkPlaces(t *testing.T, dir string, data []byte) {
	t.Helper()
	var doc lintDocument
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Problems) > 0 || doc.Summary.Files < 60 {
		t.Errorf("%d files, problems %v", doc.Summary.Files, doc.Problems)
	}
	for _, f := range doc.Findings {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.File)))
		if err != nil {
			t.Fatal(err)
		}
		holds := func(offset, line, col int) {
			t.Helper()
			before := strings.TrimPrefix(string(text[:offset]), "\ufeff")
			start := strings.LastIndexByte(before, '\n') + 1
			if gotLine, gotCol := 1+strings.Count(before, "\n"), 1+len([]rune(before[start:])); gotLine != line || gotCol != col {
				t.Errorf("%s: %s: byte %d is at %d:%d, not at %d:%d", f.File, f.Rule, offset, gotLine, gotCol, line, col)
			}
		}
		holds(f.Start, f.Line, f.Col)
		holds(f.End, f.EndLine, f.EndCol)
		if f.Fix == nil {
			continue
		}
		for _, e := range f.Fix.Edits {
			holds(e.Start, e.Line, e.Col)
			holds(e.End, e.EndLine, e.EndCol)
		}
	}
}

// TestDiffForPeople: on a terminal nothing is obeyed, and line ends can be told
// apart; a program gets the exact text.
func TestDiffForPeople(t *testing.T) {
	c := lintChange{text: []byte("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\x1b[2J\n+a\x1b[2J\r\n")}
	want := "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a␛[2J\n+a␛[2J␍\n"
	if diff := cmp.Diff(want, string(c.show(true, false))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(string(c.text), string(c.show(false, false))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
