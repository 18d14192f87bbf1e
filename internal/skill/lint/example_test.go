package lint

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/skill"
)

// notShown are the rules whose examples would be too long, or would be files that cannot stand in a repository.
var notShown = map[string]string{
	"description-budget":  "15,000 characters",
	"description-length":  "1025 characters",
	"link-symbolic":       "a symbolic link",
	"markdown-encoding":   "bytes that are no text",
	"markdown-irregular":  "a paragraph of thousands of brackets",
	"security-binary":     "a program",
	"security-unread":     "an archive",
	"size-lines":          "501 lines",
	"size-package":        "8 MB",
	"size-reference":      "10,000 tokens",
	"size-tokens":         "5000 tokens",
	"structure-file-name": "the name of the file",
}

// TestExamples: every example breaks its rule, and its fix mends it.
func TestExamples(t *testing.T) {
	named := map[string]bool{}
	for _, f := range exampleFiles() {
		id, _, _ := strings.Cut(f.Name, " ")
		named[id] = true
	}
	for _, r := range Rules() {
		delete(named, r.ID)
		x, ok := r.Example()
		if ok != (notShown[r.ID] == "") {
			t.Errorf("%s: there is an example: %v", r.ID, ok)
		}
		if !ok || r.ID == "security-secret" { // a key would alarm whoever looks for keys
			continue
		}
		if got := breaks(t, x, x.Text); !slices.Contains(got, r.ID) {
			t.Errorf("%s: the example breaks %q only", r.ID, got)
		}
		if r.Fixes != (x.Fixed != "") {
			t.Errorf("%s: the rule has fixes: %v, the example is fixed to %q", r.ID, r.Fixes, x.Fixed)
		}
		if x.Fixed != "" && slices.Contains(breaks(t, x, x.Fixed), r.ID) {
			t.Errorf("%s: the fixed example still breaks it:\n%s", r.ID, x.Fixed)
		}
	}
	if len(named) > 0 {
		t.Errorf("examples of rules that are not there: %q", slices.Sorted(maps.Keys(named)))
	}
}

// breaks lists the rules that an example breaks under any profile.
func breaks(t *testing.T, x Example, text string) (ids []string) {
	t.Helper()
	if text == "" {
		text = "Extract the tables.\n"
	}
	before, part, after := wholeExample(text)
	d := skill.Parse(examplePath, []byte(before+part+after))
	folder := fstest.MapFS{}
	docs := []*skill.Document{d}
	for _, f := range x.Other {
		folder[path.Clean(f.Path)] = &fstest.MapFile{Data: []byte(f.Text)}
		if path.Base(f.Path) == skill.FileName {
			docs = append(docs, skill.Parse(path.Join(path.Dir(examplePath), f.Path), []byte(f.Text)))
		}
	}
	maps.DeleteFunc(folder, func(name string, _ *fstest.MapFile) bool { return strings.HasPrefix(name, "..") })
	d.Folder = folder
	for _, p := range Profiles() {
		found, err := Lint(docs, Options{Profile: p.Name})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			ids = append(ids, f.Rule)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func TestUnseen(t *testing.T) {
	const text = "a\u202eb\U000e0041\r\n\tc"
	hidden := hideUnseen(text)
	if diff := cmp.Diff(`a\u{202E}b\u{E0041}\u{000D}`+"\n\tc", hidden); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(text, showUnseen(hidden)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
