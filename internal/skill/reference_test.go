package skill

import (
	"slices"
	"strings"
	"testing"
)

// TestReferenceValidator holds the profile spec to the verdicts of the reference validator (skills-ref), and names the
// reason wherever the two differ.
func TestReferenceValidator(t *testing.T) {
	skill := func(fields string) string { return "---\n" + fields + "\n---\n# T\n\nText.\n" }
	const about = "description: Extracts tables from PDF files."
	for _, c := range []struct {
		name, folder, text string
		accepted           bool   // by the reference validator
		differs            string // why we say the opposite
	}{
		{"plain", "my-skill", skill("name: my-skill\n" + about), true, ""},
		{"no name", "my-skill", skill(about), false, ""},
		{"no description", "my-skill", skill("name: my-skill"), false, ""},
		{"blank description", "my-skill", skill("name: my-skill\ndescription: ' '"), false, ""},
		{"another folder", "other", skill("name: my-skill\n" + about), false, ""},
		{"capitals", "My-skill", skill("name: My-skill\n" + about), false, ""},
		{"underscore", "my_skill", skill("name: my_skill\n" + about), false, ""},
		{"hyphen at the end", "my-", skill("name: my-\n" + about), false, ""},
		{"two hyphens", "my--skill", skill("name: my--skill\n" + about), false, ""},
		{"64 letters", strings.Repeat("a", 64), skill("name: " + strings.Repeat("a", 64) + "\n" + about), true, ""},
		{"65 letters", strings.Repeat("a", 65), skill("name: " + strings.Repeat("a", 65) + "\n" + about), false, ""},
		{"64 letters of two bytes", strings.Repeat("é", 64), skill("name: " + strings.Repeat("é", 64) + "\n" + about), true, ""},
		{"64 letters of two characters", strings.Repeat("é", 64), skill("name: " + strings.Repeat("e\u0301", 64) + "\n" + about), true, ""},
		{"Chinese", "技能", skill("name: 技能\n" + about), true, ""},
		{"Cyrillic", "мой-навык", skill("name: мой-навык\n" + about), true, ""},
		{"Cyrillic capital", "Мой", skill("name: Мой\n" + about), false, ""},
		{"accent as a character of its own", "café", skill("name: cafe\u0301\n" + about), true, ""},
		{"folder with an accent of its own", "cafe\u0301", skill("name: café\n" + about), true, ""},
		{"wide letters", "my-skill", skill("name: ｍｙ-ｓｋｉｌｌ\n" + about), true, ""},
		{"wide capital", "my", skill("name: Ｍｙ\n" + about), false, ""},
		{"ligature", "fix", skill("name: ﬁx\n" + about), true, ""},
		{"accent that composes with nothing", "q\u0301", skill("name: q\u0301\n" + about), false, ""},
		{"1024 characters", "my-skill", skill("name: my-skill\ndescription: " + strings.Repeat("é", 1024)), true, ""},
		{"1025 characters", "my-skill", skill("name: my-skill\ndescription: " + strings.Repeat("é", 1025)), false, ""},
		{"unknown key", "my-skill", skill("name: my-skill\norigin: us\n" + about), false, ""},
		{"compatibility of 501 characters", "my-skill", skill("name: my-skill\ncompatibility: " + strings.Repeat("x", 501) + "\n" + about), false, ""},
		{"byte order mark", "my-skill", byteOrderMark + skill("name: my-skill\n"+about), false, ""},
		{"blank line in front", "my-skill", "\n" + skill("name: my-skill\n"+about), false, ""},
		{"never closed", "my-skill", "---\nname: my-skill\n" + about + "\n", false, ""},
		{"unquoted colon", "my-skill", skill("name: my-skill\ndescription: Does this: that"), false, ""},
		{"list", "my-skill", skill("- name"), false, ""},
		{"key twice", "my-skill", skill("name: my-skill\nname: my-skill\n" + about), false, ""},
		{"control character", "my-skill", skill("name: my-skill\ndescription: Extracts\u0099tables."), false, ""}, // it crashes
		{"control character in the body", "my-skill", skill("name: my-skill\n"+about) + "a\u0099b\n", true, ""},
		{"number", "123", skill("name: 123\n" + about), true, ""},

		{"flow style", "my-skill", skill("name: my-skill\nmetadata: {a: b}\n" + about), false, "every YAML reader takes it"},
		{"dashes in a value", "my-skill", skill("name: my-skill\ndescription: Extracts tables --- all of them."), false, "frontmatter ends at a line of dashes"},
		{"folder of a language", "my-skill/js", skill("name: my-skill\n" + about), false, "the layout of skills in two languages"},
		{"empty compatibility", "my-skill", skill("name: my-skill\ncompatibility: ''\n" + about), true, "the specification wants 1 to 500 characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Lint([]*Document{Parse("s/"+c.folder+"/SKILL.md", []byte(c.text))}, Options{Profile: Spec})
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
