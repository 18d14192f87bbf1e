package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

// LintRun is what is known about linting before the first file.
type LintRun struct {
	Tool     string // mettle's version
	Profile  string
	FailOn   skill.Severity // the least severity that fails
	Baseline bool           // old findings are left out
	Rules    []LintRule     // those that hold
	Suppress []skill.Suppression
}

// LintRule is a rule with what it weighs in this run.
type LintRule struct {
	*skill.Rule
	Level skill.Severity
}

// LintFile is what there is to say about one file.
type LintFile struct {
	Path     string
	Findings []skill.Finding // suppressed ones too
	Fixed    []skill.Finding // mended before, so not in Findings
	Err      error           // why the file could not be looked at
}

// shown are the findings that nobody wanted silent.
func (f *LintFile) shown() []skill.Finding {
	if !slices.ContainsFunc(f.Findings, isSuppressed) {
		return f.Findings
	}
	return slices.DeleteFunc(slices.Clone(f.Findings), isSuppressed)
}

func isSuppressed(f skill.Finding) bool { return f.Suppressed != "" }

// LintTotals counts what was found.
type LintTotals struct {
	Files      int `json:"files"`    // those with problems too
	Problems   int `json:"problems"` // files that could not be read or written
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Infos      int `json:"infos"`
	Fixable    int `json:"fixable"`
	Fixed      int `json:"fixed"`
	Suppressed int `json:"suppressed"`
	Baseline   int `json:"baseline"` // left out because the baseline has them

	dirty map[string]bool // files with findings
}

// Add counts the findings of a file. The file itself is counted by the caller:
// one comes twice when something is wrong with it and others together.
func (t *LintTotals) Add(f LintFile) {
	t.Fixed += len(f.Fixed)
	if f.Err != nil {
		t.Problems++
	}
	for i := range f.Findings {
		t.count(&f.Findings[i])
	}
	if len(f.shown()) > 0 && !t.dirty[f.Path] {
		if t.dirty == nil {
			t.dirty = map[string]bool{}
		}
		t.dirty[f.Path] = true
	}
}

func (t *LintTotals) count(f *skill.Finding) {
	if isSuppressed(*f) {
		t.Suppressed++
		return
	}
	if f.Fix != nil {
		t.Fixable++
	}
	switch f.Severity {
	case skill.Error:
		t.Errors++
	case skill.Warning:
		t.Warnings++
	default:
		t.Infos++
	}
}

// Failed tells whether there is a finding of a severity that fails, or a worse
// one. What is printed and the exit code both come from here.
func (t *LintTotals) Failed(least skill.Severity) bool {
	switch least {
	case skill.Info:
		return t.Errors+t.Warnings+t.Infos > 0
	case skill.Warning:
		return t.Errors+t.Warnings > 0
	}
	return t.Errors > 0
}

// Reaches tells whether a severity is another one or worse.
func Reaches(s, least skill.Severity) bool {
	order := []skill.Severity{skill.Error, skill.Warning, skill.Info, skill.Off}
	return slices.Index(order, s) <= slices.Index(order, least)
}

// found says how many findings of each severity there are.
func (t *LintTotals) found() string {
	var parts []string
	for _, c := range []struct {
		n int
		s skill.Severity
	}{{t.Errors, skill.Error}, {t.Warnings, skill.Warning}, {t.Infos, skill.Info}} {
		if c.n > 0 {
			parts = append(parts, countOf(c.n, c.s))
		}
	}
	return strings.Join(parts, ", ")
}

// countOf is a number of findings of one severity.
func countOf(n int, s skill.Severity) string {
	if s == skill.Info {
		return fmt.Sprintf("%d info", n)
	}
	return plural(n, string(s))
}

// String is the whole count in a line.
func (t *LintTotals) String() string {
	read := t.Files - t.Problems
	s := "no findings in " + plural(read, "file")
	switch found := t.found(); {
	case found == "":
	case len(t.dirty) >= read:
		s = found + " in " + plural(len(t.dirty), "file")
	default:
		s = fmt.Sprintf("%s in %d of %s", found, len(t.dirty), plural(read, "file"))
	}
	for _, c := range []struct {
		n    int
		text string
	}{{t.Fixable, "can be fixed by --fix"}, {t.Fixed, "fixed"}, {t.Suppressed, "suppressed"}, {t.Baseline, "in the baseline"}} {
		if c.n > 0 {
			s += fmt.Sprintf("; %d %s", c.n, c.text)
		}
	}
	if t.Problems > 0 {
		s += fmt.Sprintf("; %s could not be read or written", plural(t.Problems, "file"))
	}
	return s
}

// LintWriter writes down what linting finds, as it is found.
type LintWriter interface {
	// File takes what there is to say about the next file. A path comes again
	// at the end when something is wrong with the file and others together.
	File(f LintFile) error
	// Close ends the report.
	Close(t *LintTotals) error
}

// LintFormat is a way to write findings down.
type LintFormat struct {
	Name string // what a person types
	Doc  string // one line of help
	New  func(w io.Writer, run LintRun, o Options) LintWriter
}

// LintFormats lists every format by name. Adding one is a file and a line here.
var LintFormats = []LintFormat{
	{"github", "GitHub workflow commands: an annotation at each finding", newLintGitHub},
	{"json", "one JSON document with exact places, for editors and scripts", newLintJSON},
	{"junit", "JUnit XML: a test for each file", newLintJUnit},
	{"markdown", "tables that fit into a pull request comment", newLintMarkdown},
	{"sarif", "SARIF 2.1.0, for code scanning", newLintSARIF},
	{"terminal", "the report people read", newLintTerminal},
}

// FindLint gives the format of that name.
func FindLint(name string) (LintFormat, bool) {
	for _, f := range LintFormats {
		if f.Name == name {
			return f, true
		}
	}
	return LintFormat{}, false
}
