package grade

import (
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/eval"
)

// BenchmarkChecks is what the checks of a common case cost.
func BenchmarkChecks(b *testing.B) {
	prose := strings.Repeat("Mina is a succinct blockchain. Its size stays at 22 kB (see the docs). ", 30)
	a := attempt(&eval.Case{}, &eval.Response{Text: prose + "It is light [1].", Meta: map[string]any{"confidence": 80.0}, Sources: []eval.Source{{N: 1, URL: "https://x.org"}}}, nil)
	for _, text := range []string{
		"{type: contains, value: blockchain}", "{type: contains, value: missing words}", "{type: not_empty}", "{type: min_length, chars: 100}",
		"{type: has_citation}", "{type: has_code_block}", "{type: word_count, min: 10}", "{type: confidence_above, threshold: 50}",
		"{type: sources_count, min: 1}", "{type: matches_regex, pattern: 'size\\s+stays'}", "{type: not_error}", "{type: hit_at_k, relevant: [a.md]}",
	} {
		c := decode(b, text)
		b.Run(c.Kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Grade(b.Context(), a)
			}
		})
	}
}
