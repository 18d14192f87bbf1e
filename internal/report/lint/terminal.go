package lintreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/term"
)

// terminal shows findings by file, each with its line and a mark under the
// place. What is known is shown at once: a person reads while files are read.
type terminal struct {
	printer
	term.Paint
	run   Run
	width int // 0 when there is no terminal to lay out for
	last  string
}

func newTerminal(w io.Writer, run Run, o report.Options) Writer {
	t := &terminal{printer: newPrinter(w), Paint: term.Paint(o.Color), run: run}
	if o.Width > 0 {
		t.width = report.LayoutWidth(o)
	}
	return t
}

func (t *terminal) File(f lint.Result) error {
	findings := f.Shown()
	if len(findings)+len(f.Fixed) == 0 && f.Err == nil {
		return nil
	}
	if t.last != "" {
		t.print("\n")
	}
	if t.last != f.Path && (len(f.Fixed) > 0 || f.Err != nil) {
		t.printf("%s\n", t.Bold(term.Sanitize(f.Path)))
		t.last = f.Path
	}
	for _, x := range f.Fixed {
		t.printf("  %s %s %s\n", t.Green("fixed:"), term.Sanitize(x.Fix.Message), t.Dim("["+x.Rule+"]"))
	}
	if f.Err != nil {
		t.printf("  %s %s\n", t.With("1;31", "problem:"), term.OneLine(f.Err.Error(), report.ReasonBytes))
	}
	for i := range findings {
		if file := findings[i].File; file != t.last {
			t.printf("%s\n", t.Bold(term.Sanitize(file)))
			t.last = file
		}
		t.finding(&findings[i])
	}
	return t.flush()
}

func (t *terminal) Close(totals *lint.Totals) error {
	if t.last != "" {
		t.print("\n")
	}
	line := totals.String()
	switch {
	case totals.Failed(t.run.FailOn):
		line = t.With("1;31", "✗ "+line)
	case totals.Problems > 0:
		line = t.With("1;33", "! "+line)
	case totals.Found() != "":
		line = t.With("1;33", "✓ "+line)
	default:
		line = t.With("1;32", "✓ "+line)
	}
	t.print(line + "\n")
	return t.flush()
}

// indent is how far what belongs to a finding stands in: as far as its line
// of the file.
const indent = 8

func (t *terminal) finding(f *lint.Finding) {
	place := fmt.Sprintf("%d:%d", f.Line, f.Col)
	head := place + " " + string(f.Severity) + ":"
	lines := []string{head + " " + term.OneLine(f.Message, report.ReasonBytes) + " [" + f.Rule + "]"}
	if t.width > 0 {
		lines = term.Wrap(lines[0], t.width-indent)
	}
	for i, line := range lines {
		if i == len(lines)-1 {
			line = t.dimRule(line, f.Rule)
		}
		if rest, ok := strings.CutPrefix(line, head); ok && i == 0 {
			t.print("  " + t.Dim(place) + " " + t.severity(f.Severity, string(f.Severity)+":") + rest + "\n")
			continue
		}
		t.print(strings.Repeat(" ", indent) + line + "\n")
	}
	t.excerpt(f)
	if f.Fix != nil {
		t.print(strings.Repeat(" ", indent) + t.Green("fix:") + " " + term.OneLine(f.Fix.Message, report.ReasonBytes) + "\n")
	}
}

// dimRule takes the colour from the rule's name at the end of a line.
func (t *terminal) dimRule(line, rule string) string {
	if text, ok := strings.CutSuffix(line, "["+rule+"]"); ok {
		return text + t.Dim("["+rule+"]")
	}
	return line
}

func (t *terminal) severity(s lint.Severity, text string) string {
	switch s {
	case lint.Error:
		return t.With("31", text)
	case lint.Warning:
		return t.With("33", text)
	}
	return t.With("34", text)
}

// excerptColumns is how much of a line is shown when there is no terminal.
const excerptColumns = 110

// excerpt shows the line of a finding and marks the place. What is wrong with
// a file as a whole has no line to show.
func (t *terminal) excerpt(f *lint.Finding) {
	if f.Line == 1 && f.Col == 1 && f.EndLine == 1 && f.EndCol == 1 || strings.TrimSpace(f.Excerpt) == "" {
		return
	}
	gutter := fmt.Sprintf("%5d | ", f.Line)
	room := excerptColumns
	if t.width > 0 {
		room = max(t.width-len(gutter), 24)
	}
	line, indent, marked := markLine(f, room)
	t.print(t.Dim(gutter) + line + "\n")
	t.print(t.Dim(strings.Repeat(" ", len(gutter)-2)+"| ") + strings.Repeat(" ", indent) + t.severity(f.Severity, strings.Repeat("^", marked)) + "\n")
}

// markLine lays the line of a finding out in some columns and gives those in
// front of the place and those of the place itself.
func markLine(f *lint.Finding, room int) (line string, indent, marked int) {
	before, rest := splitChars(f.Excerpt, f.Col-f.ExcerptCol)
	place, after := rest, ""
	if f.EndLine == f.Line {
		place, after = splitChars(rest, f.EndCol-f.Col)
	}
	before, place, after = term.Sanitize(before), term.Sanitize(place), term.Sanitize(after)
	if f.ExcerptCol > 1 {
		before = "…" + before
	}
	if most := room * 2 / 3; term.Columns(before) > most && term.Columns(before)+term.Columns(place)+term.Columns(after) > room {
		before = "…" + term.Last(before, min(most, max(room-term.Columns(place), room/3))-1)
	}
	indent = term.Columns(before)
	line = term.Truncate(before+place+after, room)
	return line, indent, max(1, min(term.Columns(place), term.Columns(line)-indent))
}

// splitChars splits after a number of characters, counted as places are: a
// byte that does not continue a character begins one.
func splitChars(s string, n int) (head, tail string) {
	for i := range len(s) {
		if s[i]&0xC0 == 0x80 {
			continue
		}
		if n--; n < 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}
