package report

import (
	"fmt"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// Line is the progress line of a result, the n-th of total, without a line
// break at its end. With Verbose, lines below it say why a result did not
// pass.
func Line(run *eval.Run, r *eval.Result, n int, o Options) string {
	p := paint{term.Paint(o.Color)}
	c := r.Case
	if c == nil {
		c = new(eval.Case)
	}
	whole := *r
	whole.Case = c
	progress := fmt.Sprintf("[%d/%d]", n, run.Planned)
	heading := newItem(&whole, nil, 0).heading()
	width := layoutWidth(o)
	if o.Width > 0 {
		heading = term.Truncate(heading, max(8, width-len(progress)-5))
	}
	s := fmt.Sprintf("  %s %s %s", p.mark(r.Status), p.Dim(progress), heading)
	if scores := scoreLine(run, r.Scores); scores != "" {
		for _, l := range term.Wrap(scores, width-6) {
			s += "\n      " + p.Dim(l)
		}
	}
	if !o.Verbose {
		return s
	}
	for _, l := range eventLines(r.Events) {
		s += "\n      " + p.Dim(term.Truncate(l, width-6))
	}
	for t := range trouble(len(troubleMarks)) {
		for _, reason := range t.of(&whole) {
			if t == warnings {
				reason = "warning: " + reason
			}
			for _, l := range term.Wrap(reason, width-6) {
				s += "\n      " + p.Dim(l)
			}
		}
	}
	if r.Status == eval.Skip && r.Fault != nil {
		s += "\n      " + p.Dim("skipped: "+strings.TrimSpace(term.OneLine(r.Fault.Message, reasonBytes)))
	}
	return s
}

// layoutWidth is the width to lay text out in: never so narrow that words
// would be cut into letters.
func layoutWidth(o Options) int {
	if o.Width <= 0 {
		return 80
	}
	return max(o.Width, 40)
}
