package lint

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/skill"
)

// TestReadIgnores: a comment covers what follows it up to a blank line, one about the file all of it.
func TestReadIgnores(t *testing.T) {
	d := skill.Parse("x/SKILL.md", []byte(`# A
<!-- only a
comment -->
## B
<!-- mettle-ignore link-broken: lives elsewhere -->
[x](y.md)
more

[z](y.md)
<!-- mettle-ignore-file code-syntax, size -->
`))
	var got []string
	for _, g := range readIgnores(d) {
		got = append(got, fmt.Sprintf("%q %q %d-%d", g.rules, g.reason, g.first, g.last))
	}
	want := []string{`["link-broken"] "lives elsewhere" 5-7`, `["code-syntax" "size"] "" 1-11`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
