package grade

import (
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/code"
)

// FuzzCitations: any answer is read, and blanking its code moves nothing.
func FuzzCitations(f *testing.F) {
	for _, text := range []string{"a [1]", "`[1]`", "``a`[1]``", "```\n[1]\n", "[Source 1, 2]", "[^1]: x", "`\n\n[1]`"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p := code.Prose(text); len(p) != len(text) || strings.Count(p, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, p)
		}
		citations(text)
	})
}
