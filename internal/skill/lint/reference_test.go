package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/skill"
)

// TestReferenceValidator holds the profile spec to the verdicts of the reference validator (skills-ref), and names the
// reason wherever the two differ.
func TestReferenceValidator(t *testing.T) {
	whole := func(fields string) string { return "---\n" + fields + "\n---\n# T\n\nText.\n" }
	const about = "description: Extracts tables from PDF files."
	for _, c := range []struct {
		name, folder, text string
		accepted           bool   // by the reference validator
		differs            string // why we say the opposite
	}{
		{"plain", "my-skill", whole("name: my-skill\n" + about), true, ""},
		{"no name", "my-skill", whole(about), false, ""},
		{"no description", "my-skill", whole("name: my-skill"), false, ""},
		{"blank description", "my-skill", whole("name: my-skill\ndescription: ' '"), false, ""},
		{"another folder", "other", whole("name: my-skill\n" + about), false, ""},
		{"capitals", "My-skill", whole("name: My-skill\n" + about), false, ""},
		{"underscore", "my_skill", whole("name: my_skill\n" + about), false, ""},
		{"hyphen at the end", "my-", whole("name: my-\n" + about), false, ""},
		{"two hyphens", "my--skill", whole("name: my--skill\n" + about), false, ""},
		{"64 letters", strings.Repeat("a", 64), whole("name: " + strings.Repeat("a", 64) + "\n" + about), true, ""},
		{"65 letters", strings.Repeat("a", 65), whole("name: " + strings.Repeat("a", 65) + "\n" + about), false, ""},
		{"64 letters of two bytes", strings.Repeat("é", 64), whole("name: " + strings.Repeat("é", 64) + "\n" + about), true, ""},
		{"64 letters of two characters", strings.Repeat("é", 64), whole("name: " + strings.Repeat("e\u0301", 64) + "\n" + about), true, ""},
		{"Chinese", "技能", whole("name: 技能\n" + about), true, ""},
		{"Cyrillic", "мой-навык", whole("name: мой-навык\n" + about), true, ""},
		{"Cyrillic capital", "Мой", whole("name: Мой\n" + about), false, ""},
		{"accent as a character of its own", "café", whole("name: cafe\u0301\n" + about), true, ""},
		{"folder with an accent of its own", "cafe\u0301", whole("name: café\n" + about), true, ""},
		{"wide letters", "my-skill", whole("name: ｍｙ-ｓｋｉｌｌ\n" + about), true, ""},
		{"wide capital", "my", whole("name: Ｍｙ\n" + about), false, ""},
		{"ligature", "fix", whole("name: ﬁx\n" + about), true, ""},
		{"accent that composes with nothing", "q\u0301", whole("name: q\u0301\n" + about), false, ""},
		{"1024 characters", "my-skill", whole("name: my-skill\ndescription: " + strings.Repeat("é", 1024)), true, ""},
		{"1025 characters", "my-skill", whole("name: my-skill\ndescription: " + strings.Repeat("é", 1025)), false, ""},
		{"unknown key", "my-skill", whole("name: my-skill\norigin: us\n" + about), false, ""},
		{"compatibility of 501 characters", "my-skill", whole("name: my-skill\ncompatibility: " + strings.Repeat("x", 501) + "\n" + about), false, ""},
		{"byte order mark", "my-skill", "\ufeff" + whole("name: my-skill\n"+about), false, ""},
		{"blank line in front", "my-skill", "\n" + whole("name: my-skill\n"+about), false, ""},
		{"never closed", "my-skill", "---\nname: my-skill\n" + about + "\n", false, ""},
		{"unquoted colon", "my-skill", whole("name: my-skill\ndescription: Does this: that"), false, ""},
		{"list", "my-skill", whole("- name"), false, ""},
		{"key twice", "my-skill", whole("name: my-skill\nname: my-skill\n" + about), false, ""},
		{"control character", "my-skill", whole("name: my-skill\ndescription: Extracts\u0099tables."), false, ""}, // it crashes
		{"control character in the body", "my-skill", whole("name: my-skill\n"+about) + "a\u0099b\n", true, ""},
		{"number", "123", whole("name: 123\n" + about), true, ""},

		{"flow style", "my-skill", whole("name: my-skill\nmetadata: {a: b}\n" + about), false, "every YAML reader takes it"},
		{"dashes in a value", "my-skill", whole("name: my-skill\ndescription: Extracts tables --- all of them."), false, "frontmatter ends at a line of dashes"},
		{"folder of a language", "my-skill/js", whole("name: my-skill\n" + about), false, "the layout of skills in two languages"},
		{"empty compatibility", "my-skill", whole("name: my-skill\ncompatibility: ''\n" + about), true, "the specification wants 1 to 500 characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Lint([]*skill.Document{skill.Parse("s/"+c.folder+"/SKILL.md", []byte(c.text))}, Options{Profile: Spec})
			if err != nil {
				t.Fatal(err)
			}
			found = slices.DeleteFunc(found, func(f Finding) bool { return f.Severity != Error })
			if want := c.accepted != (c.differs != ""); (len(found) == 0) != want {
				t.Errorf("accepted: %v, want %v: %q", !want, want, messages(found))
			}
		})
	}
}
