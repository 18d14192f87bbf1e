package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// junitAnswer bounds the part of an answer that a JUnit file carries.
const junitAnswer = 4000

// writeJUnit writes one testsuite for each suite. A failure is a verdict; what
// has none, for want of an answer or of a decision, is an error.
func writeJUnit(w io.Writer, run *eval.Run, o Options) error {
	run, err := completed(run)
	if err != nil {
		return err
	}
	j := &junit{newPrinter(w), run, o.Verbose}
	j.print(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	j.open("<testsuites", "mettle", run.Summary.Counts)
	suite, open := "", false
	for r, err := range each(run) {
		if err != nil {
			return err
		}
		if !open || r.Case.Suite != suite {
			if open {
				j.print("  </testsuite>\n")
			}
			j.open("  <testsuite", suiteName(r.Case.Suite), j.counts(r.Case.Suite))
			if !open {
				j.properties()
			}
			suite, open = r.Case.Suite, true
		}
		j.testcase(r)
	}
	if open {
		j.print("  </testsuite>\n")
	}
	j.print("</testsuites>\n")
	return j.close()
}

type junit struct {
	*printer
	run     *eval.Run
	verbose bool
}

func suiteName(name string) string {
	if name == "" {
		return "mettle"
	}
	return name
}

// counts are those of a suite. The summary has none for cases without one, but
// has all the others.
func (j *junit) counts(suite string) eval.Counts {
	rest := j.run.Summary.Counts
	for _, g := range j.run.Summary.BySuite {
		if g.Name == suite {
			return g.Counts
		}
		rest.Total -= g.Total
		rest.Failed -= g.Failed
		rest.Errors -= g.Errors
		rest.Unscored -= g.Unscored
		rest.Skipped -= g.Skipped
	}
	return rest
}

func (j *junit) open(tag, name string, c eval.Counts) {
	j.printf(`%s name="%s" tests="%d" failures="%d" errors="%d" skipped="%d"`,
		tag, xmlAttr(name), c.Total, c.Failed, c.Errors+c.Unscored, c.Skipped)
	if strings.TrimSpace(tag) == "<testsuite" {
		j.printf(` timestamp="%s"`, j.run.Started.UTC().Format("2006-01-02T15:04:05"))
	} else if d := j.run.Finished.Sub(j.run.Started); !j.run.Finished.IsZero() && d >= 0 {
		j.printf(` time="%s"`, strconv.FormatFloat(d.Seconds(), 'f', 3, 64))
	}
	j.print(">\n")
}

// properties say what holds for the whole run. They stand in the first suite,
// because readers of the format look for them in a suite only.
func (j *junit) properties() {
	j.print("    <properties>\n")
	property := func(name, value string) {
		j.printf("      <property name=\"%s\" value=\"%s\"/>\n", xmlAttr(name), xmlAttr(value))
	}
	property("mettle.run", j.run.ID)
	property("mettle.verdict", verdictLine(j.run))
	for _, k := range gradedScores(j.run) {
		property("mettle.score."+k.Name, scoreMean(k)+" mean of "+scoreCount(k))
	}
	for _, l := range usageLines(j.run) {
		property("mettle.model."+l[0], l[1])
	}
	for _, k := range retrieval(j.run) {
		property("mettle.retrieval."+k.Name, retrievalMean(k)+" mean of "+retrievalCount(k))
	}
	j.print("    </properties>\n")
}

func (j *junit) testcase(r *eval.Result) {
	c := r.Case
	j.printf(`    <testcase name="%s" classname="%s" time="%s" assertions="%d"`,
		xmlAttr(newItem(r, nil, 0).heading()), xmlAttr(suiteName(c.Suite)),
		strconv.FormatFloat(r.Duration.Seconds(), 'f', 3, 64), len(r.Scores))
	if c.Pos.File != "" {
		j.printf(` file="%s"`, xmlAttr(c.Pos.File))
	}
	if c.Pos.Line > 0 {
		j.printf(` line="%d"`, c.Pos.Line)
	}
	body := outcome(r)
	if r.Status != eval.Pass || j.verbose {
		body += block("system-out", "", excerpt(r.Response, junitAnswer))
	}
	body += block("system-err", "", strings.Join(warnings.of(r), "\n"))
	if body == "" {
		j.print("/>\n")
		return
	}
	j.print(">\n" + body + "    </testcase>\n")
}

func outcome(r *eval.Result) string {
	switch r.Status {
	case eval.Fail:
		return problem("failure", r.Mode(), failures.of(r))
	case eval.Unscored:
		return problem("error", "unscored", undecided.of(r))
	case eval.Error:
		class := eval.TransportFault
		if r.Fault != nil {
			class = r.Fault.Class
		}
		return problem("error", class, faults.of(r))
	case eval.Skip:
		why := "skipped"
		if r.Fault != nil {
			why = r.Fault.Message
		}
		return fmt.Sprintf("      <skipped message=\"%s\"/>\n", xmlAttr(why))
	}
	return ""
}

// problem names the first reason where a list of tests shows it and all of
// them where there is room.
func problem(tag, kind string, reasons []string) string {
	message := term.Clip(reasons[0], 300)
	if n := len(reasons) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d more)", n)
	}
	return block(tag, fmt.Sprintf(` message="%s" type="%s"`, xmlAttr(message), xmlAttr(kind)), strings.Join(reasons, "\n"))
}

func block(tag, attrs, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("      <%s%s>%s</%s>\n", tag, attrs, xmlText(text), tag)
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

// xmlAttr is foreign text inside a quoted attribute, on one line.
func xmlAttr(s string) string { return xmlEscaper.Replace(term.OneLine(s, reasonBytes+200)) }

// xmlText is foreign text between tags. What sanitizing leaves is a subset of
// the characters XML 1.0 allows, and > is escaped, so that no "]]>" remains.
func xmlText(s string) string { return xmlEscaper.Replace(term.SanitizeBlock(s)) }
