package lint

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/skill"
)

// isFragment reports whether a block that does not parse by itself is a piece of something that does: the members of an
// object or an interface, the fields of a struct, functions among statements.
func isFragment(b *skill.Block, lang string) bool {
	for _, around := range wholes(lang) {
		if parses(lang, around[0]+b.Text+around[1]) {
			return true
		}
	}
	if b.Lang != "go" {
		return false
	}
	declarations, statements := splitGo(b.Text)
	return declarations != "" && parses("go", declarations) && parses("go", statements)
}

// isOutput reports whether what does not parse in a shell's block is the answer to the commands above it. A quote or a
// bracket that is never closed is none, and neither is a statement of another language.
func isOutput(b *skill.Block, problem code.Problem) bool {
	if !isShell(b.Lang) || strings.Contains(problem.Message, "reached EOF") {
		return false
	}
	number, command := 0, false
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSpace(line)
		if number++; number >= problem.Line {
			return command && !strings.HasSuffix(line, ";")
		}
		command = command || line != "" && isLetterASCII(line[0])
	}
	return false
}

func parses(lang, text string) bool {
	problems, checked := code.Syntax(lang, text)
	return checked && len(withoutRepeats(problems)) == 0
}

// wholes are what the fragments of a language can be pieces of.
func wholes(lang string) [][2]string {
	switch lang {
	case "jsonc":
		return [][2]string{{"{", "}"}, {"[", "]"}}
	case "javascript", "jsx":
		return [][2]string{{"_ = {\n", "\n}"}}
	case "typescript", "tsx":
		return [][2]string{{"_ = {\n", "\n}"}, {"interface _ {\n", "\n}"}}
	case "go":
		return [][2]string{{"type _ interface {\n", "\n}"}, {"type _ struct {\n", "\n}"}, {"var _ = T{\n", "\n}"}}
	case "rust":
		return [][2]string{{"trait T {\n", "\n}"}, {"struct S {\n", "\n}"}, {"enum E {\n", "\n}"}}
	}
	return nil
}

// splitGo takes a source apart into what stands at the top of a file and what stands in a function: documentation shows
// both in one block. A part begins with each line that is not indented and does not close the one before.
func splitGo(text string) (declarations, statements string) {
	var top, inside strings.Builder
	to := &inside
	for line := range strings.Lines(text) {
		if c := line[0]; c != ' ' && c != '\t' && c != '}' && c != ')' && c != '\n' && c != '\r' && c != '/' {
			to = &inside
			if strings.HasPrefix(line, "func ") || strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "package ") {
				to = &top
			}
		}
		to.WriteString(line)
	}
	return top.String(), inside.String()
}
