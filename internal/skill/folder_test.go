package skill

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestRulesAboutTheFolder covers what depends on the files beside SKILL.md.
func TestRulesAboutTheFolder(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name, path string
		folder     fstest.MapFS
		want       []string
	}{
		{"good evals", "pdf-tables/SKILL.md", fstest.MapFS{"evals/evals.json": file(`{"evals": [{"prompt": "do it"}]}`)}, nil},
		{
			"prompt names the skill", "pdf-tables/SKILL.md",
			fstest.MapFS{"evals/evals.json": file(`{"evals": [{"prompt": "use pdf-tables"}]}`)},
			[]string{"evals/evals.json: prompt 1 names the skill"},
		},
		{"no evals in the file", "pdf-tables/SKILL.md", fstest.MapFS{"evals/evals.json": file(`{}`)}, []string{"evals/evals.json: no evals in it"}},
		{
			"evals that are not JSON", "pdf-tables/SKILL.md",
			fstest.MapFS{"evals/evals.json": file(`{`)},
			[]string{"evals/evals.json: unexpected end of JSON input"},
		},
		{"mentioned by another file", "pdf-tables/SKILL.md", fstest.MapFS{
			"evals/x": file(""), "references/guide.md": file("run deep.py"), "scripts/deep.py": file(""),
		}, nil},
		{
			"orphan", "pdf-tables/SKILL.md",
			fstest.MapFS{"evals/x": file(""), "references/guide.md": file(""), "assets/lost.png": file("")},
			[]string{"assets/lost.png is mentioned nowhere in the skill"},
		},
		{"wrong case", "pdf-tables/skill.md", fstest.MapFS{"evals/x": file("")}, []string{"the file is named skill.md, clients look for SKILL.md"}},
		{"language layout", "pdf-tables/js/SKILL.md", fstest.MapFS{"evals/x": file("")}, nil},
		{"language layout of another name", "other/js/SKILL.md", fstest.MapFS{"evals/x": file("")}, []string{`the name is "pdf-tables", but the folder is "other"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Parse(c.path, []byte("---\nname: pdf-tables\ndescription: Extracts tables. Use when a PDF has some.\n---\n# T\n\nSee guide.md. "+strings.Repeat("word ", 100)+"\n"))
			d.Folder = c.folder
			found, err := Lint([]*Document{d}, Options{Profile: Strict})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.Message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
