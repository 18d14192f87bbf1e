package suite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func selectable() []*eval.Suite {
	c := func(id, project string, d eval.Difficulty, tags ...string) *eval.Case {
		return &eval.Case{ID: id, Project: project, Difficulty: d, Tags: tags}
	}
	return []*eval.Suite{
		{Name: "mina", Cases: []*eval.Case{
			c("mina-basic-001", "mina", eval.Basic, "intro", "concept"),
			c("mina-basic-002", "mina", eval.Intermediate, "code"),
			c("mina/adv", "mina", eval.Advanced, "code", "intro"),
		}},
		{Name: "solana", Cases: []*eval.Case{c("sol-001", "solana", eval.Basic, "intro")}},
		{Name: "bare", Cases: []*eval.Case{c("bare", "", eval.Basic)}},
	}
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Selection
		want string
	}{
		{"everything", Selection{}, "mina: mina-basic-001 mina-basic-002 mina/adv; solana: sol-001; bare: bare"},
		{"project", Selection{Project: "mina"}, "mina: mina-basic-001 mina-basic-002 mina/adv"},
		{"difficulty", Selection{Difficulty: "basic"}, "mina: mina-basic-001; solana: sol-001; bare: bare"},
		{"tag", Selection{Tags: []string{"intro"}}, "mina: mina-basic-001 mina/adv; solana: sol-001"},
		{"all of several tags", Selection{Tags: []string{"intro", "code"}}, "mina: mina/adv"},
		{"id", Selection{IDs: []string{"sol-001"}}, "solana: sol-001"},
		{"id glob", Selection{IDs: []string{"mina*"}}, "mina: mina-basic-001 mina-basic-002 mina/adv"},
		{"id glob with more", Selection{IDs: []string{"*-00?"}}, "mina: mina-basic-001 mina-basic-002; solana: sol-001"},
		{"one of several ids", Selection{IDs: []string{"sol-001", "*adv"}}, "mina: mina/adv; solana: sol-001"},
		{"together", Selection{Project: "mina", Difficulty: "advanced", Tags: []string{"code"}, IDs: []string{"*"}}, "mina: mina/adv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := selectable()
			got, err := c.s.Apply(all)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, names(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(names(selectable()), names(all)); diff != "" {
				t.Errorf("what was selected from has changed (-want +got)\n%s", diff)
			}
		})
	}
}

func names(suites []*eval.Suite) string {
	var out []string
	for _, s := range suites {
		var ids []string
		for _, c := range s.Cases {
			ids = append(ids, c.ID)
		}
		out = append(out, s.Name+": "+strings.Join(ids, " "))
	}
	return strings.Join(out, "; ")
}

func TestSelectionOfNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Selection
		want string
	}{
		{"project near", Selection{Project: "minna"}, `none of the 5 cases has project "minna" (did you mean "mina"?)`},
		{"project far", Selection{Project: "ethereum"}, `none of the 5 cases has project "ethereum"; there is mina, solana`},
		{"difficulty", Selection{Difficulty: "hard"}, `none of the 5 cases has difficulty "hard"; there is advanced, basic, intermediate`},
		{"tag after project", Selection{Project: "solana", Tags: []string{"code"}}, `none of the 1 cases with project "solana" has tag "code"; there is intro`},
		{"second tag", Selection{Tags: []string{"concept", "code"}}, `none of the 1 cases with tag "concept" has tag "code"; there is concept, intro`},
		{"no tags at all", Selection{IDs: []string{"bare"}, Difficulty: "basic", Tags: []string{"x"}}, `none of the 3 cases with difficulty "basic" has tag "x"; there is concept, intro`},
		{"id", Selection{IDs: []string{"sol-01"}}, `none of the 5 cases has id "sol-01" (did you mean "sol-001"?)`},
		{"one of several ids", Selection{IDs: []string{"bare", "zzz*"}}, `none of the 5 cases has id "zzz*"; there is bare, mina-basic-001, mina-basic-002, mina/adv, sol-001`},
		{"id after the rest", Selection{Project: "mina", Difficulty: "basic", IDs: []string{"sol*"}}, `none of the 1 cases with project "mina" and difficulty "basic" has id "sol*"; there is mina-basic-001`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.s.Apply(selectable())
			if err == nil {
				t.Fatalf("selected %s", names(got))
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestMatchText(t *testing.T) {
	for _, c := range []struct {
		glob, text string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "a/b", true},
		{"a", "a", true},
		{"a", "ab", false},
		{"?", "ä", true},
		{"a*b", "ab", true},
		{"a*b", "axxb", true},
		{"a*b", "axxbc", false},
		{"*a*b*", "xaxbx", true},
		{"**", "x", true},
		{"a?c", "ac", false},
		{"[a]", "a", false},
		{"[a]", "[a]", true},
		{strings.Repeat("a*", 50) + "b", strings.Repeat("a", 5000), false}, // in no time
	} {
		if got := matchText(c.glob, c.text); got != c.want {
			t.Errorf("matchText(%.20q, %.20q) = %v", c.glob, c.text, got)
		}
	}
}
