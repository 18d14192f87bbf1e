package grade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/skill"
)

// skillStructure holds the structure of a SKILL.md against what is asked of it.
type skillStructure struct {
	Part   string `yaml:"part" json:"part" jsonschema:"which of the five structural scores" check:"required,enum=frontmatter_valid|sections_completeness|code_quality|section_depth|structural_score"`
	Compat string `yaml:"compat" json:"compat,omitempty" jsonschema:"score as another tool does, its mistakes included" check:"enum=langchain-1.0"`

	Keys     []string `yaml:"keys" json:"keys,omitempty" jsonschema:"frontmatter keys that the skill must have; name, description and language when left out"`
	Sections []string `yaml:"sections" json:"sections,omitempty" jsonschema:"headings that the skill must have, each by how it begins, alternatives behind a |; those of the structural suite when left out"`
}

// Check wants names, and none where another tool's rules are followed.
func (g *skillStructure) Check() error {
	for field, names := range map[string][]string{"keys": g.Keys, "sections": g.Sections} {
		for _, name := range names {
			if strings.TrimSpace(name) == "" || slices.ContainsFunc(strings.Split(name, "|"), func(s string) bool { return strings.TrimSpace(s) == "" }) {
				return fieldErrorf(field, "an entry of %s is empty", field)
			}
		}
		if len(names) > 0 && g.Compat != "" {
			return fieldErrorf(field, "%s has no effect with compat, which scores as %s does", field, g.Compat)
		}
	}
	return nil
}

var skillStructureKind = kind.Kind[eval.Grader]{
	Name:   "skill_structure",
	Graded: true,
	Doc:    "The skill file has the form that the structural suite asks for.",
	Mode:   "skill structure",
	Explain: `For the ` + "`skillfile`" + ` target. The parts and their values:

* ` + "`frontmatter_valid`" + `: 1 when there is frontmatter with name, description and language; passes at 1.
* ` + "`sections_completeness`" + `: the share of Overview, Code Examples, Boundaries, Gotchas and documentation links that are there;
  passes at 1.
* ` + "`code_quality`" + `: 0.4 for a code block, 0.3 for blocks in the skill's language, 0.3 for no empty section; passes when there is a
  block and the language is right.
* ` + "`section_depth`" + `: 0.25 each for an overview of 50 words, two code blocks, a table and link targets that are web addresses;
  passes at 1. Meant as ` + "`severity: warn`" + `.
* ` + "`structural_score`" + `: 1 when all of the first three hold, empty sections included. Meant as ` + "`severity: warn`" + `.

What a skill must have differs between collections. ` + "`keys`" + ` and ` + "`sections`" + ` replace the frontmatter keys and the headings above, in
every part; the 50 words are then those of the first section named. Without ` + "`language`" + ` among the keys, a skill that names no
language may have code in any. A heading counts by how it begins, upper and lower case aside.

At least one code block must be tagged with the skill's language: blocks without a tag do not name it. A section is empty when neither it nor a section below it has content, and every tagged block must be in the skill's
language. The evaluators this suite comes from take any heading directly above another for an empty section, and are
content with one block in the right language; ` + "`compat: langchain-1.0`" + ` computes exactly what they do.`,
	Example: `- type: skill_structure
  part: sections_completeness
  sections: [Instructions|When to use, Examples]
`,
	New: func() eval.Grader { return new(skillStructure) },
}

func (g *skillStructure) defaultKey() string { return g.Part }

func (g *skillStructure) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	language, _ := a.Response.Meta["language"].(string)
	scores := skill.Score(skill.Parse(skillPath(a.Case), []byte(a.Response.Text)), skill.ScoreOptions{
		Compat: g.Compat, Language: language, Keys: g.Keys, Sections: g.Sections,
	})
	value, checks := scores.Part(g.Part)
	var failed []string
	passes := true
	for _, check := range checks {
		if !check.OK {
			failed = append(failed, check.Detail)
			passes = passes && !check.Hard && g.Part == "code_quality" // an empty section lowers the score and fails nothing
		}
	}
	s := eval.PassIf(passes, "%s", decimal(value))
	if len(failed) > 0 {
		s.Reason += ": " + strings.Join(failed, "; ")
	}
	s.Value = value
	return s, nil
}

// skillPath is the path of the skill a case is about.
func skillPath(c *eval.Case) string {
	var input struct {
		Skill string `json:"skill"`
	}
	if err := json.Unmarshal(c.Input, &input); err != nil || input.Skill == "" {
		return fmt.Sprintf("%s/SKILL.md", c.ID)
	}
	return input.Skill
}
