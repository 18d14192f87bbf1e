package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/skill"
)

// sampleFolder holds SKILL.md files of real repositories with what the reference validator says of each. It is not part
// of this repository; the tests that read it are skipped where it is missing.
const sampleFolder = "../../../../shared/skills-sample"

type sampleFile struct {
	File   string   `json:"file"`
	Errors []string `json:"reference_validator_errors"`
}

func sample(t testing.TB) ([]sampleFile, []*skill.Document) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sampleFolder, "INDEX.json"))
	if err != nil {
		t.Skip("no sample of real skills here")
	}
	var index struct{ Files []sampleFile }
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	var docs []*skill.Document
	for _, f := range index.Files {
		d, err := skill.Load(filepath.Join(sampleFolder, filepath.FromSlash(f.File)))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, d)
	}
	return index.Files, docs
}

// disagreements are the files of the sample about which profile spec and the reference validator differ, with the
// reason. There are none: where the two differ by design (see [Spec]) the sample has no case. TestReferenceValidator has
// such cases.
var disagreements = map[string]string{}

func TestAgreesWithReferenceValidator(t *testing.T) {
	files, docs := sample(t)
	for i, f := range files {
		found, err := Lint(docs[i:i+1], Options{Profile: Spec})
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(f Finding) bool { return f.Severity != Error })
		if agree := (len(found) == 0) == (len(f.Errors) == 0); agree != (disagreements[f.File] == "") {
			t.Errorf("%s: the reference validator says %q, we say %v", f.File, f.Errors, messages(found))
		}
	}
}

func messages(found []Finding) []string {
	var list []string
	for _, f := range found {
		list = append(list, fmt.Sprintf("%d:%d %s: %s", f.Line, f.Col, f.Rule, f.Message))
	}
	return list
}

// TestSampleFindings counts the findings on the sample, each of which was read and found true. A new kind of finding, or
// many more of one, is to be read again before the number here is changed.
func TestSampleFindings(t *testing.T) {
	_, docs := sample(t)
	want := map[string]int{
		"code-syntax":         4, // an HTTP request tagged typescript, JSON and JavaScript tagged bash, shell tagged python
		"description-budget":  1,
		"frontmatter-key":     1,
		"frontmatter-missing": 1,
		"frontmatter-quote":   3,
		"link-broken":         25, // the sample has the SKILL.md files only
		"link-escape":         5,
		"markdown-line-ends":  1,
		"name-duplicate":      1,
		"size-lines":          3,
		"size-tokens":         4,
	}
	found, err := Lint(docs, Options{Profile: Spec})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, f := range found {
		got[f.Rule]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSampleHasNoSecurityFindings: these are the skills of well-known authors.
func TestSampleHasNoSecurityFindings(t *testing.T) {
	_, docs := sample(t)
	for _, p := range Profiles() {
		found, err := Lint(docs, Options{Profile: p.Name})
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(f Finding) bool { return f.Family != "security" })
		if len(found) > 0 {
			t.Errorf("%s: %q", p.Name, messages(found))
		}
	}
}

// TestFixesMend applies all fixes and expects the findings that offered them to be gone.
func TestFixesMend(t *testing.T) {
	_, docs := sample(t)
	mended := map[string]int{}
	for _, d := range docs {
		found, err := Lint([]*skill.Document{d}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		fixed, n := Apply(d.Text, found)
		if n == 0 {
			continue
		}
		again, err := Lint([]*skill.Document{skill.Parse(d.Path, []byte(fixed))}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Fix == nil {
				continue
			}
			mended[f.Rule]++
			if slices.ContainsFunc(again, func(g Finding) bool { return g.Rule == f.Rule }) {
				t.Errorf("%s: %s is still there", d.Path, f.Rule)
			}
		}
	}
	if diff := cmp.Diff([]string{"frontmatter-quote", "markdown-line-ends"}, slices.Sorted(maps.Keys(mended))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
