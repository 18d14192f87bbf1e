package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Result is what there is to say about one file.
type Result struct {
	Path     string
	Findings []Finding // suppressed ones too
	Fixed    []Finding // fixed before, so not in Findings
	Err      error     // why the file could not be looked at
}

// Shown are the findings that are not suppressed.
func (r *Result) Shown() []Finding {
	if !slices.ContainsFunc(r.Findings, isSuppressed) {
		return r.Findings
	}
	return slices.DeleteFunc(slices.Clone(r.Findings), isSuppressed)
}

func isSuppressed(f Finding) bool { return f.Suppressed != "" }

// Totals counts what was found.
type Totals struct {
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

// Add counts the findings of a file. The file itself is counted by the caller: one comes twice when something is wrong
// with it and others together.
func (t *Totals) Add(r Result) {
	t.Fixed += len(r.Fixed)
	if r.Err != nil {
		t.Problems++
	}
	for i := range r.Findings {
		t.count(&r.Findings[i])
	}
	if len(r.Shown()) > 0 && !t.dirty[r.Path] {
		if t.dirty == nil {
			t.dirty = map[string]bool{}
		}
		t.dirty[r.Path] = true
	}
}

func (t *Totals) count(f *Finding) {
	if isSuppressed(*f) {
		t.Suppressed++
		return
	}
	if f.Fix != nil {
		t.Fixable++
	}
	switch f.Severity {
	case Error:
		t.Errors++
	case Warning:
		t.Warnings++
	default:
		t.Infos++
	}
}

// Failed reports whether there is a finding of a severity that fails, or a worse one. What is printed and the exit code
// both come from here.
func (t *Totals) Failed(least Severity) bool {
	switch least {
	case Info:
		return t.Errors+t.Warnings+t.Infos > 0
	case Warning:
		return t.Errors+t.Warnings > 0
	}
	return t.Errors > 0
}

// Found says how many findings of each severity there are, empty when there are none.
func (t *Totals) Found() string {
	var parts []string
	for _, c := range []struct {
		n int
		s Severity
	}{{t.Errors, Error}, {t.Warnings, Warning}, {t.Infos, Info}} {
		if c.n > 0 {
			parts = append(parts, c.s.Count(c.n))
		}
	}
	return strings.Join(parts, ", ")
}

// Count is a number of findings of this severity.
func (s Severity) Count(n int) string {
	if s == Info {
		return fmt.Sprintf("%d info", n)
	}
	return plural(n, string(s))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Reaches reports whether a severity is another one or worse.
func (s Severity) Reaches(least Severity) bool {
	order := []Severity{Error, Warning, Info, Off}
	return slices.Index(order, s) <= slices.Index(order, least)
}

// String is the whole count in a line.
func (t *Totals) String() string {
	read := t.Files - t.Problems
	s := "no findings in " + plural(read, "file")
	switch found := t.Found(); {
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
