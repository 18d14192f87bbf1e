package lintreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/term"
)

// markdown writes a pull request comment: the count, then a table for each
// severity, worst first. Rows past what a comment holds are counted only.
type markdown struct {
	printer
	run    Run
	tables map[lint.Severity]*table
	bad    []string // files that could not be read
}

// table holds the findings of one severity, as many as a comment could.
type table struct {
	rows  []string
	bytes int
	all   int // those left out too
}

func newMarkdown(w io.Writer, run Run, _ report.Options) Writer {
	m := &markdown{printer: newPrinter(w), run: run, tables: map[lint.Severity]*table{}}
	for _, s := range []lint.Severity{lint.Error, lint.Warning, lint.Info} {
		m.tables[s] = new(table)
	}
	return m
}

func (m *markdown) File(f lint.Result) error {
	if f.Err != nil {
		m.bad = append(m.bad, report.MarkdownText(term.Clip(f.Path, 200))+": "+report.MarkdownText(term.Clip(f.Err.Error(), report.MarkdownReason)))
	}
	for _, x := range f.Shown() {
		t := m.tables[x.Severity]
		if t.all++; t.bytes > report.MarkdownMost {
			continue
		}
		fix := ""
		if x.Fix != nil {
			fix = " 🔧"
		}
		row := fmt.Sprintf("| %s:%d:%d | %s%s | %s |\n", report.MarkdownText(term.Clip(x.File, 200)), x.Line, x.Col,
			report.MarkdownText(term.Clip(x.Message, report.MarkdownReason)), fix, report.MarkdownText(x.Rule))
		t.rows = append(t.rows, row)
		t.bytes += len(row)
	}
	return nil
}

func (m *markdown) Close(t *lint.Totals) error {
	mark := "✅"
	switch {
	case t.Failed(m.run.FailOn):
		mark = "❌"
	case t.Found() != "" || t.Problems > 0:
		mark = "⚠️"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s mettle lint: %s\n\nProfile %s. %s.\n", mark, orNone(t.Found()), report.MarkdownText(m.run.Profile), report.MarkdownText(capital(t.String())))
	for _, line := range m.bad {
		if b.Len() < report.MarkdownHead {
			fmt.Fprintf(&b, "\n* problem: %s", line)
		}
	}
	if len(m.bad) > 0 {
		b.WriteString("\n")
	}
	m.table(&b, lint.Error, true)
	m.table(&b, lint.Warning, t.Errors == 0)
	m.table(&b, lint.Info, false)
	if t.Fixable > 0 {
		b.WriteString("\n🔧 `mettle lint --fix` mends it.\n")
	}
	m.print(b.String())
	return m.flush()
}

func (m *markdown) table(b *strings.Builder, s lint.Severity, open bool) {
	t := m.tables[s]
	if t.all == 0 {
		return
	}
	attr := ""
	if open {
		attr = " open"
	}
	fmt.Fprintf(b, "\n<details%s><summary>%s</summary>\n\n| Where | What | Rule |\n|---|---|---|\n", attr, s.Count(t.all))
	written := 0
	for _, row := range t.rows {
		if b.Len()+len(row) > report.MarkdownMost {
			break
		}
		b.WriteString(row)
		written++
	}
	if cut := t.all - written; cut > 0 {
		fmt.Fprintf(b, "\n… and %d more.\n", cut)
	}
	b.WriteString("\n</details>\n")
}

func orNone(s string) string {
	if s == "" {
		return "no findings"
	}
	return s
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
