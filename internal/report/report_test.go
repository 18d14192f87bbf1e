package report

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// render writes a run in a format and fails the test when it cannot.
func render(t testing.TB, format string, run *eval.Run, o Options) string {
	t.Helper()
	f, ok := Find(format)
	if !ok {
		t.Fatalf("no format %q", format)
	}
	var b bytes.Buffer
	if err := f.Write(&b, run, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// TestGolden compares each report of the sample runs with testdata/FORMAT.txtar.
func TestGolden(t *testing.T) {
	variants := []struct {
		name string
		run  *eval.Run
		o    Options
	}{
		{"full", sampleRun(), Options{Dir: ".mettle/runs/20260301-093000-abcd"}},
		{"verbose-120", sampleRun(), Options{Verbose: true, Width: 120}},
		{"color", sampleRun(), Options{Color: true, Width: 60}},
		{"stopped", stoppedRun(), Options{}},
		{"empty", emptyRun(), Options{}},
	}
	for _, f := range Formats {
		t.Run(f.Name, func(t *testing.T) {
			got := &txtar.Archive{Comment: []byte("The " + f.Name + " report of the runs in sample_test.go.\n")}
			seen := map[string]bool{}
			for _, v := range variants {
				out := strings.ReplaceAll(render(t, f.Name, v.run, v.o), bigAnswer, "{the megabyte}")
				out = strings.ReplaceAll(out, "\x1b", "{ESC}") // so that the file can be read
				if seen[out] {
					continue // the format does not heed these options
				}
				seen[out] = true
				got.Files = append(got.Files, txtar.File{Name: v.name, Data: []byte(out)})
			}
			golden(t, filepath.Join("testdata", f.Name+".txtar"), got)
		})
	}
}

func golden(t *testing.T, path string, got *txtar.Archive) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
	}
}

func TestFormatsAreSortedAndComplete(t *testing.T) {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
		if f.Doc == "" || !strings.HasPrefix(f.Ext, ".") || f.Write == nil {
			t.Errorf("format %q is not complete: %+v", f.Name, f)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("formats are not in order: %v", names)
	}
	if _, ok := Find("pdf"); ok {
		t.Error("found a format that is not there")
	}
}

// TestSameBytes holds every format to its promise: it looks at nothing but the
// run and its options, and leaves the run as it was.
func TestSameBytes(t *testing.T) {
	run := sampleRun()
	for _, f := range Formats {
		first := render(t, f.Name, run, Options{Verbose: true})
		if second := render(t, f.Name, run, Options{Verbose: true}); first != second {
			t.Errorf("%s differs when written twice", f.Name)
		}
	}
}

// TestNothingHostileGetsOut looks for bytes a terminal obeys in every report,
// the ones for programs included.
func TestNothingHostileGetsOut(t *testing.T) {
	for _, f := range Formats {
		out := render(t, f.Name, sampleRun(), Options{Verbose: true})
		for i, r := range out {
			if r != '\n' && (r < ' ' || obeyed(r)) {
				t.Fatalf("%s holds %U after %q", f.Name, r, out[max(0, i-40):i])
			}
		}
		if strings.ToValidUTF8(out, "") != out {
			t.Errorf("%s is not UTF-8", f.Name)
		}
	}
}

// TestKilledRun: a run without a summary, as a kill leaves it, reports the
// same as the finished one but for what it cannot know.
func TestKilledRun(t *testing.T) {
	whole := sampleRun()
	killed := *whole
	killed.Summary, killed.Outcomes, killed.Verdict = nil, nil, ""
	for _, f := range Formats {
		want, got := render(t, f.Name, whole, Options{}), render(t, f.Name, &killed, Options{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-finished +killed):\n%s", f.Name, diff)
		}
	}
	killed.Header.Status = eval.Running
	if out := render(t, "terminal", &killed, Options{}); !strings.Contains(out, "did not come to its end") {
		t.Errorf("the report hides that the run was killed:\n%s", out)
	}
}

// TestBrokenResults: a result that cannot be read makes no report that looks
// whole.
func TestBrokenResults(t *testing.T) {
	torn := errors.New("line 3 is torn")
	run := sampleRun()
	run.Results = func() iter.Seq2[*eval.Result, error] {
		return func(yield func(*eval.Result, error) bool) {
			_ = yield(sampleResults()[0], nil) && yield(nil, torn)
		}
	}
	for _, f := range Formats {
		if err := f.Write(io.Discard, run, Options{}); !errors.Is(err, torn) {
			t.Errorf("%s: error is %v, want one that wraps %v", f.Name, err, torn)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	for _, f := range Formats {
		if err := f.Write(fullDisk{}, sampleRun(), Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: error is %v, want one that wraps %v", f.Name, err, errFull)
		}
	}
}

// TestBareRun: results without cases, faults or scores, and a run without
// anything, are reported and not tripped over.
func TestBareRun(t *testing.T) {
	bare := []*eval.Result{{Status: eval.Fail}, {Status: eval.Error}, {Status: eval.Unscored}, {Status: eval.Skip}, {Status: eval.Pass}}
	for _, run := range []*eval.Run{
		{},
		{Results: func() iter.Seq2[*eval.Result, error] { return withNil(bare) }},
	} {
		for _, f := range Formats {
			render(t, f.Name, run, Options{Verbose: true, Width: 1})
		}
	}
	for _, r := range bare {
		Line(new(eval.Run), r, 1, Options{Verbose: true})
	}
}

// TestTerminalFitsItsWidth: no line is wider than the terminal, whatever
// answers and names hold.
func TestTerminalFitsItsWidth(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		for _, verbose := range []bool{false, true} {
			out := render(t, "terminal", sampleRun(), Options{Width: width, Verbose: verbose, Dir: ".mettle/runs/1"})
			for line := range strings.SplitSeq(out, "\n") {
				if term.Columns(line) > width {
					t.Errorf("at %d columns a line has %d: %s", width, term.Columns(line), line)
				}
			}
		}
	}
}

// badRune finds a rune that foreign text must not bring to people, or nothing.
func badRune(s string) (rune, bool) {
	for _, r := range s {
		inWord := r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f // fine inside words and emoji
		if !inWord && term.Sanitize(string(r)) != string(r) {
			return r, true
		}
	}
	return 0, false
}
