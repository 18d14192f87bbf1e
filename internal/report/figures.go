package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// percent is a rate from 0 to 1 with one decimal. It says 100.0% and 0.0% only
// of what is exactly that: with one failure in ten thousand nobody should read
// that all passed.
func percent(rate float64) string {
	p := rate * 100
	switch s := strconv.FormatFloat(p, 'f', 1, 64); {
	case s == "100.0" && p < 100:
		return "99.9%"
	case s == "0.0" && p > 0:
		return "0.1%"
	default:
		return s + "%"
	}
}

// passRate is the pass rate of results with a verdict, if there are any.
func passRate(c eval.Counts) string {
	if c.Judged() == 0 {
		return "n/a"
	}
	return percent(c.PassRate())
}

// roundUp rounds like JavaScript's Math.round, for numbers that other programs
// computed that way.
func roundUp(v float64) float64 { return math.Floor(v + 0.5) }

func millis(ms float64) string {
	return strconv.FormatFloat(roundUp(ms), 'f', 0, 64) + "ms"
}

// timestamp is ISO 8601 in the form of JavaScript's Date.toISOString.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ended is when the run finished, or started when it never did.
func ended(run *eval.Run) time.Time {
	if run.Finished.IsZero() {
		return run.Started
	}
	return run.Finished
}

// finished says when the run came to its end, for people.
func finished(run *eval.Run) string {
	if run.Finished.IsZero() {
		return "not yet (started " + timestamp(run.Started) + ")"
	}
	return timestamp(run.Finished)
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// unjudged lists the results that have no verdict, and is empty when all do.
func unjudged(c eval.Counts) string {
	var parts []string
	if c.Errors > 0 {
		parts = append(parts, plural(c.Errors, "error"))
	}
	if c.Unscored > 0 {
		parts = append(parts, strconv.Itoa(c.Unscored)+" unscored")
	}
	if c.Skipped > 0 {
		parts = append(parts, strconv.Itoa(c.Skipped)+" skipped")
	}
	return strings.Join(parts, ", ")
}

// outcomes lists how many ended how.
func outcomes(c eval.Counts) string {
	var parts []string
	if c.Passed > 0 {
		parts = append(parts, strconv.Itoa(c.Passed)+" passed")
	}
	if c.Failed > 0 {
		parts = append(parts, strconv.Itoa(c.Failed)+" failed")
	}
	if rest := unjudged(c); rest != "" {
		parts = append(parts, rest)
	}
	return strings.Join(parts, ", ")
}

// retrieval picks the retrieval metrics of a run.
func retrieval(run *eval.Run) (out []eval.Scored) {
	for _, k := range run.Summary.ByKind {
		if run.Kinds[k.Name].Section == eval.RetrievalSection {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b eval.Scored) int { return cmp.Compare(run.Kinds[a.Name].Order, run.Kinds[b.Name].Order) })
	return out
}

// retrievalMean is a metric's mean, which one that was never scored has not.
func retrievalMean(k eval.Scored) string {
	if k.Judged() == 0 {
		return "n/a"
	}
	return strconv.FormatFloat(k.Mean, 'f', 3, 64)
}

// retrievalCount says how many scores a metric's mean was taken from: one for
// each case, trial and check of the kind.
func retrievalCount(k eval.Scored) string {
	s := plural(k.Judged(), "score")
	if k.Unscored > 0 {
		s += fmt.Sprintf(", %d unscored", k.Unscored)
	}
	return s
}

// repeated tells runs in which cases were put more than once.
func repeated(run *eval.Run) bool {
	return run.Trials > 1 || run.Summary.Total > run.Summary.Cases || len(run.Summary.Spread) > 0
}

// gateValue is what a gate saw, in the unit of its metric.
func gateValue(o eval.GateOutcome) string {
	switch m := o.Gate.Metric; {
	case o.Open:
		return "nothing to measure"
	case m == "pass_rate" || m == "score":
		return fmt.Sprintf("%s of %d", gatePercent(o), o.N)
	case m == "confidence" || strings.HasPrefix(m, "latency_"):
		v := strconv.FormatFloat(o.Value, 'f', -1, 64)
		if short := strconv.FormatFloat(o.Value, 'f', 1, 64); !sameAs(short, o.Gate.Bound) || o.Value == o.Gate.Bound {
			v = strings.TrimSuffix(short, ".0")
		}
		if m != "confidence" {
			v += "ms"
		}
		return fmt.Sprintf("%s over %d", v, o.N)
	}
	return strconv.FormatFloat(o.Value, 'f', -1, 64)
}

// gatePercent shows more digits where one decimal would make the value look
// like the bound it missed.
func gatePercent(o eval.GateOutcome) string {
	s := percent(o.Value)
	if o.Value != o.Gate.Bound && sameAs(strings.TrimSuffix(s, "%"), o.Gate.Bound*100) {
		return strconv.FormatFloat(o.Value*100, 'f', 4, 64) + "%"
	}
	return s
}

func sameAs(text string, v float64) bool {
	shown, err := strconv.ParseFloat(text, 64)
	return err == nil && math.Abs(shown-v) < 1e-9
}

// gateText is a gate as its suite states it, and whose it is.
func gateText(g eval.Gate) string {
	s := term.OneLine(g.Text, 200)
	if g.Suite != "" {
		s += " (" + term.OneLine(g.Suite, 80) + ")"
	}
	return s
}

// verdictLine is the run in one line: the word, and why.
func verdictLine(run *eval.Run) string {
	word := strings.ToUpper(string(run.Verdict))
	var why []string
	if s := endedEarly(run); s != "" {
		why = append(why, s)
	}
	if run.Summary.Judged() == 0 {
		why = append(why, "nothing was judged")
	}
	if s := gateLine(run.Outcomes); s != "" && (run.Summary.Judged() > 0 || !strings.HasSuffix(s, "met")) {
		why = append(why, s)
	}
	if len(why) == 0 {
		return word
	}
	return word + ": " + strings.Join(why, "; ")
}

func endedEarly(run *eval.Run) string {
	var s string
	switch run.Header.Status {
	case eval.Done:
		return ""
	case eval.Running:
		s = "the run did not come to its end"
	default:
		s = "the run was " + term.Sanitize(string(run.Header.Status))
	}
	s += fmt.Sprintf(" after %d of %s", run.Summary.Total, plural(run.Planned, "result"))
	if run.Why != "" {
		s += " (" + term.OneLine(run.Why, 300) + ")"
	}
	return s
}

func gateLine(gates []eval.GateOutcome) string {
	var unmet, open []string
	for _, o := range gates {
		switch {
		case o.Open:
			open = append(open, gateText(o.Gate))
		case !o.Met:
			unmet = append(unmet, gateText(o.Gate)+", is "+gateValue(o))
		}
	}
	var parts []string
	if len(unmet) > 0 {
		parts = append(parts, someGates(len(gates), "not met", unmet))
	}
	if len(open) > 0 {
		parts = append(parts, someGates(len(gates), "open, with nothing to measure", open))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "; ")
	case len(gates) == 0:
		return ""
	case len(gates) == 1:
		return "the gate is met"
	}
	return fmt.Sprintf("all %d gates are met", len(gates))
}

// someGates names the first few gates of which the same is to be said.
func someGates(of int, what string, gates []string) string {
	const most = 3
	verb, n := "are", len(gates)
	if n == 1 {
		verb = "is"
	}
	if n > most {
		gates = append(gates[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Sprintf("%d of %s %s %s: %s", n, plural(of, "gate"), verb, what, strings.Join(gates, "; "))
}

// title names what was evaluated: the one suite or project, if there is one.
func title(run *eval.Run) string {
	name := "mettle"
	switch {
	case len(run.Suites) == 1 && run.Suites[0].Name != "":
		name = run.Suites[0].Name
	case run.Project != "":
		name = run.Project
	}
	return term.OneLine(name, 120)
}
