package code

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnswerArchives reads each answer as one to a challenge in the language the archive is named after.
func TestAnswerArchives(t *testing.T) {
	runArchives(t, "answer", func(t *testing.T, archive, _, input string) string {
		a := ReadAnswer(strings.ReplaceAll(input, "¬", "```"), archive)
		var out strings.Builder
		for _, b := range a.Blocks {
			_, checked := Syntax(b.Lang, b.Text)
			fmt.Fprintf(&out, "%d-%d %s valid=%t closed=%t\n", b.Line, b.EndLine, b.Lang, parses(b.Lang, b.Text), b.Closed)
			if !checked {
				t.Errorf("the block at line %d was not checked", b.Line)
			}
			for l := range strings.Lines(b.Text) {
				fmt.Fprintf(&out, "  |%s", l)
			}
		}
		for _, b := range a.Other {
			fmt.Fprintf(&out, "other: %d-%d %s\n", b.Line, b.EndLine, b.Lang)
		}
		if lang := a.Foreign(); lang != "" {
			fmt.Fprintf(&out, "foreign: %s\n", lang)
		}
		for _, n := range a.Notes {
			fmt.Fprintf(&out, "note: %s\n", n)
		}
		return out.String()
	})
}
