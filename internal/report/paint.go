package report

import (
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// paint colours what only reports have.
type paint struct{ term.Paint }

// rate is a pass rate in the colour of its band.
func (p paint) rate(c eval.Counts) string {
	s := passRate(c)
	switch rate := c.PassRate(); {
	case c.Judged() == 0:
		return s
	case rate >= 0.8:
		return p.Green(s)
	case rate >= 0.6:
		return p.Yellow(s)
	}
	return p.Red(s)
}

// mark is the sign of a status. What has no verdict is neither green nor red.
func (p paint) mark(s eval.Status) string {
	switch s {
	case eval.Pass:
		return p.Green("✓")
	case eval.Fail:
		return p.Red(troubleMarks[failures])
	case eval.Error:
		return p.Yellow(troubleMarks[faults])
	case eval.Unscored:
		return p.Yellow(troubleMarks[undecided])
	}
	return p.Dim("-")
}

// verdict is the word a run ends with.
func (p paint) verdict(v eval.Verdict, s string) string {
	switch v {
	case eval.Passed:
		return p.With("1;32", "✓ "+s)
	case eval.Failed:
		return p.With("1;31", "✗ "+s)
	}
	return p.With("1;33", "! "+s)
}
