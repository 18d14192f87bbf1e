package lintreport

import (
	"bytes"
	"io"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
)

// version is that of the JSON document. It grows when a reader of the old
// one would misunderstand the new one; new members do not do that.
const version = 1

// head begins the JSON document.
type head struct {
	Version int           `json:"version"`
	Tool    string        `json:"tool"` // mettle's version
	Profile string        `json:"profile"`
	FailOn  lint.Severity `json:"fail_on"`
}

// problem is a file that could not be looked at.
type problem struct {
	File    string `json:"file"`
	Message string `json:"message"`
}

// jsonReport writes one object, its findings as they come: those of each file in
// order of place, then those that take several files to see. Suppressed ones
// are among them, marked with the reason.
type jsonReport struct {
	document
	written  int // findings
	fixed    []lint.Finding
	problems []problem
}

func newJSON(w io.Writer, run Run, _ report.Options) Writer {
	j := &jsonReport{document: document{printer: newPrinter(w)}}
	j.buf, j.err = report.AppendJSON(nil, "", head{version, run.Tool, run.Profile, run.FailOn})
	_, _ = j.Write(bytes.TrimSuffix(j.buf, []byte("\n}")))
	j.print(",\n  \"findings\": [")
	return j
}

func (j *jsonReport) File(f lint.Result) error {
	for i := range f.Findings {
		j.element(j.written, &f.Findings[i])
		j.written++
	}
	j.fixed = append(j.fixed, f.Fixed...)
	if f.Err != nil {
		j.problems = append(j.problems, problem{f.Path, f.Err.Error()})
	}
	return j.err
}

func (j *jsonReport) Close(t *lint.Totals) error {
	j.end(j.written)
	j.print(",\n  \"fixed\": [")
	for i := range j.fixed {
		j.element(i, &j.fixed[i])
	}
	j.end(len(j.fixed))
	j.print(",\n  \"problems\": [")
	for i := range j.problems {
		j.element(i, &j.problems[i])
	}
	j.end(len(j.problems))
	j.print(",\n  \"summary\": ")
	j.value("  ", t)
	j.print("\n}\n")
	return j.flush()
}

// element writes the i-th element of the open array.
func (j *jsonReport) element(i int, v any) {
	if i > 0 {
		j.print(",")
	}
	j.print("\n    ")
	j.value("    ", v)
}

// end closes an array of n elements.
func (j *jsonReport) end(n int) {
	if n > 0 {
		j.print("\n  ")
	}
	j.print("]")
}
