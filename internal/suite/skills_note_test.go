package suite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachSkillSaysWhatItLeavesOut(t *testing.T) {
	text := "name: s\ntests:\n  - id: t\n    eachSkill: any\n    tool: t\n    target: skills\n    expected: {validations: [{type: not_empty}]}\n"
	for language, want := range map[string][]string{
		"":     {"s.yaml: eachSkill: any takes the js skills and leaves out 1 of another language (agents/python): use --language both for all"},
		"js":   nil, // as asked for
		"both": nil,
	} {
		skills := someSkills()
		skills.Any = language
		set, err := Load([]File{{Path: "s.yaml", Data: []byte(text), Skills: skills}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, set.Notes); diff != "" {
			t.Errorf("--language %q (-want +got):\n%s", language, diff)
		}
	}
}
