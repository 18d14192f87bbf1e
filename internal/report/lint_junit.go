package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/term"
)

// lintJUnit writes a test for each file, so that a CI system shows which files
// are clean and which became so. It begins when all is known: the format has
// its counts at the top, and what takes several files to see belongs to one of
// them.
type lintJUnit struct {
	*printer
	run    LintRun
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

func newLintJUnit(w io.Writer, run LintRun, _ Options) LintWriter {
	return &lintJUnit{printer: newPrinter(w), run: run, byPath: map[string]*junitCase{}}
}

func (j *lintJUnit) File(f LintFile) error {
	c := j.byPath[f.Path]
	if c == nil {
		c = &junitCase{path: f.Path}
		j.byPath[f.Path] = c
		j.cases = append(j.cases, c)
	}
	if f.Err != nil {
		c.problem = f.Err.Error()
	}
	for _, x := range f.shown() {
		text := findingLine(&x)
		if !Reaches(x.Severity, j.run.FailOn) {
			c.others = append(c.others, text)
			continue
		}
		if len(c.failures) == 0 {
			c.line, c.rule = x.Line, x.Rule
		}
		c.failures = append(c.failures, text)
	}
	return nil
}

// findingLine is a finding on one line, place first.
func findingLine(f *skill.Finding) string {
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", term.OneLine(f.File, 500), f.Line, f.Col, f.Severity, term.OneLine(f.Message, reasonBytes), f.Rule)
}

func (j *lintJUnit) Close(t *LintTotals) error {
	slices.SortStableFunc(j.cases, func(a, b *junitCase) int { return strings.Compare(a.path, b.path) })
	failed := 0
	for _, c := range j.cases {
		if len(c.failures) > 0 && c.problem == "" {
			failed++
		}
	}
	counts := fmt.Sprintf(`tests="%d" failures="%d" errors="%d" skipped="0"`, len(j.cases), failed, t.Problems)
	j.printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mettle lint\" %s>\n", counts)
	j.printf("  <testsuite name=\"mettle lint (%s)\" %s>\n", xmlAttr(j.run.Profile), counts)
	for _, c := range j.cases {
		j.testcase(c)
	}
	j.print("  </testsuite>\n</testsuites>\n")
	return j.close()
}

func (j *lintJUnit) testcase(c *junitCase) {
	j.printf(`    <testcase name="%s" classname="mettle.lint" time="0" file="%s"`, xmlAttr(c.path), xmlAttr(c.path))
	if c.line > 0 {
		j.printf(` line="%d"`, c.line)
	}
	body := ""
	switch {
	case c.problem != "":
		body = problem("error", "problem", []string{c.problem})
	case len(c.failures) > 0:
		body = problem("failure", c.rule, c.failures)
	}
	body += block("system-out", "", strings.Join(c.others, "\n"))
	if body == "" {
		j.print("/>\n")
		return
	}
	j.print(">\n" + body + "    </testcase>\n")
}
