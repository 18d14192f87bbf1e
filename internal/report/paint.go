package report

import "github.com/mettle-eval/mettle/internal/eval"

// paint colours text for a terminal, or leaves it alone.
type paint bool

func (p paint) with(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.with("1", s) }
func (p paint) dim(s string) string    { return p.with("2", s) }
func (p paint) red(s string) string    { return p.with("31", s) }
func (p paint) green(s string) string  { return p.with("32", s) }
func (p paint) yellow(s string) string { return p.with("33", s) }
func (p paint) title(s string) string  { return p.with("1;34", s) }
func (p paint) alarm(s string) string  { return p.with("1;31", s) }

// rate is a pass rate in the colour of its band.
func (p paint) rate(c eval.Counts) string {
	s := passRate(c)
	switch rate := c.PassRate(); {
	case c.Judged() == 0:
		return s
	case rate >= 0.8:
		return p.green(s)
	case rate >= 0.6:
		return p.yellow(s)
	}
	return p.red(s)
}

// mark is the sign of a status. What has no verdict is neither green nor red.
func (p paint) mark(s eval.Status) string {
	switch s {
	case eval.Pass:
		return p.green("✓")
	case eval.Fail:
		return p.red(troubleMarks[failures])
	case eval.Error:
		return p.yellow(troubleMarks[faults])
	case eval.Unscored:
		return p.yellow(troubleMarks[undecided])
	}
	return p.dim("-")
}

// verdict is the word a run ends with.
func (p paint) verdict(v eval.Verdict, s string) string {
	switch v {
	case eval.Passed:
		return p.with("1;32", "✓ "+s)
	case eval.Failed:
		return p.with("1;31", "✗ "+s)
	}
	return p.with("1;33", "! "+s)
}
