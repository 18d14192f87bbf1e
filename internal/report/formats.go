// Package report turns a finished [eval.Run] into text: for a terminal, for a
// pull request, for a CI system, for a program.
//
// A [Format] is one function from a run to bytes. It is pure: the same run and
// [Options] give the same bytes, with no clock, no terminal and no environment
// in between. Numbers come from the run's summary, the verdict from its gates;
// results are read one at a time and never held, so that a run of a million
// needs no more memory than one of ten.
//
// What a target said is hostile until proven otherwise. Every format for
// people passes foreign text through [Sanitize] first and through its own
// escaper second; the formats for programs escape what a terminal would obey,
// so that printing them is safe as well.
//
// An error is never a failure here: results without a verdict are counted and
// listed beside the failed ones, in every format, and pass rates leave them
// out.
package report

import (
	"io"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Options are what a report may be told about where it goes.
type Options struct {
	Color   bool   // the reader understands ANSI colours
	Width   int    // columns to lay text out in; 0 for 80
	Verbose bool   // everything, where the first few would be shown
	Dir     string // where the run is stored, for reports that people read
}

// Format is a way to write a run down.
type Format struct {
	Name  string // what a person types
	Doc   string // one line of help
	Ext   string // of a file that holds it, with the dot
	Write func(w io.Writer, run *eval.Run, o Options) error
}

// Formats lists every format by name. Adding one is a file and a line here.
var Formats = []Format{
	{"github", "GitHub workflow commands: annotations at the case's line of its suite", ".txt", writeGitHub},
	{"json", "the whole evaluation as one JSON document", ".json", writeJSON},
	{"jsonl", "one JSON object a line for each result", ".jsonl", writeJSONL},
	{"junit", "JUnit XML for CI systems", ".xml", writeJUnit},
	{"markdown", "a summary that fits into a pull request comment", ".md", writeMarkdown},
	{"terminal", "the report people read", ".txt", writeTerminal},
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
