package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/term"
)

// lintGitHub writes workflow commands: an annotation at each finding and the
// count as a notice.
type lintGitHub struct {
	*printer
	verbose bool
	levels  map[string]int
}

func newLintGitHub(w io.Writer, _ LintRun, o Options) LintWriter {
	return &lintGitHub{printer: newPrinter(w), verbose: o.Verbose, levels: map[string]int{}}
}

func (g *lintGitHub) File(f LintFile) error {
	if f.Err != nil {
		g.annotate("error", []string{"file=" + githubProperty(f.Path), "title=problem"}, f.Err.Error())
	}
	for _, x := range f.shown() {
		props := []string{"file=" + githubProperty(f.Path), fmt.Sprintf("line=%d", x.Line)}
		if x.EndLine == x.Line { // columns are heeded within one line only
			props = append(props, fmt.Sprintf("col=%d", x.Col), fmt.Sprintf("endColumn=%d", max(x.EndCol, x.Col)))
		} else {
			props = append(props, fmt.Sprintf("endLine=%d", x.EndLine))
		}
		g.annotate(githubLevel(x.Severity), append(props, "title="+githubProperty(x.Rule)), x.Message)
	}
	return g.close()
}

func (g *lintGitHub) annotate(level string, props []string, message string) {
	if g.levels[level]++; g.levels[level] <= annotationsMax || g.verbose {
		g.printf("::%s %s::%s\n", level, strings.Join(props, ","), githubData(term.Clip(message, reasonBytes)))
	}
}

func (g *lintGitHub) Close(t *LintTotals) error {
	text := t.String()
	cut := 0
	for _, n := range g.levels {
		cut += max(0, n-annotationsMax)
	}
	if cut > 0 && !g.verbose {
		text += fmt.Sprintf("; %s not shown here", plural(cut, "more annotation"))
	}
	g.printf("::notice title=mettle lint::%s\n", githubData(text))
	return g.close()
}

func githubLevel(s skill.Severity) string {
	switch s {
	case skill.Error:
		return "error"
	case skill.Warning:
		return "warning"
	}
	return "notice"
}
