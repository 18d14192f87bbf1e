package lintreport

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/term"
)

// junit writes a test for each file, so that a CI system shows which files
// are clean and which became so. It begins when all is known: the format has
// its counts at the top, and what takes several files to see belongs to one of
// them.
type junit struct {
	printer
	run    Run
	cases  []*junitCase
	byPath map[string]*junitCase
}

// junitCase is what is kept of a file.
type junitCase struct {
	path     string
	line     int // of the first finding that fails
	rule     string
	failures []string
	others   []string
	problem  string
}

func newJUnit(w io.Writer, run Run, _ report.Options) Writer {
	return &junit{printer: newPrinter(w), run: run, byPath: map[string]*junitCase{}}
}

func (j *junit) File(f lint.Result) error {
	c := j.byPath[f.Path]
	if c == nil {
		c = &junitCase{path: f.Path}
		j.byPath[f.Path] = c
		j.cases = append(j.cases, c)
	}
	if f.Err != nil {
		c.problem = f.Err.Error()
	}
	for _, x := range f.Shown() {
		text := findingLine(&x)
		if !x.Severity.Reaches(j.run.FailOn) {
			c.others = append(c.others, text)
			continue
		}
		if len(c.failures) == 0 {
			c.rule = x.Rule
		}
		if c.line == 0 && x.File == c.path {
			c.line = x.Line
		}
		c.failures = append(c.failures, text)
	}
	return nil
}

// findingLine is a finding on one line, place first.
func findingLine(f *lint.Finding) string {
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", term.OneLine(f.File, 500), f.Line, f.Col, f.Severity, term.OneLine(f.Message, report.ReasonBytes), f.Rule)
}

func (j *junit) Close(t *lint.Totals) error {
	slices.SortStableFunc(j.cases, func(a, b *junitCase) int { return strings.Compare(a.path, b.path) })
	failed := 0
	for _, c := range j.cases {
		if len(c.failures) > 0 && c.problem == "" {
			failed++
		}
	}
	counts := fmt.Sprintf(`tests="%d" failures="%d" errors="%d" skipped="0"`, len(j.cases), failed, t.Problems)
	j.printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mettle lint\" %s>\n", counts)
	j.printf("  <testsuite name=\"mettle lint (%s)\" %s>\n", report.XMLAttr(j.run.Profile), counts)
	for _, c := range j.cases {
		j.testcase(c)
	}
	j.print("  </testsuite>\n</testsuites>\n")
	return j.flush()
}

func (j *junit) testcase(c *junitCase) {
	j.printf(`    <testcase name="%s" classname="mettle.lint" time="0" file="%s"`, report.XMLAttr(c.path), report.XMLAttr(c.path))
	if c.line > 0 {
		j.printf(` line="%d"`, c.line)
	}
	body := ""
	switch {
	case c.problem != "":
		body = report.XMLProblem("error", "problem", []string{c.problem})
	case len(c.failures) > 0:
		body = report.XMLProblem("failure", c.rule, c.failures)
	}
	body += report.XMLBlock("system-out", strings.Join(c.others, "\n"))
	if body == "" {
		j.print("/>\n")
		return
	}
	j.print(">\n" + body + "    </testcase>\n")
}
