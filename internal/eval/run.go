package eval

import (
	"encoding/json"
	"iter"
	"slices"
	"time"
)

// FormatVersion is the version of the run folder's files. It grows when a
// reader of the old ones could misread the new.
const FormatVersion = 2

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
	Models   Models                       `json:"models,omitempty"`
	Checkers map[string]string            `json:"checkers,omitempty"` // version of each external checker of code, by name
	Kinds    map[string]KindInfo          `json:"kinds,omitempty"`    // of the checks
	Prompts  map[string]string            `json:"prompts,omitempty"`  // digest by name
	Planned  int                          `json:"planned"`            // results a complete run has
	Trials   int                          `json:"trials,omitempty"`
	Parent   string                       `json:"parent,omitempty"` // the run whose responses were graded again
	Git      *Git                         `json:"git,omitempty"`
	Notes    []string                     `json:"notes,omitempty"`   // what went wrong beside the results
	Options  json.RawMessage              `json:"options,omitempty"` // how it was asked for, to resume it
}

// ModelUse is a model that a run asks: for the answers of a target, or as the
// judge of checks.
type ModelUse struct {
	Role   string `json:"role"` // [AnswerRole] or [JudgeRole]
	Model  string `json:"model"`
	Target string `json:"target,omitempty"` // whose answers
}

// Models are the models of a run.
type Models []ModelUse

// UnmarshalJSON also reads what format 1 has: one model by role.
func (m *Models) UnmarshalJSON(b []byte) error {
	var byRole map[string]string
	if json.Unmarshal(b, &byRole) == nil {
		*m = nil
		for _, role := range []string{AnswerRole, JudgeRole} {
			if byRole[role] != "" {
				*m = append(*m, ModelUse{Role: role, Model: byRole[role]})
			}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]ModelUse)(m))
}

// Of lists the models of a role, each once.
func (m Models) Of(role string) (names []string) {
	for _, use := range m {
		if use.Role == role && !slices.Contains(names, use.Model) {
			names = append(names, use.Model)
		}
	}
	return names
}

// The roles of models.
const (
	AnswerRole = "answer"
	JudgeRole  = "judge"
)

// KindInfo is what reports need to know of a kind of checks.
type KindInfo struct {
	Graded  bool   `json:"graded,omitempty"`  // its values say more than pass and fail
	Section string `json:"section,omitempty"` // the part of a report that shows its mean, such as retrieval
	Order   int    `json:"order,omitempty"`   // in that section
}

// RetrievalSection is the part of a report with the metrics of ranked results.
const RetrievalSection = "retrieval"

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
	Cases    []Verdicts    `json:"cases,omitempty"` // the compact outcome of each case; last, so that a reader can stop before it

	Results func() iter.Seq2[*Result, error] `json:"-"`

	// Notable is Results that may leave out those with a status that skip
	// accepts, unless a check of theirs only warns: what is not shown need not be
	// decoded. It is nil when nothing can be left out.
	Notable func(skip func(Status) bool) iter.Seq2[*Result, error] `json:"-"`

	Result func(id Identity) (*Result, error) `json:"-"` // nil when the run does not have it

	// Damage says what could not be read of a stored run: it is left out of what
	// the functions above give, and known once they have read it. Nil for a run
	// that is not stored.
	Damage func() []string `json:"-"`
}
