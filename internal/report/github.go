package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// annotationsMax bounds the annotations of a class. GitHub shows ten of a kind
// for a step and fifty for a job, so that more would be seen by nobody.
const annotationsMax = 50

// writeGitHub writes workflow commands: an error at the case's line for each
// failed case, a warning for what has no verdict and for warnings, and the
// verdict as a notice. Every line it writes is one of its own commands.
func writeGitHub(w io.Writer, run *eval.Run, o Options) error {
	run, err := completed(run)
	if err != nil {
		return err
	}
	p := newPrinter(w)
	limit := annotationsMax
	if o.Verbose {
		limit = math.MaxInt
	}
	var d digest
	err = d.read(run, limit, func(t trouble, r *eval.Result, reasons []string) {
		p.print(annotation(t, newItem(r, reasons, 0)))
	})
	if err != nil {
		return err
	}
	cut := 0
	for _, n := range d.counts {
		cut += max(0, n-limit)
	}
	p.print(notice(run, cut))
	return p.close()
}

func annotation(t trouble, it item) string {
	level, note := "warning", ""
	switch t {
	case failures:
		level = "error"
	case faults:
		note = "no answer: "
	case undecided:
		note = "unscored: "
	}
	var props []string
	if it.pos.File != "" {
		props = append(props, "file="+githubProperty(it.pos.File))
		if it.pos.Line > 0 {
			props = append(props, fmt.Sprintf("line=%d", it.pos.Line))
		}
		if it.pos.Line > 0 && it.pos.Col > 0 {
			props = append(props, fmt.Sprintf("col=%d", it.pos.Col))
		}
	}
	props = append(props, "title="+githubProperty(it.heading()))
	return fmt.Sprintf("::%s %s::%s\n", level, strings.Join(props, ","), githubMessage(note, it.reasons))
}

func notice(run *eval.Run, cut int) string {
	s := run.Summary
	lines := []string{verdictLine(run), cmp.Or(outcomes(s.Counts), "no results")}
	if s.Judged() > 0 {
		lines[1] += "; pass rate " + passRate(s.Counts)
	}
	for _, k := range gradedScores(run) {
		lines = append(lines, fmt.Sprintf("%s %s, mean of %s", term.OneLine(k.Name, 200), scoreMean(k), scoreCount(k)))
	}
	for _, l := range usageLines(run) {
		lines = append(lines, l[0]+": "+l[1])
	}
	for _, k := range retrieval(run) {
		lines = append(lines, fmt.Sprintf("%s %s, mean of %s", k.Name, retrievalMean(k), retrievalCount(k)))
	}
	if cut > 0 {
		lines = append(lines, fmt.Sprintf("%s not shown here", plural(cut, "more annotation")))
	}
	return fmt.Sprintf("::notice title=%s::%s\n", githubProperty(title(run)+" - Evaluation Report"), githubMessage("", lines))
}

// githubMessage is text after the second pair of colons, a line for each part.
func githubMessage(note string, parts []string) string {
	out := make([]string, len(parts))
	for i, s := range parts {
		out[i] = githubData(note + s)
	}
	return strings.Join(out, "%0A")
}

var (
	githubDataEscaper     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubPropertyEscaper = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func githubData(s string) string     { return githubDataEscaper.Replace(term.Sanitize(s)) }
func githubProperty(s string) string { return githubPropertyEscaper.Replace(term.Sanitize(s)) }
