package kind

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	for _, c := range []struct {
		name, source string
		col          int
		want         string
	}{
		{"plain", "name: 5", 7, "    3 | name: 5\n      |       ^"},
		{"first column", "name: 5", 1, "    3 | name: 5\n      | ^"},
		{"after the end", "name:", 6, "    3 | name:\n      |      ^"},
		{"far after the end", "name:", 60, "    3 | name:\n      |      ^"},
		{"no column", "name:", 0, "    3 | name:\n      | ^"},
		{"tab", "\ta:\tb", 5, "    3 | \ta:\tb\n      | \t  \t^"},
		{"wide characters", "ab: 日本 x", 8, "    3 | ab: 日本 x\n      |          ^"},
		{"half-width characters", "ｱｲ: x", 5, "    3 | ｱｲ: x\n      |     ^"},
		{"emoji", "a: 😀 x", 6, "    3 | a: 😀 x\n      |       ^"},
		{"combining mark", "e\u0301: x", 5, "    3 | e\u0301: x\n      |    ^"},
		{"control characters", "a\x1b[31mb: x", 10, "    3 | a\uFFFD[31mb: x\n      |          ^"},
		{"text direction", "a\u202eb: x", 6, "    3 | a\uFFFDb: x\n      |      ^"},
		{"carriage return", "a: b\r", 4, "    3 | a: b\uFFFD\n      |    ^"},
		{"line separator", "a\u2028b", 3, "    3 | a\uFFFDb\n      |   ^"},
		{"long line, early place", long, 5, "    3 | " + long[:120] + "…\n      |     ^"},
		{"long line, late place", long, 200, "    3 | …" + long[139:259] + "…\n      |  " + strings.Repeat(" ", 60) + "^"},
		{"long line, at the end", long, 300, "    3 | …" + long[239:300] + "\n      |  " + strings.Repeat(" ", 60) + "^"},
		{"no source", "", 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Problem{File: "f", Line: 3, Col: c.col, Source: c.source}.Excerpt()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestProblemString(t *testing.T) {
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{File: "f", Message: "m"}, "f: m"},
		{Problem{File: "f", Line: 2, Message: "m"}, "f:2:1: m"},
		{Problem{File: "f", Line: 2, Col: 3, Message: "m", Near: "n"}, `f:2:3: m (did you mean "n"?)`},
		{Problem{File: "f\x1b[2J", Message: "a\nb\rc\u202e"}, "f\uFFFD[2J: a b\uFFFDc\uFFFD"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestSortProblems(t *testing.T) {
	at := func(file string, line, col int, msg string) Problem {
		return Problem{File: file, Line: line, Col: col, Message: msg}
	}
	got := Problems{
		at("b", 1, 1, "x"), at("a", 2, 9, "x"), at("a", 2, 3, "second"), at("a", 2, 3, "first"), at("a", 2, 3, "second"), at("a", 10, 1, "x"),
	}.Sort()
	want := Problems{at("a", 2, 3, "second"), at("a", 2, 3, "first"), at("a", 2, 9, "x"), at("a", 10, 1, "x"), at("b", 1, 1, "x")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestProblemsError(t *testing.T) {
	ps := Problems{{File: "f", Line: 1, Col: 2, Message: "m", Source: "abc"}, {File: "f", Message: "n"}}
	if diff := cmp.Diff("f:1:2: m\n    1 | abc\n      |  ^\nf: n", ps.Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
