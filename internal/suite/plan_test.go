package suite

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

// planFiles cuts the dataset files out of the plan that the format comes from.
func planFiles(t *testing.T) (files []File) {
	t.Helper()
	b, err := os.ReadFile("../../../shared/spec/mcp-docs-evaluation-plan.md")
	if err != nil {
		t.Skipf("the plan is not there: %v", err)
	}
	block := regexp.MustCompile("(?s)\\*\\*File\\*\\*: `([^`]*\\.yaml)`\n```yaml\n(.*?)```")
	for _, m := range block.FindAllStringSubmatch(string(b), -1) {
		files = append(files, File{Path: m[1], Data: []byte(m[2])})
	}
	return files
}

func TestPlanLoadsUnchanged(t *testing.T) {
	files := planFiles(t)
	set, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	byID := map[string]*eval.Case{}
	for _, s := range set.Suites {
		for _, c := range s.Cases {
			ids = append(ids, c.ID)
			byID[c.ID] = c
			if c.Project != s.Project || c.Suite != s.Name {
				t.Errorf("%s: project %q, suite %q", c.ID, c.Project, c.Suite)
			}
		}
	}
	want := strings.Fields(`mina-basic-001 mina-basic-002 mina-basic-003 mina-basic-004 mina-basic-005 mina-basic-006 mina-basic-007 mina-basic-008
		mina-adv-001 mina-adv-002 mina-adv-003 sol-basic-001 sol-basic-002 sol-basic-003 sol-basic-004
		cosmos-basic-001 cosmos-basic-002 cosmos-basic-003 cosmos-basic-004`)
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Fatalf("ids (-want +got)\n%s", diff)
	}
	var keys []string
	for _, c := range byID["mina-basic-004"].Checks {
		keys = append(keys, c.Key)
	}
	order := []string{
		"has_code_block", "min_length", "contains", "contains-2", "contains-3",
		"keyword:state", "keyword:increment", "keyword:field", "import:o1js", "not_error",
	}
	if diff := cmp.Diff(order, keys); diff != "" {
		t.Errorf("checks of mina-basic-004 (-want +got)\n%s", diff)
	}
	if got, want := string(byID["mina-basic-008"].Input), `{"query":"Merkle tree implementation","limit":5}`; got != want {
		t.Errorf("input of mina-basic-008: %s, want %s", got, want)
	}
}
