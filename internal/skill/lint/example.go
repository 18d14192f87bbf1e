package lint

import (
	_ "embed" // the examples
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/skill"
)

//go:embed examples.txtar
var examples []byte

var exampleFiles = sync.OnceValue(func() []txtar.File { return txtar.Parse(examples).Files })

// Example is a skill that breaks a rule. Text is the part of SKILL.md that matters; it is empty when the fault is in
// another file. Fixed is the same part with the fixes of the rule made, if it has any. Characters that cannot be seen are
// written as \u{…}.
type Example struct {
	Text, Fixed string
	Other       []ExampleFile
}

// ExampleFile is a further file of an example, by its path from the skill's folder.
type ExampleFile struct{ Path, Text string }

// Example is what breaks the rule. Some have none, because it would be too long to read.
func (r *Rule) Example() (Example, bool) {
	var x Example
	for _, f := range exampleFiles() {
		switch id, path, other := strings.Cut(f.Name, " "); {
		case id != r.ID:
		case other:
			x.Other = append(x.Other, ExampleFile{path, string(f.Data)})
		default:
			x.Text = string(f.Data)
		}
	}
	if r.Fixes && x.Text != "" {
		x.Fixed = r.fixExample(x.Text)
	}
	return x, x.Text != "" || len(x.Other) > 0
}

const examplePath = "skills/pdf-tables/SKILL.md"

// fixExample makes the fixes of the rule in an example.
func (r *Rule) fixExample(text string) string {
	before, part, after := wholeExample(text)
	found, err := Lint([]*skill.Document{skill.Parse(examplePath, []byte(before+part+after))}, Options{Rules: map[string]Severity{r.ID: Error}})
	if err != nil {
		return ""
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.Rule != r.ID })
	fixed, n := Apply(before+part+after, found)
	if n == 0 || len(fixed) < len(before)+len(after) {
		return ""
	}
	return hideUnseen(fixed[len(before) : len(fixed)-len(after)])
}

// wholeExample makes a file of an example, in which the example is the part between before and after.
func wholeExample(text string) (before, part, after string) {
	const name, description = "name: pdf-tables\n", "description: Extracts tables from PDF files. Use when the user has a PDF.\n"
	part = showUnseen(text)
	key, _, isField := strings.Cut(part, ":")
	switch {
	case strings.HasPrefix(text, "---\n") || strings.Contains(text, "\n---\n") || strings.HasPrefix(text, "# PDF tables\n\nExtract the tables.\n") && !strings.Contains(text, "\n# "):
		return "", part, ""
	case !isField || strings.ContainsAny(key, " \n`[#"):
		return "---\n" + name + description + "---\n", part, ""
	case key == "name":
		return "---\n", part, description + "---\nExtract the tables.\n"
	case key == "description":
		return "---\n" + name, part, "---\nExtract the tables.\n"
	}
	return "---\n" + name + description, part, "---\nExtract the tables.\n"
}

// showUnseen puts characters in the place of their escapes.
func showUnseen(text string) string {
	for {
		before, rest, ok := strings.Cut(text, `\u{`)
		code, after, closed := strings.Cut(rest, "}")
		n, err := strconv.ParseInt(code, 16, 32)
		if !ok || !closed || err != nil {
			return text
		}
		text = before + string(rune(n)) + after
	}
}

// hideUnseen writes characters that cannot be seen as escapes.
func hideUnseen(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			fmt.Fprintf(&b, `\u{%04X}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
