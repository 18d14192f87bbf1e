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

// TestContainsFoldManyPlaces: a word whose every letter is everywhere does not
// cost its length at every place.
func TestContainsFoldManyPlaces(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("aA", 100_000)
	if word := strings.Repeat("a", 10_000); containsFold(text, word+"b") || !containsFold(text, word) {
		t.Error("wrong answer")
	}
}

// FuzzContainsFold: the quick way and the plain one agree.
func FuzzContainsFold(f *testing.F) {
	for _, pair := range [][2]string{{"A zkApp", "zkapp"}, {"300 \u212A", "300 k"}, {"\u0130i\u0307", "ii"}, {"aAaAaB", "aab"}, {"\xff", "a"}, {"", "a"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, text, word string) {
		if word == "" {
			return
		}
		word = fold(word)
		if got, want := containsFold(text, word), strings.Contains(fold(text), word); got != want {
			t.Fatalf("%q in %q: %v, want %v", word, text, got, want)
		}
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
				if s := c.Grade(b.Context(), attempt(&eval.Case{}, r, nil)); s.Status != eval.Fail {
					b.Fatal(s)
				}
			}
		})
	}
}
