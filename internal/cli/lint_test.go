package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lintreport "github.com/mettle-eval/mettle/internal/report/lint"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/skill/lint"
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
	Findings []lint.Finding
	Problems []struct{ File, Message string }
	Summary  lint.Totals
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
	for _, profile := range lint.ProfileNames(nil) {
		for _, format := range lintreport.Names() {
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
