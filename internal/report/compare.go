package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// Compare writes two runs side by side, for people: rates by group, and the
// cases that one of them does better.
func Compare(w io.Writer, c *eval.Comparison, runName, baseName string, o Options) error {
	b := bufio.NewWriter(w)
	p := paint{term.Paint(o.Color)}
	fmt.Fprintf(b, "%s\n", p.Bold("Side by side:"))
	fmt.Fprintf(b, "  %-22s %18s %18s %9s\n", "", column(runName, 18), column(baseName, 18), "points")
	row := func(pair eval.Pair) {
		change := ""
		if d, ok := pair.Delta(); ok {
			change = signed(p, d)
		}
		fmt.Fprintf(b, "  %-22s %18s %18s %s\n", column(pair.Name, 22), share(pair.Run), share(pair.Base), change)
	}
	row(eval.Pair{Name: "Pass Rate", Base: c.Overall.Base, Run: c.Overall.Run})
	for _, group := range [][]eval.Pair{c.Difficulty, c.Tool, c.Project} {
		for _, pair := range group {
			row(pair)
		}
	}
	now, then := c.Run.Summary, c.Base.Summary
	fmt.Fprintf(b, "  %-22s %18s %18s\n", "Avg Confidence", average(now.Confidence), average(then.Confidence))
	fmt.Fprintf(b, "  %-22s %18s %18s\n", "Response Time, median", millis(now.Latency.P50), millis(then.Latency.P50))
	for _, row := range scoreRows(c.Base, c.Run) {
		fmt.Fprintf(b, "  %-22s %18s %18s %s\n", column(row.name, 22), row.is, row.was, row.change(p))
	}
	fmt.Fprintln(b)
	fmt.Fprintf(b, "  %s, %s, %d the same", p.Green(fmt.Sprintf("%d better", len(c.Better))), p.Red(fmt.Sprintf("%d worse", len(c.Worse))), c.Same)
	if n := len(c.Unjudged); n > 0 {
		fmt.Fprintf(b, ", %d without a verdict in one of them", n)
	}
	fmt.Fprintln(b)
	caseList(b, "better", c.Better, o)
	caseList(b, "worse", c.Worse, o)
	caseList(b, "only here", c.New, o)
	caseList(b, "only in "+baseName, c.Gone, o)
	return b.Flush()
}

// scoreRow is a graded score in both runs, as a mean of 1.
type scoreRow struct {
	name, is, was string
	points        float64 // of a hundred
	comparable    bool
}

func (r scoreRow) change(p paint) string {
	if !r.comparable {
		return ""
	}
	return signed(p, r.points)
}

// scoreRows are the graded scores of two runs, by key.
func scoreRows(base, run *eval.Run) (rows []scoreRow) {
	before := map[string]eval.Scored{}
	for _, k := range gradedScores(base) {
		before[k.Name] = k
	}
	row := func(is, was eval.Scored, name string) scoreRow {
		r := scoreRow{name: name, is: meanAndCount(is), was: meanAndCount(was)}
		if r.comparable = is.Judged() > 0 && was.Judged() > 0; r.comparable {
			r.points = (is.Mean - was.Mean) * 100
		}
		return r
	}
	for _, k := range gradedScores(run) {
		rows = append(rows, row(k, before[k.Name], k.Name))
		delete(before, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		rows = append(rows, row(eval.Scored{}, before[name], name))
	}
	return rows
}

func meanAndCount(k eval.Scored) string {
	if k.Judged() == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f (%d)", k.Mean, k.Judged())
}

// column keeps a name within its column.
func column(s string, width int) string {
	if r := []rune(term.Sanitize(s)); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return term.Sanitize(s)
}

func share(c eval.Counts) string {
	if c.Judged() == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%d/%d)", passRate(c), c.Passed, c.Judged())
}

func average(m eval.Mean) string {
	if m.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", roundUp(m.Mean))
}

func signed(p paint, d float64) string {
	s := fmt.Sprintf("%+9.1f", d)
	switch {
	case d > 0:
		return p.Green(s)
	case d < 0:
		return p.Red(s)
	}
	return fmt.Sprintf("%9s", "0.0")
}

// caseList names cases on one line, as many as are good to read.
func caseList(w io.Writer, label string, ids []string, o Options) {
	if len(ids) == 0 {
		return
	}
	const most = 12
	shown, rest := ids, ""
	if len(ids) > most && !o.Verbose {
		shown, rest = ids[:most], fmt.Sprintf(" and %d more", len(ids)-most)
	}
	fmt.Fprintf(w, "  %s: %s%s\n", label, term.Sanitize(strings.Join(shown, ", ")), rest)
}
