package eval

import (
	"encoding/json"
	"iter"
	"time"
)

// FormatVersion is the version of the run folder's files. It grows when a
// reader of the old ones could misread the new.
const FormatVersion = 1

// RunStatus says how far a run has come.
type RunStatus string

// A run is running until its last result is in. A stopped run ended early by
// its own rule (fail-fast, too many errors in a row); an interrupted one by a
// person. Both, and one that was killed while running, can be resumed.
const (
	Running     RunStatus = "running"
	Done        RunStatus = "done"
	Stopped     RunStatus = "stopped"
	Interrupted RunStatus = "interrupted"
)

// Header says what a run is, without its results.
type Header struct {
	ID       string                       `json:"id"`
	Format   int                          `json:"format"`
	Tool     string                       `json:"tool"` // mettle's version
	Status   RunStatus                    `json:"status"`
	Why      string                       `json:"why,omitempty"` // why it was stopped
	Started  time.Time                    `json:"started"`
	Finished time.Time                    `json:"finished,omitzero"`
	Project  string                       `json:"project,omitempty"` // the one project asked for
	Suites   []Suite                      `json:"suites"`
	Gates    []Gate                       `json:"gates,omitempty"` // of the whole run
	Targets  map[string]map[string]string `json:"targets,omitempty"`
	Models   map[string]string            `json:"models,omitempty"`   // by role: answer, judge
	Prompts  map[string]string            `json:"prompts,omitempty"`  // digest by name
	Checkers map[string]string            `json:"checkers,omitempty"` // versions of the programs that check code, by name
	Planned  int                          `json:"planned"`            // results a complete run has
	Trials   int                          `json:"trials,omitempty"`
	Parent   string                       `json:"parent,omitempty"` // the run whose responses were graded again
	Git      *Git                         `json:"git,omitempty"`
	Options  json.RawMessage              `json:"options,omitempty"` // how it was asked for, to resume it
}

// Git is the revision of the folder the run was started in.
type Git struct {
	Revision string `json:"revision"`
	Dirty    bool   `json:"dirty,omitempty"`
}

// Run is what reports, gates and comparisons look at. Results are not held:
// they are read from where they are kept, in suite order, each with its case.
type Run struct {
	Header
	Summary  *Summary      `json:"summary,omitempty"`
	Outcomes []GateOutcome `json:"gate_outcomes,omitempty"`
	Verdict  Verdict       `json:"verdict,omitempty"`
	Cases    []Verdicts    `json:"cases,omitempty"` // the compact outcome of each case

	Results func() iter.Seq2[*Result, error] `json:"-"`
}

// Sink receives a run as it happens, from one goroutine. Results come in
// batches in order of completion; the first sink is the store, so that
// whatever a later sink counts or prints is on disk already.
type Sink interface {
	Start(run *Run) error
	Results(batch []*Result) error
	Finish(run *Run) error
}
