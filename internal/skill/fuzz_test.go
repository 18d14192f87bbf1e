package skill

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// seed adds the documents of the archives to a corpus.
func seed(f *testing.F) {
	f.Helper()
	files, _ := filepath.Glob("testdata/*/*.txtar")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range txtar.Parse(data).Files {
			f.Add([]byte(unescape(string(x.Data))))
		}
	}
}

func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Parse("x/SKILL.md", data)
		for _, s := range d.Root.All() {
			if s.Start > s.End || s.End > len(data) || s.Line < 1 || s.EndLine < s.Line || s.Total < s.Own {
				t.Fatalf("section %+v", s)
			}
		}
		for _, b := range d.Blocks {
			if b.Start < 0 || b.Start > b.End || b.End > len(data) || b.Section == nil {
				t.Fatalf("block %+v", b)
			}
		}
		for _, l := range d.Links {
			if l.Line < 1 || l.Col < 1 || l.Line > d.Lines() || l.Section == nil {
				t.Fatalf("link %+v", l)
			}
		}
		for _, q := range d.Frontmatter.Quotes {
			if q.Start > q.End || q.End > len(data) {
				t.Fatalf("quote %+v", q)
			}
		}
		for _, field := range d.Frontmatter.Fields {
			if field.keyStart > len(data) || field.valueEnd > len(data) || field.Node == nil {
				t.Fatalf("field %+v", field)
			}
		}
		_ = dump(d)
	})
}

// FuzzLint runs every rule, checks that each finding has a place in the file, that fixes can be made, and that scoring
// takes any text.
func FuzzLint(f *testing.F) {
	seed(f)
	var profiles []string
	for _, p := range Profiles() {
		profiles = append(profiles, p.Name)
	}
	everything := map[string]Severity{}
	for _, r := range Rules() {
		everything[r.ID] = Warning
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Parse("x/my-skill/SKILL.md", data)
		d.Folder = fstest.MapFS{"references/a.md": {}}
		for _, profile := range profiles {
			found, err := Lint([]*Document{d}, Options{Profile: profile, Rules: everything})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range found {
				if x.Line < 1 || x.Line > d.Lines() || x.Col < 1 || x.EndLine < x.Line || x.EndLine == x.Line && x.EndCol < x.Col {
					t.Fatalf("finding %+v", x)
				}
			}
			Apply(d.Text, found)
		}
		for _, compat := range []string{"", CompatLangChain} {
			if s := Score(d, ScoreOptions{Compat: compat}); s.CodeQuality < 0 || s.CodeQuality > 1 {
				t.Fatalf("scores %+v", s)
			}
		}
	})
}
