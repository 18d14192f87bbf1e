package report

import (
	"fmt"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Line is the progress line of a result, the n-th of total, without a line
// break at its end. With Verbose, lines below it say why a result did not
// pass.
func Line(run *eval.Run, r *eval.Result, n int, o Options) string {
	p := paint(o.Color)
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
		heading = truncate(heading, max(8, width-len(progress)-5))
	}
	s := fmt.Sprintf("  %s %s %s", p.mark(r.Status), p.dim(progress), heading)
	if scores := scoreLine(run, r.Scores); scores != "" {
		for _, l := range wrap(scores, width-6) {
			s += "\n      " + p.dim(l)
		}
	}
	if !o.Verbose {
		return s
	}
	for t := range trouble(len(troubleMarks)) {
		for _, reason := range t.of(&whole) {
			if t == warnings {
				reason = "warning: " + reason
			}
			for _, l := range wrap(reason, width-6) {
				s += "\n      " + p.dim(l)
			}
		}
	}
	if r.Status == eval.Skip && r.Fault != nil {
		s += "\n      " + p.dim("skipped: "+strings.TrimSpace(oneLine(r.Fault.Message, reasonBytes)))
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
