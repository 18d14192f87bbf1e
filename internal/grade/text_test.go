package grade

import (
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
)

// FuzzCitations: any answer is read, and blanking its code moves nothing.
func FuzzCitations(f *testing.F) {
	for _, text := range []string{"a [1]", "`[1]`", "``a`[1]``", "```\n[1]\n", "[Source 1, 2]", "[\u017fource 1]", "[SOURCES #1 and source 2]", "[s [1]", "[[1]]", "[^]", "[99999999999999999999]", "[^1]: x", "`\n\n[1]`", "[1-3]", "[3–1]", "a[0][1]", "[t](https://a.b/c)", "![t](https://a.b)", "http://", "see https://a.b.", "[^n]: http://a.b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p := code.Prose(text); len(p) != len(text) || strings.Count(p, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, p)
		}
		m := new(citing).citations(&eval.Response{Text: text, Sources: []eval.Source{{N: 1}}})
		for _, c := range m.found {
			if c.form == "" || c.text == "" || len(c.numbers) == 0 && c.label == "" && !c.linked {
				t.Errorf("%q has the citation %+v", text, c)
			}
		}
	})
}

func BenchmarkHasCitation(b *testing.B) {
	prose := strings.Repeat("Mina is a succinct blockchain. Its size stays at 22 kB [see the docs]. ", 30)
	check := decode(b, "{type: has_citation}")
	for name, text := range map[string]string{"without": prose, "with": prose + "It is light [1] and [Source 2]."} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			a := attempt(&eval.Case{}, &eval.Response{Text: text}, nil)
			for b.Loop() {
				check.Grade(b.Context(), a)
			}
		})
	}
}

// FuzzSentences: every sentence is text of the answer, on one line, and has
// something in it.
func FuzzSentences(f *testing.F) {
	f.Add("# A\n\nIs it? It is. It's\nnot; so.\n\n```ts\nlet a = 1\n```\n- b\n| c | d |\n**e** [Source 1]")
	f.Add("```\n```ts\n~~~\n?!. \x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range sentences(text) {
			if strings.TrimSpace(s) == "" || strings.ContainsAny(s, "\n\r") {
				t.Fatalf("%q", s)
			}
		}
	})
}
