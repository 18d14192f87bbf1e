package report

import (
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// What the terminal shows of a large run unless it is asked for everything.
const (
	shownItems   = 50 // results of a class
	shownLines   = 4  // of one reason
	shownReasons = 12 // of one result
	shownSpread  = 20 // cases whose trials differ
	shownModeIDs = 8  // cases of a failure mode
)

// terminal lays a run out for a person's eyes.
type terminal struct {
	*printer
	paint
	run     *eval.Run
	found   *digest
	width   int
	verbose bool
	dir     string
}

func writeTerminal(w io.Writer, run *eval.Run, o Options) error {
	run, err := completed(run)
	if err != nil {
		return err
	}
	found, err := newDigest(run, shownItems, 0)
	if err != nil {
		return err
	}
	t := &terminal{
		printer: newPrinter(w), paint: paint{term.Paint(o.Color)}, run: run, found: found,
		width: layoutWidth(o), verbose: o.Verbose, dir: o.Dir,
	}
	t.top()
	t.summary()
	t.groups("By Difficulty:", 15, run.Summary.ByDifficulty)
	t.groups("By Tool:", 20, run.Summary.ByTool)
	if len(run.Summary.ByProject) > 1 {
		t.groups("By Project:", 15, run.Summary.ByProject)
	}
	for _, s := range []struct {
		t     trouble
		title string
	}{{failures, t.Alarm("Failures:")}, {faults, t.Bold("Errors (no answer, so no verdict):")}, {undecided, t.Bold("Unscored:")}} {
		if err := t.items(s.t, s.title); err != nil {
			return err
		}
	}
	t.modes()
	t.scores()
	t.retrieval()
	t.trials()
	if err := t.items(warnings, t.Bold("Warnings:")); err != nil {
		return err
	}
	t.models()
	t.gates()
	t.bottom()
	return t.close()
}

func (t *terminal) rule() { t.print(strings.Repeat("=", min(70, t.width)) + "\n") }

func (t *terminal) top() {
	t.print("\n")
	t.rule()
	t.printf("  %s\n", t.Title(term.Truncate(title(t.run), t.width-22)+" - Evaluation Report"))
	t.rule()
}

func (t *terminal) summary() {
	s := t.run.Summary
	t.printf("\n%s\n", t.Bold("Summary:"))
	row := func(label, value string) { t.printf("  %-18s %s\n", label, value) }
	row("Total Tests:", t.total())
	row("Passed:", t.Green(fmt.Sprint(s.Passed)))
	row("Failed:", t.Red(fmt.Sprint(s.Failed)))
	if s.Errors > 0 {
		row("Errors:", t.Yellow(fmt.Sprint(s.Errors)))
	}
	if s.Unscored > 0 {
		row("Unscored:", t.Yellow(fmt.Sprint(s.Unscored)))
	}
	if s.Skipped > 0 {
		row("Skipped:", fmt.Sprint(s.Skipped))
	}
	rate := t.rate(s.Counts)
	if rest := s.Total - s.Judged(); rest > 0 && s.Judged() > 0 {
		rate += t.Dim(fmt.Sprintf(" of the %d with a verdict", s.Judged()))
	}
	row("Pass Rate:", rate)
	confidence := "n/a"
	if t.run.Summary.Confidence.N > 0 {
		confidence = fmt.Sprintf("%.0f%%", roundUp(t.run.Summary.Confidence.Mean))
	}
	row("Avg Confidence:", confidence)
	row("Avg Response Time:", t.latency())
}

func (t *terminal) total() string {
	s := t.run.Summary
	text := fmt.Sprint(s.Total)
	if s.Total < t.run.Planned {
		text += fmt.Sprintf(" of %d", t.run.Planned)
	}
	if repeated(t.run) {
		text += t.Dim(" from " + plural(s.Cases, "case"))
	}
	return text
}

func (t *terminal) latency() string {
	l := t.run.Summary.Latency
	switch l.N {
	case 0:
		return "n/a"
	case 1:
		return millis(l.Mean)
	}
	return millis(l.Mean) + t.Dim(fmt.Sprintf(" (p50 %s, p95 %s, max %s)", millis(l.P50), millis(l.P95), millis(l.Max)))
}

// groups shows passed of judged, so that the fraction and the rate beside it
// agree; results without a verdict follow in words.
func (t *terminal) groups(heading string, column int, groups []eval.Group) {
	if len(groups) == 0 {
		return
	}
	t.printf("\n%s\n", t.Bold(heading))
	for _, g := range groups {
		column = max(column, min(term.Columns(term.OneLine(g.Name, 200)), t.width-40))
	}
	for _, g := range groups {
		name := term.Pad(term.Truncate(term.OneLine(g.Name, 200), column), column)
		used := term.Columns(fmt.Sprintf("  %s %d/%d (%s)", name, g.Passed, g.Judged(), passRate(g.Counts)))
		t.printf("  %s %d/%d (%s)", name, g.Passed, g.Judged(), t.rate(g.Counts))
		if rest := unjudged(g.Counts); rest != "" {
			if used+3+term.Columns(rest) > t.width {
				t.print("\n   " + strings.Repeat(" ", column-1))
			}
			t.print(t.Dim(" + " + rest))
		}
		t.print("\n")
	}
}

// items lists the results of a class: the first ones the digest kept, or all
// of them in a pass of their own.
func (t *terminal) items(class trouble, heading string) error {
	total := t.found.counts[class]
	if total == 0 {
		return nil
	}
	t.printf("\n%s\n", heading)
	list := withoutError(t.found.items[class])
	if t.verbose && total > shownItems {
		list = every(t.run, class)
	}
	shown := 0
	for it, err := range list {
		if err != nil {
			return err
		}
		t.item(class, it)
		shown++
	}
	if rest := total - shown; rest > 0 {
		t.printf("\n  … and %d more: %s\n", rest, t.reportCommand())
	}
	return nil
}

func withoutError(items []item) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

func (t *terminal) reportCommand() string {
	if t.run.ID == "" {
		return "mettle report --verbose"
	}
	return "mettle report --verbose " + term.OneLine(t.run.ID, 100)
}

func (t *terminal) item(class trouble, it item) {
	mark := t.Red(troubleMarks[class])
	if class != failures {
		mark = t.Yellow(troubleMarks[class])
	}
	t.print("\n")
	t.hang("  "+mark+" ", 4, it.heading(), 2, nil)
	if place := it.place(); place != "" {
		t.printf("    %s\n", t.Dim(place))
	}
	for i, reason := range it.reasons {
		if i == shownReasons && !t.verbose && len(it.reasons) > shownReasons+1 {
			t.printf("    … and %d more\n", len(it.reasons)-i)
			return
		}
		t.hang("    - ", 6, reason, shownLines, nil)
	}
}

// hang prints text behind a lead, its further lines indented to where the text
// began.
func (t *terminal) hang(lead string, indent int, text string, limit int, style func(string) string) {
	if t.verbose {
		limit = 0
	}
	lines := term.WrapAtMost(text, t.width-indent, limit)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		if style != nil {
			l = style(l)
		}
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		t.print(strings.TrimRight(lead+l, " ") + "\n")
	}
}

func (t *terminal) modes() {
	t.causes("Failure modes:", t.run.Summary.Modes, 36, !repeated(t.run))
	t.causes("Retried because:", t.run.Summary.Retries, 60, false)
}

func (t *terminal) causes(heading string, modes []eval.Mode, most int, once bool) {
	if len(modes) == 0 {
		return
	}
	t.printf("\n%s\n", t.Bold(heading))
	digits, column := 2, 18
	for _, m := range modes {
		digits = max(digits, len(fmt.Sprint(m.Count)))
		column = max(column, min(term.Columns(term.OneLine(m.Name, 200)), most))
	}
	for _, m := range modes {
		name := term.Pad(term.Truncate(term.OneLine(m.Name, 200), column), column)
		lead := fmt.Sprintf("  %s  %s  ", t.Bold(fmt.Sprintf("%*d", digits, m.Count)), name)
		t.hang(lead, digits+column+6, modeCases(m, once, t.modeIDs()), 0, t.Dim)
	}
}

func (t *terminal) modeIDs() int {
	if t.verbose {
		return math.MaxInt
	}
	return shownModeIDs
}

// modeCases names cases of a failure mode. The summary keeps the first of
// them; where each case is counted once, the count tells how many are left out.
func modeCases(m eval.Mode, once bool, limit int) string {
	ids := make([]string, 0, len(m.Cases))
	for _, id := range m.Cases[:min(len(m.Cases), limit)] {
		ids = append(ids, term.OneLine(id, 200))
	}
	s := strings.Join(ids, ", ")
	switch rest := m.Count - len(ids); {
	case rest > 0 && once:
		s += fmt.Sprintf(" and %d more", rest)
	case len(ids) < len(m.Cases):
		s += " and more"
	}
	return s
}

func (t *terminal) scores() {
	list := gradedScores(t.run)
	if len(list) == 0 {
		return
	}
	column := 15
	for _, k := range list {
		column = max(column, min(term.Columns(term.OneLine(k.Name, 200)), t.width-40))
	}
	t.printf("\n%s\n", t.Bold("Scores:"))
	for _, k := range list {
		t.printf("  %s %s %s\n", term.Pad(term.Truncate(term.OneLine(k.Name, 200), column), column), scoreMean(k), t.Dim("mean of "+scoreCount(k)))
	}
}

func (t *terminal) models() {
	lines := usageLines(t.run)
	if len(lines) == 0 {
		return
	}
	t.printf("\n%s\n", t.Bold("Models:"))
	for _, l := range lines {
		t.printf("  %-8s %s\n", l[0], l[1])
	}
	if note := sameModel(t.run); note != "" {
		t.printf("  %s\n", t.Yellow("note: "+note))
	}
}

func (t *terminal) retrieval() {
	metrics := retrieval(t.run)
	if len(metrics) == 0 {
		return
	}
	t.printf("\n%s\n", t.Bold("Retrieval:"))
	for _, k := range metrics {
		t.printf("  %-15s %s %s\n", k.Name, retrievalMean(k), t.Dim("mean of "+retrievalCount(k)))
	}
}

func (t *terminal) trials() {
	if !repeated(t.run) {
		return
	}
	s := t.run.Summary
	t.printf("\n%s\n", t.Bold("Trials:"))
	t.printf("  %s of %s; trials differ in %s\n", plural(s.Total, "result"), plural(s.Cases, "case"), plural(len(s.Spread), "case"))
	column := 15
	for i, c := range s.Spread {
		if i < shownSpread || t.verbose {
			column = max(column, min(term.Columns(term.OneLine(c.Case, 200)), t.width-40))
		}
	}
	for i, c := range s.Spread {
		if i == shownSpread && !t.verbose {
			t.printf("  … and %d more: %s\n", len(s.Spread)-i, t.reportCommand())
			return
		}
		t.printf("  %s %s\n", term.Pad(term.Truncate(term.OneLine(c.Case, 200), column), column), outcomes(c.Counts))
	}
}

// manyGates is how many gates are listed one by one; of more, those that are
// met are counted.
const manyGates = 10

func (t *terminal) gates() {
	if len(t.run.Outcomes) == 0 {
		return
	}
	t.printf("\n%s\n", t.Bold("Gates:"))
	shown := t.run.Outcomes
	if len(shown) > manyGates && !t.verbose {
		shown = slices.DeleteFunc(slices.Clone(shown), func(o eval.GateOutcome) bool { return o.Met })
		t.printf("  %s\n", t.Green(fmt.Sprintf("✓ %d of %d are met", len(t.run.Outcomes)-len(shown), len(t.run.Outcomes))))
	}
	column := 20
	for _, o := range shown {
		column = max(column, min(term.Columns(gateText(o.Gate)), t.width-38))
	}
	for _, o := range shown {
		mark := t.Green("✓ met    ")
		switch {
		case o.Open:
			mark = t.Yellow("? open   ")
		case !o.Met:
			mark = t.Red("✗ not met")
		}
		t.printf("  %s  %s  %s\n", mark, term.Pad(term.Truncate(gateText(o.Gate), column), column), gateValue(o))
	}
}

func (t *terminal) bottom() {
	t.print("\n")
	for i, l := range term.Wrap(verdictLine(t.run), t.width-2) {
		if i == 0 {
			t.print(t.paint.verdict(t.run.Verdict, l) + "\n")
			continue
		}
		t.print("  " + l + "\n")
	}
	t.print("\n")
	t.rule()
	if t.run.ID != "" {
		t.printf("  Run:       %s\n", term.OneLine(t.run.ID, 200))
	}
	if t.dir != "" {
		t.printf("  Stored in: %s\n", term.OneLine(t.dir, 1000))
	}
	t.printf("  Finished:  %s\n", finished(t.run))
	t.rule()
	t.print("\n")
}
