package lintreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/term"
)

// github writes workflow commands: an annotation at each finding and the
// count as a notice.
type github struct {
	printer
	verbose bool
	levels  map[string]int
}

func newGitHub(w io.Writer, _ Run, o report.Options) Writer {
	return &github{printer: newPrinter(w), verbose: o.Verbose, levels: map[string]int{}}
}

func (g *github) File(f lint.Result) error {
	if f.Err != nil {
		g.annotate("error", []string{"file=" + report.GitHubProperty(f.Path), "title=problem"}, f.Err.Error())
	}
	for _, x := range f.Shown() {
		props := []string{"file=" + report.GitHubProperty(x.File), fmt.Sprintf("line=%d", x.Line)}
		if x.EndLine == x.Line { // columns are heeded within one line only
			props = append(props, fmt.Sprintf("col=%d", x.Col), fmt.Sprintf("endColumn=%d", max(x.EndCol, x.Col)))
		} else {
			props = append(props, fmt.Sprintf("endLine=%d", x.EndLine))
		}
		g.annotate(githubLevel(x.Severity), append(props, "title="+report.GitHubProperty(x.Rule)), x.Message)
	}
	return g.flush()
}

func (g *github) annotate(level string, props []string, message string) {
	if g.levels[level]++; g.levels[level] <= report.AnnotationsMax || g.verbose {
		g.printf("::%s %s::%s\n", level, strings.Join(props, ","), report.GitHubData(term.Clip(message, report.ReasonBytes)))
	}
}

func (g *github) Close(t *lint.Totals) error {
	text := t.String()
	cut := 0
	for _, n := range g.levels {
		cut += max(0, n-report.AnnotationsMax)
	}
	if cut > 0 && !g.verbose {
		text += fmt.Sprintf("; %s not shown here", report.Plural(cut, "more annotation"))
	}
	g.printf("::notice title=mettle lint::%s\n", report.GitHubData(text))
	return g.flush()
}

func githubLevel(s lint.Severity) string {
	switch s {
	case lint.Error:
		return "error"
	case lint.Warning:
		return "warning"
	}
	return "notice"
}
