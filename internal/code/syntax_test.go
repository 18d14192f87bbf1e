package code

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/code/source"
)

func TestSyntaxArchives(t *testing.T) {
	runArchives(t, "syntax", func(_ *testing.T, archive, _, input string) string {
		problems, checked := Syntax(archive, input)
		if !checked {
			return "not checked\n"
		}
		var out strings.Builder
		for _, p := range problems {
			fmt.Fprintf(&out, "%d:%d: %s (%s)", p.Line, p.Col, p.Message, p.Checker)
			if p.Elision {
				out.WriteString(" elision")
			}
			out.WriteByte('\n')
		}
		return out.String()
	})
}

// TestSyntaxSurvivesItsParser holds that a parser that breaks down leaves the source unchecked.
func TestSyntaxSurvivesItsParser(t *testing.T) {
	l := language{syntax: func(string) ([]Problem, bool) { panic("broken") }}
	if problems, checked := l.check("x"); checked || len(problems) > 0 {
		t.Errorf("got %v, checked %t", problems, checked)
	}
}

// TestSyntaxBehindReturns holds that the returns that are let pass do not use up the room for real problems.
func TestSyntaxBehindReturns(t *testing.T) {
	src := "import 'a';\n" + strings.Repeat("if (x) return;\n", 2*source.MaxProblems) + "let b; let b;\n"
	problems, checked := Syntax("ts", src)
	if !checked || len(problems) != 1 || problems[0].Line != 2*source.MaxProblems+2 {
		t.Errorf("got %v, checked %t", problems, checked)
	}
}
