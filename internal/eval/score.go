package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Status is the outcome of a check or a case.
type Status string

// A check passes, fails, stays unscored, or is skipped when it does not apply
// or what it needs was not asked for. A case can also be an error, when no
// answer could be had.
const (
	Pass     Status = "pass"
	Fail     Status = "fail"
	Unscored Status = "unscored"
	Error    Status = "error"
	Skip     Status = "skip"
)

// Statuses lists every status in the order reports show them.
var Statuses = []Status{Pass, Fail, Unscored, Error, Skip}

// Check finds a status that is not one of [Statuses].
func (s Status) Check() error {
	if !slices.Contains(Statuses, s) {
		return fmt.Errorf("unknown status %q", string(s))
	}
	return nil
}

// Score is the outcome of one check.
type Score struct {
	Key      string
	Kind     string
	Status   Status
	Value    float64 // 0 to 1; only a score that counts has one, see [Score.Counts]
	Weight   float64
	Severity Severity
	Reason   string // one line: what was seen, what was wanted
	Details  map[string]any
	Findings []Finding
	Checks   []Score // of the checks inside this one
	Usage    *Usage
	Duration time.Duration
	Mode     string
	Implicit bool
	Negated  bool   // the check said not: the value is turned round
	Stop     string // why the run is to end: a result with such a score is not kept
	Missing  bool   // it was skipped because what it needs was not configured; not stored
}

// stopOf finds what ends the run in an error.
func stopOf(err error) *Stop {
	var s *Stop
	if errors.As(err, &s) {
		return s
	}
	return nil
}

// scoreJSON is a score on disk and in reports: a value only where there is one,
// and the duration in milliseconds.
type scoreJSON struct {
	Key        string         `json:"key"`
	Kind       string         `json:"kind"`
	Status     Status         `json:"status"`
	Value      *float64       `json:"value,omitempty"`
	Weight     float64        `json:"weight,omitempty"`
	Severity   Severity       `json:"severity,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	Findings   []Finding      `json:"findings,omitempty"`
	Checks     []Score        `json:"checks,omitempty"`
	Usage      *Usage         `json:"usage,omitempty"`
	DurationMS float64        `json:"duration_ms,omitempty"`
	Mode       string         `json:"mode,omitempty"`
	Implicit   bool           `json:"implicit,omitempty"`
	Negated    bool           `json:"negated,omitempty"`
	Stop       string         `json:"stop,omitempty"`
}

func (j *scoreJSON) score() Score {
	s := Score{
		j.Key, j.Kind, j.Status, 0, j.Weight, j.Severity, j.Reason, j.Details, j.Findings, j.Checks,
		j.Usage, fromMillis(j.DurationMS), j.Mode, j.Implicit, j.Negated, j.Stop, false,
	}
	if j.Value != nil {
		s.Value = *j.Value
	}
	return s
}

// MarshalJSON writes the score; one that does not count has no value.
func (s Score) MarshalJSON() ([]byte, error) {
	return marshal(func(e *Encoder) { e.Score(&s) })
}

// UnmarshalJSON reads a score back.
func (s *Score) UnmarshalJSON(b []byte) error {
	var j scoreJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = j.score()
	return nil
}

// PassIf is a full or empty score with a reason.
func PassIf(ok bool, format string, args ...any) Score {
	s := Score{Status: Fail, Reason: fmt.Sprintf(format, args...)}
	if ok {
		s.Status, s.Value = Pass, 1
	}
	return s
}

// Skipped is the score of a check that does not apply, or whose judge was not
// asked for. It counts nowhere, and is shown.
func Skipped(format string, args ...any) Score {
	return Score{Status: Skip, Reason: fmt.Sprintf(format, args...)}
}

// Counts tells whether the score has a value that can be weighed.
func (s Score) Counts() bool { return s.Status == Pass || s.Status == Fail }

// Detail adds a machine-readable fact to the score and returns it.
func (s Score) Detail(key string, v any) Score {
	details := make(map[string]any, len(s.Details)+1)
	for k, old := range s.Details {
		details[k] = old
	}
	details[key] = v
	s.Details = details
	return s
}

// Grade runs the check: it shows the grader the part of the response asked
// for, turns an error into an unscored score, applies not once, and fills in
// what the check knows. A grader that panics is a grader that could not decide.
func (c *Check) Grade(ctx context.Context, a *Attempt) Score {
	if c.Skip != "" {
		s := Skipped("%s", c.Skip)
		s.Missing = true
		return c.fill(s)
	}
	start, own := a.Env.now(), a.within(c.Key, a.Response.as(c.Of))
	s, err := safely(ctx, c.Grader, own)
	if err == nil {
		err = s.sound()
	}
	if err != nil {
		s = Score{Status: Unscored, Reason: err.Error(), Details: s.Details, Findings: s.Findings, Checks: s.Checks, Usage: s.Usage}
		if stop := stopOf(err); stop != nil {
			s.Stop = stop.Why
		}
	}
	s.Value = math.Round(s.Value*1e9) / 1e9 // 0.3 + 0.15 + 0.4 is 0.85, not a hair beside it
	if c.Not {
		s = s.negated()
	}
	s.Duration = a.Env.now().Sub(start)
	own.leave(&s)
	return c.fill(s)
}

// fill puts what the check knows into its score.
func (c *Check) fill(s Score) Score {
	s.Key, s.Kind, s.Weight, s.Severity = c.Key, c.Kind, c.Weight, c.Severity
	s.Implicit, s.Negated = c.Implicit, c.Not
	if (s.Status == Fail || s.Status == Unscored) && s.Mode == "" {
		s.Mode = c.Mode
	}
	return s
}

// sound finds a score that is none: a grader with a mistake must not decide.
func (s Score) sound() error {
	switch {
	case s.Status == Skip:
		return nil
	case s.Status != Pass && s.Status != Fail:
		return fmt.Errorf("the grader gave the status %q", s.Status)
	case math.IsNaN(s.Value) || s.Value < 0 || s.Value > 1:
		return fmt.Errorf("the grader gave the value %v, which is not from 0 to 1", s.Value)
	}
	return nil
}

// as is the response with the asked-for part as its text.
func (r *Response) as(p Part) *Response {
	switch {
	case p == RawPart && r.Raw != "":
		return r.withText(r.Raw)
	case p == StructuredPart:
		return r.withText(string(r.Structured))
	case p == SourcedPart && len(r.Sources) > 0:
		var b strings.Builder
		b.WriteString(r.Text + "\n\nSources:\n")
		for _, s := range r.Sources {
			b.WriteString(strings.TrimSpace(s.Title+" "+s.URL) + "\n")
		}
		return r.withText(b.String())
	}
	return r
}

func (r *Response) withText(text string) *Response {
	part := *r
	part.Text = text
	return &part
}

func safely(ctx context.Context, g Grader, a *Attempt) (s Score, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = Score{}, fmt.Errorf("the grader broke: %v", p)
		}
	}()
	return g.Grade(ctx, a)
}

func (s Score) negated() Score {
	switch s.Status {
	case Pass:
		s.Status, s.Value = Fail, 1-s.Value
		s.Reason += ", which must not be"
	case Fail:
		s.Status, s.Value = Pass, 1-s.Value
	}
	return s
}

// Rule is the check as its suite states it: the kind under "type", then the
// kind's own parameters, and not, of and the rest where they differ from the
// default.
func (c *Check) Rule() json.RawMessage {
	if c.rule != nil {
		return c.rule
	}
	var params json.RawMessage
	if c.Grader != nil {
		if b, err := json.Marshal(c.Grader); err == nil {
			params = b
		}
	}
	head, _ := json.Marshal(struct {
		Type string `json:"type"`
		Not  bool   `json:"not,omitempty"`
		Of   Part   `json:"of,omitempty"`
	}{c.Kind, c.Not, c.Of})
	return joinObjects(head, params)
}

// joinObjects puts the members of two JSON objects into one, a's first.
func joinObjects(a, b json.RawMessage) json.RawMessage {
	if len(b) <= 2 || b[0] != '{' {
		return a
	}
	if len(a) <= 2 {
		return b
	}
	out := make(json.RawMessage, 0, len(a)+len(b))
	out = append(out, a[:len(a)-1]...)
	out = append(out, ',')
	return append(out, b[1:]...)
}

type checkJSON struct {
	Key      string          `json:"key"`
	Kind     string          `json:"kind"`
	Weight   float64         `json:"weight,omitempty"`
	Severity Severity        `json:"severity,omitempty"`
	Mode     string          `json:"mode,omitempty"`
	Implicit bool            `json:"implicit,omitempty"`
	Skip     string          `json:"skip,omitempty"`
	Rule     json.RawMessage `json:"rule,omitempty"`
	Pos      Pos             `json:"pos,omitzero"`
}

// MarshalJSON writes the check with its rule spelled out, so that a stored run
// says by itself what was asked.
func (c *Check) MarshalJSON() ([]byte, error) {
	return marshal(func(e *Encoder) { e.check(c, c.Pos) })
}

// UnmarshalJSON reads a check of a stored run; it has a rule but no grader.
func (c *Check) UnmarshalJSON(b []byte) error {
	var j checkJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*c = Check{Key: j.Key, Kind: j.Kind, Weight: j.Weight, Severity: j.Severity, Mode: j.Mode, Implicit: j.Implicit, Skip: j.Skip, rule: j.Rule, Pos: j.Pos}
	var flags struct {
		Not bool `json:"not"`
		Of  Part `json:"of"`
	}
	if len(j.Rule) > 0 {
		if err := json.Unmarshal(j.Rule, &flags); err != nil {
			return err
		}
	}
	c.Not, c.Of = flags.Not, flags.Of
	return nil
}
