package grade

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// citationValid passes when every cited number is in the source list.
type citationValid struct{ citing }

var citationValidKind = kind.Kind[eval.Grader]{
	Name: "citation_valid",
	Doc:  "Every number the answer cites is in its source list.",
	Mode: "invalid citation",
	Explain: `Citations are found as by ` + "`has_citation`" + `. A number is known when the answer's source list has it, or when a line of the
answer explains it (` + "`[1]: https://…`" + `, ` + "`[^1]: …`" + `); entries without numbers count from 1. Links and URLs bring their
source with them.

An answer that cites nothing passes, as there is nothing invalid in it: add ` + "`has_citation`" + ` where it must cite. An answer that
cites and has no source list fails.`,
	Example: `- type: citation_valid
`,
	New: func() eval.Grader { return new(citationValid) },
}

func (g *citationValid) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	m := g.citations(a.Response)
	found, known := m.found, m.numbers
	for i, s := range a.Response.Sources {
		if s.N == 0 {
			s.N = i + 1
		}
		known = append(known, s.N)
	}
	var wrong []string
	checked := 0
	for _, c := range found {
		if c.linked {
			continue
		}
		checked++
		unknown := c.label != "" && !slices.Contains(m.labels, c.label) ||
			slices.ContainsFunc(c.numbers, func(n int) bool { return !slices.Contains(known, n) })
		if unknown && !slices.Contains(wrong, c.text) {
			wrong = append(wrong, c.text)
		}
	}
	switch {
	case len(found) == 0:
		return eval.PassIf(true, "no citations"), nil
	case len(wrong) == 0:
		return eval.PassIf(true, "%s, all with a source", counted(len(found), "citation")), nil
	case len(known) == 0 && len(m.labels) == 0:
		return eval.PassIf(false, "%s, and the answer has no source list", counted(checked, "citation")), nil
	}
	return eval.PassIf(false, "cites %s; the source list has %s", quoteAll(wrong), cut(strings.Join(append(numberRuns(known), m.labels...), ", "))).Detail("invalid", wrong), nil
}

// numberRuns writes numbers in order, runs as from-to.
func numberRuns(numbers []int) (parts []string) {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if j == i {
			parts = append(parts, strconv.Itoa(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	return parts
}
