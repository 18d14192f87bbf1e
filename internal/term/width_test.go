package term

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
			if diff := cmp.Diff(c.want, Wrap(c.in, c.width)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"one two", "three …"}, WrapAtMost("one two three four", 7, 2)); diff != "" {
		t.Errorf("cut off (-want +got):\n%s", diff)
	}
}

// TestColumns: widths are those of characters as people count them, whatever
// the locale is.
func TestColumns(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "有限体": 6, "e\u0301": 1, "✓": 1, "✗": 1, "…": 1, "█░": 2, "—": 1, "Größe": 5,
		"👩‍💻": 2, "🇩🇪": 2, "🙂": 2, "한글": 4,
	} {
		if got := Columns(s); got != want {
			t.Errorf("%q has %d columns, want %d", s, got, want)
		}
	}
}

func TestLast(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 5, "abc"}, {"abc", 2, "bc"}, {"有限体", 4, "限体"}, {"有限体", 3, " 体"}, {"abc", 0, ""}} {
		if got := Last(c.in, c.n); got != c.want {
			t.Errorf("Last(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two 有限体有限体 👩‍💻👩‍💻👩‍💻 e\u0301", 9)
	f.Add("\u0301", 8)
	f.Fuzz(func(t *testing.T, s string, width int) {
		s, width = Sanitize(s), max(8, min(width, 200))
		lines := Wrap(s, width)
		for _, l := range lines {
			if Columns(l) > width {
				t.Fatalf("%q is %d columns, want at most %d", l, Columns(l), width)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := squeeze(strings.Join(lines, "")), squeeze(s); got != want {
			t.Fatalf("wrapping changed %q to %q", want, got)
		}
		if n := Columns(Truncate(s, width)); n > width {
			t.Fatalf("truncated to %d columns, want at most %d", n, width)
		}
	})
}
