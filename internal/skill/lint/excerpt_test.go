package lint

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/skill"
)

// TestPlacesAgree: offsets, lines and columns of findings and of the edits of their fixes name the same places, and the
// excerpt shows the place, however long the line is.
func TestPlacesAgree(t *testing.T) {
	long := strings.Repeat("Does ä thing. ", 40)
	texts := []string{
		"---\nname: Ünï\ndescription: " + long + "use: it <b>\nextra: 1\n---\n[a](/b)\r\ntext\n",
		"\ufeff---\nname: x\ndescription: " + long + "\n---\n" + strings.Repeat("wörd ", 300) + "[a](\\b\\c.md) " + strings.Repeat("more ", 100) + "\n",
	}
	seen := 0
	for _, text := range texts {
		d := skill.Parse("x/SKILL.md", []byte(text))
		found, err := Lint([]*skill.Document{d}, Options{Profile: Strict})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			seen++
			if line, col := d.Place(f.Start); line != f.Line || col != f.Col {
				t.Errorf("%s begins at %d:%d, byte %d is at %d:%d", f.Rule, f.Line, f.Col, f.Start, line, col)
			}
			if line, col := d.Place(f.End); line != f.EndLine || col != f.EndCol {
				t.Errorf("%s ends at %d:%d, byte %d is at %d:%d", f.Rule, f.EndLine, f.EndCol, f.End, line, col)
			}
			part := strings.TrimSuffix(f.Excerpt, "…")
			at := d.Offset(f.Line, f.ExcerptCol)
			if !strings.HasPrefix(d.Text[at:], part) || utf8.RuneCountInString(part) > excerptWidth {
				t.Errorf("%s: excerpt %q is not what stands at column %d", f.Rule, f.Excerpt, f.ExcerptCol)
			}
			if f.Col < f.ExcerptCol || f.Col > f.ExcerptCol+utf8.RuneCountInString(part) {
				t.Errorf("%s: column %d is not in the excerpt, which begins at %d", f.Rule, f.Col, f.ExcerptCol)
			}
			if f.Fix == nil {
				continue
			}
			for _, e := range f.Fix.Edits {
				if line, col := d.Place(e.Start); line != e.Line || col != e.Col {
					t.Errorf("%s: edit at %d:%d, byte %d is at %d:%d", f.Rule, e.Line, e.Col, e.Start, line, col)
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("%d findings are too few to show anything", seen)
	}
}

// TestExcerptHidesKeys: also one that reaches into the excerpt from outside.
func TestExcerptHidesKeys(t *testing.T) {
	const key = "ghp_" + "aZ3kQ9xW1mB7cR5tY2uI8oP4sD6fGhJkLzXv" // made up
	for pad := range 100 {
		line := strings.Repeat("x ", 200) + key + strings.Repeat(" y", pad)
		text, _ := excerpt(line, len(line)+1, len(line))
		for n := 12; n <= len(key); n++ {
			if strings.Contains(text, key[len(key)-n:]) {
				t.Fatalf("%d characters before the place, %d of the key are shown: %s", pad*2, n, text)
			}
		}
	}
}
