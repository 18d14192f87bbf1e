package grade

import (
	"strings"
	"testing"
)

// TestPatternOnLongAnswers: idioms that backtrack once a character have the
// memory for answers longer than servers give.
func TestPatternOnLongAnswers(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Some words of an answer.\r\n", 4000) + "The end"
	for _, p := range []string{
		`^(.|\n|\r)*end$`, `^(?:.|[\r\n])*?the end$`, `^[\s\S]*end`, `^(?=[\s\S]*words)[^]+end$`,
	} {
		compiled, err := compilePattern(p, patternFlags{})
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		_, found, err := compiled.find(text)
		if err != nil && strings.Contains(err.Error(), "was not done") {
			t.Logf("%s: %v", p, err) // a busy machine, which is another matter
			continue
		}
		if err != nil || !found {
			t.Errorf("%s: found %v, error %v", p, found, err)
		}
	}
}

func TestPatternTooLong(t *testing.T) {
	t.Parallel()
	if _, err := compilePattern(strings.Repeat("(", maxPattern+1), patternFlags{}); err == nil {
		t.Error("a pattern over the limit compiled")
	}
	deep := strings.Repeat("(", maxPattern/2) + strings.Repeat(")", maxPattern/2)
	if _, err := compilePattern(deep, patternFlags{}); err != nil {
		t.Errorf("a deep pattern within the limit: %v", err)
	}
}

// FuzzPattern: whatever a suite writes is compiled or refused, and whatever
// compiles ends on any answer.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{
		`^(a+)+$`, `(?<q>['"])o1js\k<q>`, `\p{Script=Greek}`, `\u{1F44D}`, `[^]`, `[[:alpha:]]`, `\Aa\z`, `/a/gi`, `(?i)a`, `\Q(\E`,
		`(?=a)*`, `a{2,}?b`, `\cJ\x41\0`, `(?P<n>a)(?P=n)`,
	} {
		f.Add(p, "aaaaaaaaaaaaaaaaaaaab 'o1js' Ω 👍", true)
	}
	f.Fuzz(func(t *testing.T, text, answer string, multiline bool) {
		if len(text) > 200 || len(answer) > 2000 {
			return // what is bounded by time is slow to fuzz
		}
		p, err := compilePattern(text, patternFlags{multiline: multiline})
		if (p == nil) == (err == nil) {
			t.Fatalf("pattern %v and error %v", p, err)
		}
		if p == nil {
			if err.Error() == "" || strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("message %q", err)
			}
			return
		}
		match, found, err := p.find(answer)
		if !found && match != "" || err != nil && found {
			t.Fatalf("match %q, found %v, error %v", match, found, err)
		}
	})
}
