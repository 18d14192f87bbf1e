package grade

import (
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"ΟΔΟΣ", "οδος", "οδοσ"},
		{"İ", "i̇", "i", "I"},
		{"K", "k", "K"},
		{"ẞ", "ß"},
		{"ÀÉ", "àé"},
		{"Ǆ", "ǆ", "ǅ"},
	} {
		for _, s := range same {
			if fold(s) != fold(same[0]) {
				t.Errorf("%q and %q are not the same", s, same[0])
			}
		}
	}
	for _, differ := range [][2]string{{"ß", "ss"}, {"é", "e"}, {"ı", "i"}, {"Å", "A"}} {
		if fold(differ[0]) == fold(differ[1]) {
			t.Errorf("%q and %q are the same", differ[0], differ[1])
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	if got, want := oneLine("a\x1b[31m\r\n\tb\u0085c\xff", 80), "a [31m b c�"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzCitations: any answer is read, and blanking its code moves nothing.
func FuzzCitations(f *testing.F) {
	for _, text := range []string{"a [1]", "`[1]`", "``a`[1]``", "```\n[1]\n", "[Source 1, 2]", "[^1]: x", "`\n\n[1]`"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p := prose(text); len(p) != len(text) || strings.Count(p, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, p)
		}
		citations(text)
	})
}

func BenchmarkContains(b *testing.B) {
	text := strings.Repeat("o1js is a TypeScript library for writing zero-knowledge programs. ", 500)
	for name, text := range map[string]string{"ascii": text[:32<<10], "unicode": strings.ReplaceAll(text, "is", "ís")[:32<<10]} {
		c := ExpectedKeyword("not in the text at all", eval.Pos{})
		r := &eval.Response{Text: text}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if s := c.Grade(b.Context(), nil, r); s.Status != eval.Fail {
					b.Fatal(s)
				}
			}
		})
	}
}
