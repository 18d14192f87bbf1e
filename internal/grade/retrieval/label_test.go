package retrieval

import (
	"strings"
	"testing"
)

func TestLabelMatches(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		label, doc string
		want       bool
	}{
		{"https://x.org/a/b", "https://x.org/a/b", true},
		{"http://X.org/a/b/", "https://x.ORG//a/./b", true},
		{"https://x.org/a/b", "x.org/a/b", true},
		{"X.org/a/b", "https://x.org/a/b", true},
		{"https://x.org/a/b", "/a/b", false},
		{"https://x.org/b", "https://x.org/a/b", false},
		{"https://x.org/a", "https://archive.org/web/https://x.org/a", false},
		{"https://x.org", "https://x.org/", true},
		{"https://x.org", "https://x.org/a", false},
		{"x.org", "https://x.org/a", false},
		{"https://pages.md/a", "https://pages/a", false},
		{"https://pages.md", "https://pages", false},
		{"/a/b", "https://x.org/a/b", true},
		{"b", "https://x.org/a/b.html", true},
		{"b.md", "/docs/a/b", true},
		{"./b.MD", `C:\docs\a\b.mdx`, true},
		{"b.md", "a/b.txt", false},
		{"b.txt", "a/b.txt", true},
		{"b", "a/b.txt", false},
		{".md", "a/.md", true},
		{"a/b", "docs/aa/b", false},
		{"B", "a/b", false},
		{"docs/a/b", "a/b", false},
		{"a b.md", "https://x.org/a%20b", true},
		{"100%", "x/100%", true},
		{"a#s", "x/a#s", true},
		{"a#s", "x/a#t", false},
		{"a#s", "x/a", false},
		{"a", "x/a#s", true},
		{"a#s t", "x/a#s%20t", true},
		{"a?v=1", "x/a?v=1#s", true},
		{"a?v=1", "x/a", false},
		{"a", "x/a?v=1", true},
		{"file:///docs/a.md", "/home/docs/a", true},
		{"vault://notes/a", "vault://notes/a", true},
		{"doc-7", "doc-7", true},
		{"doc-7", "doc-77", false},
		{"doc:a", "doc:a", true},
		{"", "a", false},
		{"/", "https://x.org/", false},
		{"a", "", false},
	} {
		if got := parseName(tc.label).matches(parseName(tc.doc)); got != tc.want {
			t.Errorf("label %q, document %q: %v, want %v", tc.label, tc.doc, got, tc.want)
		}
	}
}

// FuzzLabel: any text is a name or none, a name is its own label, and what does
// not tell documents apart changes nothing.
func FuzzLabel(f *testing.F) {
	for _, s := range []string{
		"https://x.org/a/b.md?c#d", "a/b", "#", "?", "://", "https://", "file:///a", "%zz", "%2F", `a\b`, ".md", "a://b://c", "https://.md", "://.", "\x00",
	} {
		f.Add(s, "x/"+s)
	}
	f.Fuzz(func(t *testing.T, label, doc string) {
		l, d := parseName(label), parseName(doc)
		if l.empty() {
			if l.matches(d) {
				t.Fatalf("%q names nothing and matches %q", label, doc)
			}
			return
		}
		if !l.matches(l) {
			t.Fatalf("%q does not match itself", label)
		}
		page, _, _ := strings.Cut(label, "#")
		section := parseName(page + "#part")
		if section.key(false) != l.key(false) || !parseName(page).matches(section) {
			t.Fatalf("%q and its section are not one document", page)
		}
		if l.matches(d) && l.host && len(l.parts) != len(d.parts) {
			t.Fatalf("the URL %q matches a part of %q", label, doc)
		}
		path, _, _ := strings.Cut(page, "?")
		path = strings.TrimSpace(path)
		if url := "https://x.org/docs/" + path; !strings.Contains(path, ":") && !l.empty() && !parseName(path).matches(parseName(url)) {
			t.Fatalf("%q does not match %q", path, url)
		}
	})
}
