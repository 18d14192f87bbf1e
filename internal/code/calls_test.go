package code

import (
	"fmt"
	"strings"
	"testing"
)

func TestCallsArchives(t *testing.T) {
	runArchives(t, "calls", func(_ *testing.T, archive, _, input string) string {
		var out strings.Builder
		line := 0
		for _, c := range Calls(archive, input) {
			switch {
			case c.Line == line:
				out.WriteString(",")
			case line > 0:
				out.WriteString("\n")
			}
			if c.Line != line {
				fmt.Fprintf(&out, "%d:", c.Line)
			}
			line = c.Line
			fmt.Fprintf(&out, " %s at %d", c.Name, c.Col)
		}
		if line > 0 {
			out.WriteString("\n")
		}
		return out.String()
	})
}
