package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// GitHub refuses comments of more than 65,536 characters. Bytes are counted,
// which are never fewer. Each part of the report has a mark it does not grow
// past, so that a long list of failures leaves room for what follows it.
const (
	markdownHead     = 20_000
	markdownFailures = 44_000
	markdownFaults   = 49_000
	markdownUnscored = 53_000
	markdownOthers   = 56_000 // leaves 4,000 for the last lines
	markdownItems    = 200
	markdownAnswer   = 1200
	markdownReasons  = 10
	markdownReason   = 400
)

// writeMarkdown writes a pull request comment: the verdict, tables, and what
// to look at folded away below.
func writeMarkdown(w io.Writer, run *eval.Run, o Options) error {
	run, err := completed(run)
	if err != nil {
		return err
	}
	found, err := newDigest(run, markdownItems, markdownAnswer)
	if err != nil {
		return err
	}
	m := &markdown{run: run, found: found}
	m.head()
	m.tables()
	m.gates()
	m.scores()
	m.models()
	m.retrieval()
	m.modes()
	m.spread()
	m.items(failures, markdownFailures, "failed", true)
	m.items(faults, markdownFaults, "without an answer", false)
	m.items(undecided, markdownUnscored, "unscored", true)
	m.items(warnings, markdownOthers, "with warnings", false)
	m.foot(o)
	p := newPrinter(w)
	p.print(m.b.String())
	return p.close()
}

type markdown struct {
	b     strings.Builder
	run   *eval.Run
	found *digest
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

func (m *markdown) head() {
	mark := map[eval.Verdict]string{eval.Passed: "✅", eval.Failed: "❌"}[m.run.Verdict]
	if mark == "" {
		mark = "⚠️"
	}
	word, why, _ := strings.Cut(verdictLine(m.run), ": ")
	m.printf("## %s %s: %s\n\n", mark, mdText(term.Clip(title(m.run), 100)), mdText(word))
	if why != "" {
		m.printf("%s\n\n", mdText(term.Clip(strings.ToUpper(why[:1])+why[1:], 2000)))
	}
}

func (m *markdown) tables() {
	s := m.run.Summary
	m.printf("| Total tests | Passed | Failed | Errors | Unscored | Skipped | Pass rate | Avg confidence | Avg response time |\n")
	m.printf("|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	confidence, latency := "n/a", "n/a"
	if m.run.Summary.Confidence.N > 0 {
		confidence = fmt.Sprintf("%.0f%%", roundUp(m.run.Summary.Confidence.Mean))
	}
	if s.Latency.N > 0 {
		latency = millis(s.Latency.Mean)
	}
	m.printf("| %d | %d | %d | %d | %d | %d | **%s** | %s | %s |\n\n",
		s.Total, s.Passed, s.Failed, s.Errors, s.Unscored, s.Skipped, passRate(s.Counts), confidence, latency)
	if rest := unjudged(s.Counts); rest != "" {
		m.printf("The pass rate is of the %s with a verdict; not counted: %s.\n\n", plural(s.Judged(), "result"), rest)
	}
	m.groups("Difficulty", s.ByDifficulty)
	m.groups("Tool", s.ByTool)
	if len(s.ByProject) > 1 {
		m.groups("Project", s.ByProject)
	}
}

func (m *markdown) groups(heading string, groups []eval.Group) {
	rows := make([][]string, 0, len(groups))
	for _, g := range groups {
		rows = append(rows, []string{
			mdText(term.Clip(g.Name, 80)), strconv.Itoa(g.Passed), strconv.Itoa(g.Judged()), passRate(g.Counts), orDash(unjudged(g.Counts)),
		})
	}
	m.table([]string{heading, "Passed", "Judged", "Pass rate", "No verdict"}, "|---|---:|---:|---:|---|", rows)
}

func (m *markdown) gates() {
	var rows [][]string
	for _, o := range m.run.Outcomes {
		met := "✅ met"
		switch {
		case o.Open:
			met = "❔ open"
		case !o.Met:
			met = "❌ not met"
		}
		rows = append(rows, []string{mdText(gateText(o.Gate)), gateValue(o), met})
	}
	m.table([]string{"Gate", "Value", ""}, "|---|---|---|", rows)
}

func (m *markdown) scores() {
	var rows [][]string
	for _, k := range gradedScores(m.run) {
		rows = append(rows, []string{mdText(term.Clip(k.Name, 100)), scoreMean(k), scoreCount(k)})
	}
	m.table([]string{"Score", "Mean", "Of"}, "|---|---:|---|", rows)
}

func (m *markdown) models() {
	var rows [][]string
	for _, l := range usageLines(m.run) {
		rows = append(rows, []string{mdText(l[0]), mdText(l[1])})
	}
	m.table([]string{"Model", "Use"}, "|---|---|", rows)
	if note := sameModel(m.run); note != "" {
		m.b.WriteString("\n> Note: " + note + "\n")
	}
}

func (m *markdown) retrieval() {
	var rows [][]string
	for _, k := range retrieval(m.run) {
		rows = append(rows, []string{mdText(k.Name), retrievalMean(k), retrievalCount(k)})
	}
	m.table([]string{"Retrieval", "Mean", "Of"}, "|---|---:|---|", rows)
}

func (m *markdown) modes() {
	var rows [][]string
	for _, mode := range m.run.Summary.Modes {
		rows = append(rows, []string{mdText(term.Clip(mode.Name, 80)), strconv.Itoa(mode.Count), mdText(term.Clip(modeCases(mode, !repeated(m.run), shownModeIDs), 300))})
	}
	m.table([]string{"Failure mode", "Count", "Cases"}, "|---|---:|---|", rows)
	rows = nil
	for _, why := range m.run.Summary.Retries {
		rows = append(rows, []string{mdText(term.Clip(why.Name, 200)), strconv.Itoa(why.Count), mdText(term.Clip(modeCases(why, false, shownModeIDs), 300))})
	}
	m.table([]string{"Retried because", "Count", "Cases"}, "|---|---:|---|", rows)
}

func (m *markdown) spread() {
	var rows [][]string
	for _, c := range m.run.Summary.Spread {
		rows = append(rows, []string{mdText(term.Clip(c.Case, 100)), outcomes(c.Counts)})
		if len(rows) > tableRows {
			break
		}
	}
	m.table([]string{"Trials differ", "Outcomes"}, "|---|---|", rows)
}

// tableRows bounds a table; whoever has more groups reads another report.
const tableRows = 30

func (m *markdown) table(heads []string, rule string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	m.printf("| %s |\n%s\n", strings.Join(heads, " | "), rule)
	for i, row := range rows {
		line := "| " + strings.Join(row, " | ") + " |\n"
		if i == tableRows || m.b.Len()+len(line) > markdownHead {
			m.printf("\n… and more.\n")
			break
		}
		m.b.WriteString(line)
	}
	m.b.WriteString("\n")
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// items lists results of a class as far as there is room, and says how many
// were left out.
func (m *markdown) items(t trouble, limit int, what string, answers bool) {
	total := m.found.counts[t]
	if total == 0 {
		return
	}
	m.printf("<details>\n<summary>%d %s</summary>\n\n", total, what)
	shown := 0
	for _, it := range m.found.items[t] {
		text := mdItem(it, answers)
		if m.b.Len()+len(text) > limit {
			text = mdItem(it, false)
		}
		if m.b.Len()+len(text) > limit {
			break
		}
		m.b.WriteString(text)
		shown++
	}
	if rest := total - shown; rest > 0 {
		m.printf("… and %d more, left out to keep this comment short.\n\n", rest)
	}
	m.printf("</details>\n\n")
}

func mdItem(it item, answer bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", mdText(term.Clip(it.id, 120)))
	if it.name != "" {
		fmt.Fprintf(&b, " %s", mdText(term.Clip(it.name, 200)))
	}
	if place := it.place(); place != "" {
		fmt.Fprintf(&b, " (%s)", mdCode(term.Clip(place, 200)))
	}
	b.WriteString("\n\n")
	for i, reason := range it.reasons {
		if i == markdownReasons {
			fmt.Fprintf(&b, "- … and %d more\n", len(it.reasons)-i)
			break
		}
		fmt.Fprintf(&b, "- %s\n", mdText(term.Clip(reason, markdownReason)))
	}
	b.WriteString("\n")
	if answer && it.answer != "" {
		fmt.Fprintf(&b, "<details>\n<summary>The answer</summary>\n\n%s\n\n</details>\n\n", mdFence(it.answer))
	}
	return b.String()
}

func (m *markdown) foot(o Options) {
	m.b.WriteString("<sub>")
	if m.run.ID != "" {
		m.printf("run %s · ", mdText(term.Clip(m.run.ID, 100)))
	}
	if o.Dir != "" {
		m.printf("stored in %s · ", mdText(term.Clip(o.Dir, 300)))
	}
	m.printf("finished %s</sub>\n", finished(m.run))
}
