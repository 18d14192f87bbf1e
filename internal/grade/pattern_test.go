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

// What a dot and \S, \W and \D stand for is written in a way that compiles at
// once with the i flag, and matches the same.
func TestCheapClasses(t *testing.T) {
	for text, want := range map[string]string{
		`a.*b`: `a[^\n\r\u2028\u2029]*b`, `\.[.\]\S]`: `\.[.\]\S]`, `\S\W\D\s\\S`: `[^\s][^\w][^\d]\s\\S`, `[^.`: `[^.`, `x\`: `x\`,
	} {
		if got := cheapClasses(text, false); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	for _, tc := range []struct {
		text, answer string
		flags        patternFlags
		want         string
	}{
		{`seeds.*bump`, "Seeds and a\nBUMP. SEEDS, bump.", patternFlags{}, "SEEDS, bump"},
		{`seeds.*?bump`, "Seeds and a\nBUMP.", patternFlags{dotAll: true}, "Seeds and a\nBUMP"},
		{`k\S+\Ws\D`, "kKk sX", patternFlags{}, "kKk sX"},
		{`a.b`, "a\u2028b A\tB", patternFlags{}, "A\tB"},
	} {
		p, err := compilePattern(tc.text, tc.flags)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := p.find(tc.answer); got != tc.want || err != nil {
			t.Errorf("%s in %q: %q, %v, want %q", tc.text, tc.answer, got, err, tc.want)
		}
	}
}
