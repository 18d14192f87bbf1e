package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mettle-eval/mettle/internal/skill"
)

// TestAlarms: what each text is said to be, among the rules that were found to cry wolf or to sleep.
func TestAlarms(t *testing.T) {
	watched := []string{
		"description-stuffing", "description-placeholder", "markdown-empty-section", "frontmatter-second", "frontmatter-alias", "frontmatter-smart-quotes",
		"tool-unknown", "name-reserved", "markdown-control", "markdown-encoding", "frontmatter-missing",
	}
	const good = "description: Reads tables. Use when there is a table to read.\n"
	head := func(fields string) string { return "---\n" + fields + "---\n# T\n\nText.\n" }
	body := func(text string) string { return "---\nname: x\n" + good + "---\n" + text }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"key words", head("name: x\ndescription: pdf, tables, csv, excel, merge, split, ocr, forms, scan\n"), []string{"description-stuffing"}},
		{"a sentence and a list", head("name: x\ndescription: Reads tables from documents of many kinds and writes them as text. Use when a user brings pdf, csv, xls, ods, doc, rtf, txt, html, xml, json, yaml, toml, ini, md, rst, tex, org, adoc, epub, mobi or a scan.\n"), nil},
		{"quoted occasions", head("name: x\ndescription: Reads tables. Use when the user says \"a b\", \"c d\", \"e f\", \"g h\", \"i j\", \"k l\", \"m n\", \"o p\", \"q r\", \"s t\" or asks for any table at all in a file.\n"), nil},
		{"to be written", head("name: x\ndescription: 'TODO: say what it does and when to use it'\n"), []string{"description-placeholder"}},
		{"of a template", head("name: x\ndescription: A brief description of what this skill does\n"), []string{"description-placeholder"}},
		{"about TODOs", head("name: x\ndescription: Lists TODO comments of a project. Use when the user asks for them.\n"), nil},
		{"empty", body("# T\n\nText.\n\n## Usage\n"), []string{"markdown-empty-section"}},
		{"a sentence of its own", body("# T\n\n## Always read the file before you change it\n\n## Usage\n\nText.\n"), nil},
		{"an outline", body("# T\n\nText.\n\n## One\n\n## Two\n\n## Three\n"), nil},
		{"a comment", body("# T\n\nText.\n\n## Usage\n\n<!-- see the guide -->\n"), nil},
		{"a template", body("# T\n\nText.\n\n## [Feature]\n\n## Usage\n\nText.\n"), nil},
		{"second frontmatter", body("\n---\nname: y\ndescription: Finds.\n---\n\nText.\n"), []string{"frontmatter-second"}},
		{"second frontmatter in code", body("```\n---\nname: y\ndescription: Finds.\n---\n```\n"), nil},
		{"rules", body("Text.\n\n---\n\nname: no\n\n---\n\nText.\n"), nil},
		{"alias", head("name: &n x\n" + good + "license: *n\n"), []string{"frontmatter-alias", "frontmatter-alias"}},
		{"an asterisk", head("name: x\n" + good + "allowed-tools: Bash(git *)\n"), nil},
		{"smart quotes", head("name: x\ndescription: “Reads tables. Use when there is one.”\n"), []string{"frontmatter-smart-quotes"}},
		{"smart quotes inside", head("name: x\ndescription: Reads “tables”. Use when there is a “table”\n"), nil},
		{"tools of today", head("name: x\n" + good + "allowed-tools: Agent Monitor CronCreate EnterWorktree PowerShell LSP AskUserQuestion\n"), nil},
		{"no tool", head("name: x\n" + good + "allowed-tools: Raed\n"), []string{"tool-unknown"}},
		{"claude-api", head("name: claude-api\n" + good), nil},
		{"claude-x", head("name: claude-x\n" + good), []string{"name-reserved"}},
		{"UTF-16", "\xff\xfe" + strings.ReplaceAll(body("# T\n"), "", "\x00")[1:], []string{"markdown-encoding"}},
		{"UTF-16 without a mark", strings.ReplaceAll(body("# T\n"), "", "\x00"), []string{"markdown-encoding"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, profile := range []string{ClaudeCode, Strict} {
				found, err := Lint([]*skill.Document{skill.Parse("x/SKILL.md", []byte(c.text))}, Options{Profile: profile})
				if err != nil {
					t.Fatal(err)
				}
				var these []string
				for _, f := range found {
					if slices.Contains(watched, f.Rule) {
						these = append(these, f.Rule)
					}
				}
				if len(these) > len(got) {
					got = these
				}
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
