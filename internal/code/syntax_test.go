package code

import (
	"fmt"
	"strings"
	"testing"
)

func TestSyntaxArchives(t *testing.T) {
	runArchives(t, "syntax", func(_ *testing.T, archive, _, input string) string {
		problems, checked := Syntax(archive, input)
		if !checked {
			return "not checked\n"
		}
		var out strings.Builder
		for _, p := range problems {
			fmt.Fprintf(&out, "%d:%d: %s (%s)\n", p.Line, p.Col, p.Message, p.Checker)
		}
		return out.String()
	})
}
