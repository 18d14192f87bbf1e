package report

import (
	"fmt"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// eventLines shows the calls of a result, each below the check that made it.
func eventLines(events []eval.Event) (lines []string) {
	depth := make(map[int]int, len(events))
	for _, e := range events {
		if e.Parent > 0 {
			depth[e.ID] = depth[e.Parent] + 1 // a parent is numbered before what is in it
		}
		line := fmt.Sprintf("%s%s %s %s", strings.Repeat("  ", depth[e.ID]), e.Kind, term.OneLine(e.Name, 80), millis(eval.Millis(e.Duration)))
		if e.Usage != nil && e.Usage.Calls > 0 {
			line += fmt.Sprintf(", %s in, %s out, %s", tokens(e.Usage.Input), tokens(e.Usage.Output), cost(*e.Usage))
		}
		if e.Error != "" {
			line += ": " + term.OneLine(e.Error, 200)
		}
		lines = append(lines, line)
	}
	return lines
}
