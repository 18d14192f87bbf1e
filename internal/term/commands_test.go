package term

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func guarded(parts ...string) string {
	var b bytes.Buffer
	g := NewGuard(&b)
	for _, p := range parts {
		_, _ = g.Write([]byte(p)) // a buffer takes all
	}
	return b.String()
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"::error::x\n":                     "\\::error::x\n",
		"a\n  ::add-mask::e\n":             "a\n  \\::add-mask::e\n",
		"a\r\n\t\u00a0\u3000::x\r::y":      "a\r\n\t\u00a0\u3000\\::x\r\\::y",
		"a ::error::x\n: :\n:a::b\n":       "a ::error::x\n: :\n:a::b\n",
		"x ##[add-mask]e ## [a] #[b] ###[": "x ## [add-mask]e ## [a] #[b] ### [",
		"{\"a\": \"::error::\"}\n":         "{\"a\": \"::error::\"}\n",
		"größe::x\n\ufffd::y":              "größe::x\n\ufffd::y",
	} {
		if got := guarded(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	for _, parts := range [][]string{{"a\n:", ":error::x"}, {"\n", ":", ":", "error::x"}, {"\n ", "::error::x"}, {"\n\xc2", "\xa0::error::x"}, {"#", "#", "[error]x"}, {"##", "[error]x"}} {
		if got := guarded(parts...); command.MatchString(got) {
			t.Errorf("%q becomes %q", parts, got)
		}
	}
	var b bytes.Buffer
	if Unguarded(NewGuard(&b)) != &b || Unguarded(&b) != &b {
		t.Error("the writer behind the guard is another one")
	}
}

// command is what GitHub Actions takes for one.
var command = regexp.MustCompile(`(?m)(?:^|[\r\n])[\s\p{Z}\x{85}]*::|##\[`)

// FuzzGuard: no command comes through, however the text is cut, and nothing
// else is changed.
func FuzzGuard(f *testing.F) {
	f.Add("::error::x", 1)
	f.Add("\n \u2003::x ##[y]", 4)
	f.Add(":\n:::", 2)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		got := guarded(text[:cut], text[cut:])
		if command.MatchString(strings.ToValidUTF8(got, "x")) {
			t.Fatalf("%q, %q becomes %q", text[:cut], text[cut:], got)
		}
		if !command.MatchString(text) && !strings.Contains(text, "##[") && !strings.Contains(text, "::") && got != text {
			t.Fatalf("%q becomes %q", text, got)
		}
	})
}
