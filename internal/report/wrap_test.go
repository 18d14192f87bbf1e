package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{"empty", "", 10, nil},
		{"fits", "one two", 10, []string{"one two"}},
		{"breaks at spaces", "one two three four", 9, []string{"one two", "three", "four"}},
		{"breaks long words", "ab 0123456789abcdef x", 8, []string{"ab", "01234567", "89abcdef", "x"}},
		{"wide characters", "有限体 有限体 有限体", 13, []string{"有限体 有限体", "有限体"}},
		{"wide word", "有限体有限体", 9, []string{"有限体有", "限体"}},
		{"marks stay with their letter", strings.Repeat("e\u0301", 9), 8, []string{strings.Repeat("e\u0301", 8), "e\u0301"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wrap(c.in, c.width)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"one two", "three …"}, wrapAtMost("one two three four", 7, 2)); diff != "" {
		t.Errorf("cut off (-want +got):\n%s", diff)
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two 有限体有限体 👩‍💻👩‍💻👩‍💻 e\u0301", 9)
	f.Add("\u0301", 8)
	f.Fuzz(func(t *testing.T, s string, width int) {
		s, width = Sanitize(s), max(8, min(width, 200))
		lines := wrap(s, width)
		for _, l := range lines {
			if columns(l) > width {
				t.Fatalf("%q is %d columns, want at most %d", l, columns(l), width)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := squeeze(strings.Join(lines, "")), squeeze(s); got != want {
			t.Fatalf("wrapping changed %q to %q", want, got)
		}
		if n := columns(truncate(s, width)); n > width {
			t.Fatalf("truncated to %d columns, want at most %d", n, width)
		}
	})
}

// TestTerminalFitsItsWidth: no line is wider than the terminal, whatever
// answers and names hold.
func TestTerminalFitsItsWidth(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		for _, verbose := range []bool{false, true} {
			out := render(t, "terminal", sampleRun(), Options{Width: width, Verbose: verbose, Dir: ".mettle/runs/1"})
			for line := range strings.SplitSeq(out, "\n") {
				if columns(line) > width {
					t.Errorf("at %d columns a line has %d: %s", width, columns(line), line)
				}
			}
		}
	}
}
