package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/term"
)

// lintMarkdown writes a pull request comment: the count, then a table for each
// severity, worst first. Rows past what a comment holds are counted only.
type lintMarkdown struct {
	*printer
	run    LintRun
	tables map[skill.Severity]*lintTable
	bad    []string // files that could not be read
}

// lintTable holds the findings of one severity, as many as a comment could.
type lintTable struct {
	rows  []string
	bytes int
	all   int // those left out too
}

func newLintMarkdown(w io.Writer, run LintRun, _ Options) LintWriter {
	m := &lintMarkdown{printer: newPrinter(w), run: run, tables: map[skill.Severity]*lintTable{}}
	for _, s := range []skill.Severity{skill.Error, skill.Warning, skill.Info} {
		m.tables[s] = new(lintTable)
	}
	return m
}

func (m *lintMarkdown) File(f LintFile) error {
	if f.Err != nil {
		m.bad = append(m.bad, mdText(term.Clip(f.Path, 200))+": "+mdText(term.Clip(f.Err.Error(), markdownReason)))
	}
	for _, x := range f.shown() {
		t := m.tables[x.Severity]
		if t.all++; t.bytes > markdownOthers {
			continue
		}
		fix := ""
		if x.Fix != nil {
			fix = " 🔧"
		}
		row := fmt.Sprintf("| %s:%d:%d | %s%s | %s |\n", mdText(term.Clip(f.Path, 200)), x.Line, x.Col,
			mdText(term.Clip(x.Message, markdownReason)), fix, mdText(x.Rule))
		t.rows = append(t.rows, row)
		t.bytes += len(row)
	}
	return nil
}

func (m *lintMarkdown) Close(t *LintTotals) error {
	mark := "✅"
	switch {
	case t.Failed(m.run.FailOn):
		mark = "❌"
	case t.found() != "" || t.Problems > 0:
		mark = "⚠️"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s mettle lint: %s\n\nProfile %s. %s.\n", mark, orNone(t.found()), mdText(m.run.Profile), mdText(capital(t.String())))
	for _, line := range m.bad {
		if b.Len() < markdownHead {
			fmt.Fprintf(&b, "\n* problem: %s", line)
		}
	}
	if len(m.bad) > 0 {
		b.WriteString("\n")
	}
	m.table(&b, skill.Error, true)
	m.table(&b, skill.Warning, t.Errors == 0)
	m.table(&b, skill.Info, false)
	if t.Fixable > 0 {
		b.WriteString("\n🔧 `mettle lint --fix` mends it.\n")
	}
	m.print(b.String())
	return m.close()
}

func (m *lintMarkdown) table(b *strings.Builder, s skill.Severity, open bool) {
	t := m.tables[s]
	if t.all == 0 {
		return
	}
	attr := ""
	if open {
		attr = " open"
	}
	fmt.Fprintf(b, "\n<details%s><summary>%s</summary>\n\n| Where | What | Rule |\n|---|---|---|\n", attr, countOf(t.all, s))
	written := 0
	for _, row := range t.rows {
		if b.Len()+len(row) > markdownOthers {
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
