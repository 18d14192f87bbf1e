package lint

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/skill"
)

// isFragment reports whether a block that does not parse by itself is a piece of something that does: the members of an
// object or an interface, the fields of a struct, functions among statements.
func isFragment(b *skill.Block, lang string) bool {
	if len(b.Text) > maxFragment {
		return false
	}
	for _, around := range wholes(lang) {
		if parses(lang, around[0]+b.Text+around[1]) {
			return true
		}
	}
	if lang == "jsonc" {
		return isSequence(b.Text)
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

// maxFragment is the longest piece that is tried in other surroundings. Longer ones are programs.
const maxFragment = 16 << 10

// isSequence reports whether a text is one JSON value after another, on lines of their own.
func isSequence(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	for n := 0; ; n++ {
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return errors.Is(err, io.EOF) && n > 1
		}
	}
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
		return [][2]string{{"_ = {\n", "\n}"}, {"class _ {\n", "\n}"}, {"switch (_) {\n", "\n}"}, {"_\n", ""}, {"if (_) {}\n", ""}, {"try {}\n", ""}}
	case "typescript", "tsx":
		return [][2]string{{"_ = {\n", "\n}"}, {"interface _ {\n", "\n}"}, {"class _ {\n", "\n}"}, {"switch (_) {\n", "\n}"}, {"type _ =\n", ""}, {"_\n", ""}, {"if (_) {}\n", ""}, {"try {}\n", ""}}
	case "go":
		return [][2]string{{"type _ interface {\n", "\n}"}, {"type _ struct {\n", "\n}"}, {"var _ = T{\n", "\n}"}, {"func _() {\nswitch _ {\n", "\n}\n}"}}
	case "rust":
		return [][2]string{{"trait T {\n", "\n}"}, {"struct S {\n", "\n}"}, {"enum E {\n", "\n}"}, {"fn f() { match x {\n", "\n} }"}, {"", "\nstruct S;"}}
	case "python":
		return [][2]string{{"", "\n    pass\n"}, {"", "\ndef _():\n    pass\n"}, {"_ = {\n", "\n}"}, {"_(\n", "\n)"}, {"if _:\n    pass\n", ""}, {"try:\n    pass\n", ""}}
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
