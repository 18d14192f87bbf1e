package skill

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// perfect has everything the structural suite asks for.
var perfect = `---
name: x
description: y
language: js
---
# X

## Overview

` + strings.Repeat("word ", 50) + `

| a | b |
|---|---|
| 1 | 2 |

## Code Examples

### Basic

` + "```ts\nconst a = 1;\n```\n\n```bash\nnpm i\n```\n" + `
## Boundaries

### What Agents CAN do

things

## Gotchas

1. one

## Documentation

- [docs](https://example.com)
`

func change(pairs ...string) string {
	text := perfect
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			panic("not in the text: " + pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// line is the five scores in the order of the scoring reference.
func (s Scores) line() string {
	return fmt.Sprint(s.FrontmatterValid, s.SectionsCompleteness, s.CodeQuality, s.SectionDepth, s.StructuralScore)
}

// TestScore has hand-computed values: frontmatter_valid, sections_completeness, code_quality, section_depth,
// structural_score, first by our reading and then as the original has it.
func TestScore(t *testing.T) {
	for _, c := range []struct{ name, text, ours, compat string }{
		// The heading "## Code Examples" directly above "### Basic" is what the original calls an empty section.
		{"perfect", perfect, "1 1 1 1 1", "1 1 0.7 1 0"},
		{"no heading above a heading", change("### Basic\n", "", "### What Agents CAN do\n", ""), "1 1 1 1 1", "1 1 1 1 1"},
		{"empty file", "", "0 0 0.6 0.25 0", "0 0 0.6 0.25 0"},
		{"no frontmatter", "# X\ntext", "0 0 0.6 0.25 0", "0 0 0.6 0.25 0"},
		{"no language", change("language: js\n", ""), "0 1 0.7 1 0", "0 1 0.4 1 0"},
		{"frontmatter that is not YAML", change("description: y", "description: \"a: b"), "0 1 0.7 1 0", "1 1 0.7 1 0"},
		{"unquoted colon", change("description: y", "description: a: b"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"truly empty section", change("1. one\n", ""), "1 1 0.7 1 0", "1 1 0.7 1 0"},
		{"one python block among typescript", change("```bash\nnpm i", "```python\nx = 1"), "1 1 0.7 1 0", "1 1 0.7 1 0"},
		{"one right block is enough for the original", change("### Basic\n", "", "### What Agents CAN do\n", "", "```bash\nnpm i", "```python\nx = 1"), "1 1 0.7 1 0", "1 1 1 1 1"},
		{"only shell", change("```ts\nconst a = 1;", "```bash\nls"), "1 1 0.7 1 0", "1 1 0.4 1 0"},
		{"no tags", change("```ts", "```", "```bash", "```"), "1 1 0.7 1 0", "1 1 0.7 1 0"},
		{"no blocks", change("```ts\nconst a = 1;\n```\n\n```bash\nnpm i\n```\n", "text\n"), "1 1 0.6 0.75 0", "1 1 0.3 0.75 0"},
		{"tag with attributes", change("```ts", "```ts title=x", "```bash\nnpm i\n```\n", ""), "1 1 1 0.75 1", "1 1 0.3 0.75 0"},
		{"tildes", change("```ts\nconst a = 1;\n```", "~~~ts\nconst a = 1;\n~~~"), "1 1 1 1 1", "1 1 0.4 0.75 0"},
		{"no overview", change("## Overview", "## Intro"), "1 0.8 1 0.75 0", "1 0.8 0.7 0.75 0"},
		{"overview of level 3", change("## Overview", "### Overview"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"overview of level 1", change("# X\n\n## Overview", "# Overview"), "1 0.8 1 0.75 0", "1 0.8 0.7 0.75 0"},
		{"overviewing", change("## Overview", "## Overviewing things"), "1 1 1 1 1", "1 1 0.7 0.75 0"},
		{"overview in a code block", change("## Overview", "## Intro", "const a = 1;", "## Overview"), "1 0.8 1 0.75 0", "1 1 0.7 0.75 0"},
		{"49 words", change("word word", "word"), "1 1 1 1 1", "1 1 0.7 1 0"}, // the table below adds words
		{"short overview", change(strings.Repeat("word ", 50), "few"), "1 1 1 0.75 1", "1 1 0.7 0.75 0"},
		{"what you can do", change("## Boundaries\n\n### What Agents CAN do", "## Limits\n\n### What You CAN do"), "1 0.8 1 1 0", "1 0.8 0.7 1 0"},
		{"what agents cannot do", change("## Boundaries\n\n### What Agents CAN do", "## Limits\n\n### What agent cannot do"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"link without a heading", change("## Documentation", "## More"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"heading without a link", change("[docs](https://example.com)", "docs"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"no documentation", change("## Documentation", "## More", "[docs](https://example.com)", "docs"), "1 0.8 1 1 0", "1 0.8 0.7 1 0"},
		{"relative link", change("(https://example.com)", "(docs.md)"), "1 1 1 0.75 1", "1 1 0.7 0.75 0"},
		{"no table", change("|---|---|\n", "", "| a | b |\n", "", "| 1 | 2 |", "text"), "1 1 1 0.75 1", "1 1 0.7 0.75 0"},
		{"pipes that are no table", change("|---|---|\n", ""), "1 1 1 0.75 1", "1 1 0.7 1 0"},
		{"example heading", change("## Code Examples\n\n### Basic", "## Use\n\n### An example of it"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"basic usage", change("## Code Examples\n\n### Basic", "## Basic Usage"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"python skill", change("language: js", "language: python", "```ts\nconst a", "```py\na", "1;", "1"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"block scalar", change("description: y", "description: >\n  y"), "1 1 1 1 1", "1 1 0.7 1 0"},
		{"quoted nothing", change("description: y", `description: ""`), "0 1 1 1 0", "1 1 0.7 1 0"},
		{"byte order mark", byteOrderMark + perfect, "1 1 1 1 1", "0 1 0.4 1 0"},
		{"windows line ends", strings.ReplaceAll(perfect, "\n", "\r\n"), "1 1 1 1 1", "1 1 0.6 0.75 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Parse("x/SKILL.md", []byte(c.text))
			if diff := cmp.Diff(c.ours, Score(d, ScoreOptions{}).line()); diff != "" {
				t.Errorf("ours (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.compat, Score(d, ScoreOptions{Compat: CompatLangChain}).line()); diff != "" {
				t.Errorf("compat (-want +got)\n%s", diff)
			}
		})
	}
}

func TestScoreLanguageOption(t *testing.T) {
	d := Parse("x/SKILL.md", []byte(perfect))
	for _, c := range []struct{ compat, want string }{{"", "1 1 0.7 1 0"}, {CompatLangChain, "1 1 0.4 1 0"}} {
		if got := Score(d, ScoreOptions{Compat: c.compat, Language: "python"}).line(); got != c.want {
			t.Errorf("compat %q: got %s, want %s", c.compat, got, c.want)
		}
	}
}

func TestScoreDetails(t *testing.T) {
	d := Parse("x/SKILL.md", []byte(change("1. one\n", "", "```bash\nnpm i", "```go\nx := 1")))
	var got []string
	for _, c := range Score(d, ScoreOptions{}).Checks {
		if !c.OK {
			got = append(got, fmt.Sprint(c.Name, " ", c.Hard, " ", c.Detail))
		}
	}
	want := []string{
		`code_language true the code is not in the language of the skill: go on line 24`,
		`no_empty_sections false a section is empty: "Gotchas" on line 34`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
