package suite

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/mettle-eval/mettle/internal/skill/lint"
)

// dumpLint writes the lint settings, if there are any.
func dumpLint(w io.Writer, l Lint) {
	if reflect.DeepEqual(l, Lint{}) {
		return
	}
	fmt.Fprintf(w, "lint profile=%s baseline=%s failOn=%s rules=%v\n", l.Profile, l.Baseline, l.FailOn, l.Rules)
	for _, p := range l.Profiles {
		fmt.Fprintf(w, "profile %s extends=%s keys=%q rules=%v: %s\n", p.Name, p.Extends, p.Keys, p.Rules, p.Doc)
	}
	for _, s := range l.Suppress {
		fmt.Fprintf(w, "suppress %s in %q: %s\n", s.Rule, s.Path, s.Reason)
	}
}

// TestLintNames: what is offered is what the linter takes.
func TestLintNames(t *testing.T) {
	for _, name := range lint.RuleNames() {
		if _, err := lint.NewLinter(lint.Options{Rules: map[string]lint.Severity{name: lint.Off}}); err != nil {
			t.Error(err)
		}
	}
	own := []lint.Profile{{Name: "mine"}, {Name: lint.Spec}}
	names := lint.ProfileNames(own)
	for _, name := range names {
		if _, err := lint.NewLinter(lint.Options{Profile: name, Profiles: own}); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"claude-code", "langchain", "mine", "spec", "strict"}; !slices.Equal(names, want) {
		t.Errorf("profiles %q, want %q", names, want)
	}
}
