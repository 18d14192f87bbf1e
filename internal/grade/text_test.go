package grade

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
)

// FuzzCitations: any answer is read, and blanking its code moves nothing.
func FuzzCitations(f *testing.F) {
	for _, text := range []string{"a [1]", "`[1]`", "``a`[1]``", "```\n[1]\n", "[Source 1, 2]", "[\u017fource 1]", "[SOURCES #1 and source 2]", "[s [1]", "[[1]]", "[^]", "[99999999999999999999]", "[^1]: x", "`\n\n[1]`"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p := code.Prose(text); len(p) != len(text) || strings.Count(p, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, p)
		}
		citations(text)
		checkScanner(t, text)
	})
}

// citationMark says in one expression what the scanner finds.
var citationMark = regexp.MustCompile(`\[\^?\d+\]|(?i:\[sources?\s*#?\d+(?:\s*(?:,|;|&|-|–|and)\s*(?:sources?\s*)?#?\d+)*\])`)

// checkScanner wants the scanner to find what the expression matches.
func checkScanner(t *testing.T, text string) {
	t.Helper()
	var got, want []string
	for start := nextCitation(text, 0); start >= 0; {
		n := citationLength(text[start:])
		if n > 0 {
			got = append(got, fmt.Sprintf("%d: %s %v", start, text[start:start+n], numbersIn(text[start:start+n])))
		}
		start = nextCitation(text, start+max(n, 1))
	}
	for _, at := range citationMark.FindAllStringIndex(text, -1) {
		mark := text[at[0]:at[1]]
		var numbers []int
		for _, digits := range regexp.MustCompile(`\d+`).FindAllString(mark, -1) {
			n, err := strconv.Atoi(digits)
			if err != nil {
				n = -1
			}
			numbers = append(numbers, n)
		}
		want = append(want, fmt.Sprintf("%d: %s %v", at[0], mark, numbers))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-expression +scanner):\n%s", text, diff)
	}
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
