package report

import (
	"fmt"
	"io"

	"github.com/mettle-eval/mettle/internal/skill"
)

// lintVersion is that of the JSON document. It grows when a reader of the old
// one would misunderstand the new one; new members do not do that.
const lintVersion = 1

// lintHead begins the JSON document.
type lintHead struct {
	Version int            `json:"version"`
	Tool    string         `json:"tool"` // mettle's version
	Profile string         `json:"profile"`
	FailOn  skill.Severity `json:"fail_on"`
}

// lintProblem is a file that could not be looked at.
type lintProblem struct {
	File    string `json:"file"`
	Message string `json:"message"`
}

// lintJSON writes one object, its findings as they come: those of each file in
// order of place, then those that take several files to see. Suppressed ones
// are among them, marked with the reason.
type lintJSON struct {
	*jsonWriter
	findings *jsonList
	fixed    []skill.Finding
	problems []lintProblem
	err      error
}

func newLintJSON(w io.Writer, run LintRun, _ Options) LintWriter {
	j := &lintJSON{jsonWriter: newJSONWriter(w)}
	j.err = j.open(lintHead{lintVersion, run.Tool, run.Profile, run.FailOn})
	j.findings = j.list("findings")
	return j
}

func (j *lintJSON) File(f LintFile) error {
	for i := range f.Findings {
		j.add(j.findings, &f.Findings[i])
	}
	j.fixed = append(j.fixed, f.Fixed...)
	if f.Err != nil {
		j.problems = append(j.problems, lintProblem{f.Path, f.Err.Error()})
	}
	return j.err
}

func (j *lintJSON) Close(t *LintTotals) error {
	j.findings.end()
	fixed := j.list("fixed")
	for i := range j.fixed {
		j.add(fixed, &j.fixed[i])
	}
	fixed.end()
	problems := j.list("problems")
	for i := range j.problems {
		j.add(problems, &j.problems[i])
	}
	problems.end()
	b, err := j.encode("  ", t)
	if err != nil && j.err == nil {
		j.err = fmt.Errorf("write the report: %w", err)
	}
	j.printf(",\n  \"summary\": %s\n}\n", b)
	if j.err != nil {
		return j.err
	}
	return j.close()
}

func (j *lintJSON) add(l *jsonList, v any) {
	b, err := j.encode("    ", v)
	if err != nil && j.err == nil {
		j.err = fmt.Errorf("write a finding: %w", err)
	}
	l.add(b)
}
