// Package lintreport writes down what the linter finds: for a terminal, for a pull request, for a CI system, for an
// editor. It keeps the promises of package report: the same findings give the same bytes, and foreign text is made
// harmless before it is shown.
package lintreport

import (
	"bufio"
	"fmt"
	"io"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
)

// Run is what is known about linting before the first file.
type Run struct {
	Tool     string // mettle's version
	Profile  string
	FailOn   lint.Severity // the least severity that fails
	Baseline bool          // old findings are left out
	Rules    []Rule        // those that hold
	Suppress []lint.Suppression
}

// Rule is a rule with what it weighs in this run.
type Rule struct {
	*lint.Rule
	Level lint.Severity
}

// Writer writes down what linting finds, as it is found.
type Writer interface {
	// File takes what there is to say about the next file. A path comes again
	// at the end when something is wrong with the file and others together.
	File(f lint.Result) error
	// Close ends the report.
	Close(t *lint.Totals) error
}

// Format is a way to write findings down.
type Format struct {
	Name string // what a person types
	Doc  string // one line of help
	New  func(w io.Writer, run Run, o report.Options) Writer
}

// Formats lists every format by name. Adding one is a file and a line here.
var Formats = []Format{
	{"github", "GitHub workflow commands: an annotation at each finding", newGitHub},
	{"json", "one JSON document with exact places, for editors and scripts", newJSON},
	{"junit", "JUnit XML: a test for each file", newJUnit},
	{"markdown", "tables that fit into a pull request comment", newMarkdown},
	{"sarif", "SARIF 2.1.0, for code scanning", newSARIF},
	{"terminal", "the report people read", newTerminal},
}

// Names lists the names of the formats.
func Names() (names []string) {
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// Find gives the format of that name.
func Find(name string) (Format, bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// printer writes text through a buffer that refuses everything after an error and tells it when flushed.
type printer struct{ *bufio.Writer }

func newPrinter(w io.Writer) printer { return printer{bufio.NewWriterSize(w, 64<<10)} }

func (p printer) printf(format string, args ...any) { fmt.Fprintf(p.Writer, format, args...) }
func (p printer) print(s string)                    { _, _ = p.WriteString(s) }

func (p printer) flush() error {
	if err := p.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// document is a printer of JSON that keeps the first value that could not be written.
type document struct {
	printer
	buf []byte
	err error
}

// value writes a value, its lines after the first behind the prefix.
func (d *document) value(prefix string, v any) {
	b, err := report.AppendJSON(d.buf[:0], prefix, v)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("write the report: %w", err)
	}
	_, _ = d.Write(b)
	d.buf = b
}

func (d *document) flush() error {
	if d.err != nil {
		return d.err
	}
	return d.printer.flush()
}
