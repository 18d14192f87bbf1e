package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Result is one case put to one target, one time.
type Result struct {
	Case     *Case
	Target   string
	Arm      string // empty unless the run compares arms
	Trial    int    // from 1
	Status   Status
	Value    float64 // weighted mean of the scores that were scored
	Started  time.Time
	Duration time.Duration // target and graders together
	Response *Response     // nil when no answer could be had
	Scores   []Score       // in check order
	Fault    *Fault        // why there is no answer, or why the case was skipped
	Events   []Event       // the calls that were made
	Notes    []string      // what went wrong beside the verdict
}

// What listeners get of an answer that is large, and from which size on it is.
const (
	largeAnswer = 1 << 20
	shownAnswer = 64 << 10
)

// Large tells whether a result takes much memory.
func (r *Result) Large() bool { return r.Response != nil && r.Response.size() > largeAnswer }

func (r *Response) size() int {
	n := len(r.Text) + len(r.Raw) + len(r.Structured)
	if r.Exchange != nil {
		n += len(r.Exchange.Request) + len(r.Exchange.Response)
	}
	return n
}

// shed lets go of most of a large answer, once it is in the journal: many
// results may wait to be synced and told to listeners.
func (r *Result) shed() {
	if !r.Large() {
		return
	}
	rest := *r.Response
	rest.Text = strings.Clone(rest.Text[:min(len(rest.Text), shownAnswer)])
	rest.Raw, rest.Structured, rest.Exchange = "", nil, nil
	r.Response = &rest
}

// Identity says which result of the run it is.
func (r *Result) Identity() Identity {
	return Identity{Suite: r.Case.Suite, Case: r.Case.ID, Arm: r.Arm, Trial: r.Trial}
}

// Check finds what no result has: a stored one with a status that counts nowhere
// would make a failed run pass.
func (r *Result) Check() error {
	if r.Trial < 1 {
		return fmt.Errorf("trial %d, want 1 or more", r.Trial)
	}
	return cmp.Or(r.Status.Check(), checkScores(r.Scores))
}

func checkScores(scores []Score) error {
	for i := range scores {
		s := &scores[i]
		err := cmp.Or(s.Status.Check(), checkScores(s.Checks))
		switch {
		case err != nil:
		case s.Status == Error:
			err = errors.New("a check cannot have the status error")
		case s.Counts() && (s.Value < 0 || s.Value > 1):
			err = fmt.Errorf("value %v, want 0 to 1", s.Value)
		}
		if err != nil {
			return fmt.Errorf("check %s: %w", s.Key, err)
		}
	}
	return nil
}

// Fault says why a case has no verdict.
type Fault struct {
	Class   string `json:"class"`
	Message string `json:"message"`
	Usage   *Usage `json:"usage,omitempty"` // of an answer that came to nothing and was paid for

	Attempts int `json:"attempts,omitempty"` // tries that were made, when more than one
}

// Classes of faults. They name what broke, so that a report can group them.
const (
	TimeoutFault   = "timeout"
	TransportFault = "transport"
	ProtocolFault  = "protocol"
	InternalFault  = "internal"
	SkippedFault   = "skipped"
)

// FaultOf classes an error. An error anywhere in the chain may name its own
// class with a method Class() string, what it cost with Used() *Usage, and how
// often it was tried with Tries() int.
func FaultOf(err error) *Fault {
	f := &Fault{Class: TransportFault, Message: err.Error()}
	var classed interface {
		error
		Class() string
	}
	switch {
	case errors.As(err, &classed):
		f.Class = classed.Class()
	case errors.Is(err, context.DeadlineExceeded):
		f.Class = TimeoutFault
	}
	var paid interface {
		error
		Used() *Usage
	}
	if errors.As(err, &paid) {
		f.Usage = paid.Used()
	}
	var tried interface {
		error
		Tries() int
	}
	if errors.As(err, &tried) && tried.Tries() > 1 {
		f.Attempts = tried.Tries()
	}
	return f
}

// Retries is how many tries were made after the first, whether an answer came
// of it or not.
func (r *Result) Retries() int {
	attempts := 0
	if r.Response != nil {
		attempts = r.Response.Attempts
	} else if r.Fault != nil {
		attempts = r.Fault.Attempts
	}
	return max(0, attempts-1)
}

// settle sets the status and value that follow from the scores. A failed check
// of error severity fails the case whatever else is unknown; without one, an
// unscored check leaves the case unscored. A case none of whose deciding checks
// was scored, because they were skipped, is skipped itself.
func (r *Result) settle() {
	r.Status = Pass
	var sum, weight float64
	decided, skipped := 0, Score{}
	for _, s := range r.Scores {
		if s.Counts() && !s.Implicit {
			sum += s.Value * s.Weight
			weight += s.Weight
		}
		if s.Severity == WarnSeverity {
			continue
		}
		switch {
		case s.Status == Skip && skipped.Status == "":
			skipped = s
		case s.Status != Skip && !s.Implicit:
			decided++
		}
		switch {
		case s.Status == Fail:
			r.Status = Fail
		case s.Status == Unscored && r.Status == Pass:
			r.Status = Unscored
		}
	}
	switch {
	case decided == 0 && skipped.Status == Skip && r.Status == Pass:
		r.Status, r.Fault = Skip, &Fault{Class: SkippedFault, Message: skipped.Reason}
	case weight > 0:
		r.Value = sum / weight
	case r.Status == Pass:
		r.Value = 1
	}
}

// Modes names the causes of a result that failed, in check order, or of one
// without an answer: reports group by them. An answer that its own server calls
// an error has that one cause, whatever else it fails. A pass has none, and
// neither has a result that could not be judged: nothing is known to be wrong.
func (r *Result) Modes() (modes []string) {
	switch {
	case r.Status == Error && r.Fault != nil && r.Fault.Class == TimeoutFault:
		return []string{"timeout"}
	case r.Status == Error && r.Fault != nil:
		return []string{r.Fault.Class + " error"}
	case r.Status != Fail:
		return nil
	}
	for _, s := range r.Scores {
		if s.Status != Fail || s.Severity == WarnSeverity {
			continue
		}
		mode := cmp.Or(s.Mode, s.Kind)
		if s.Implicit {
			return []string{mode}
		}
		if !slices.Contains(modes, mode) {
			modes = append(modes, mode)
		}
	}
	return modes
}

// Mode is the first of [Result.Modes], or "".
func (r *Result) Mode() string {
	if modes := r.Modes(); len(modes) > 0 {
		return modes[0]
	}
	return ""
}

// resultJSON is a result as encoding/json reads it.
type resultJSON struct {
	Suite      string        `json:"suite,omitempty"`
	Case       string        `json:"case"`
	Arm        string        `json:"arm,omitempty"`
	Trial      int           `json:"trial"`
	Target     string        `json:"target,omitempty"`
	Status     Status        `json:"status"`
	Value      float64       `json:"value"`
	Started    time.Time     `json:"started"`
	DurationMS float64       `json:"duration_ms"`
	LatencyMS  float64       `json:"latency_ms,omitempty"`
	Scores     []Score       `json:"scores,omitempty"`
	Fault      *Fault        `json:"error,omitempty"`
	Response   *responseJSON `json:"response,omitempty"`
	Steps      []Step        `json:"steps,omitempty"` // format 1: the times of the response's steps
	Events     []Event       `json:"events,omitempty"`
	Notes      []string      `json:"notes,omitempty"`
}

// responseJSON is a response whose context may be kept elsewhere.
type responseJSON struct {
	*Response
	ContextDigest string `json:"context_digest,omitempty"`
}

// MarshalJSON writes the result: the case by its id, everything else in full.
func (r *Result) MarshalJSON() ([]byte, error) {
	return marshal(func(e *Encoder) { e.Result(r, "") })
}

// UnmarshalJSON reads a result back. Its case has only an id until the reader
// sets the real one, and the context of its response is missing where the run
// keeps it elsewhere.
func (r *Result) UnmarshalJSON(b []byte) error {
	read, _, err := new(Decoder).Result(b, nil)
	if err == nil {
		*r = *read
	}
	return err
}

func (j *resultJSON) result() (r *Result, contextDigest string) {
	r = &Result{
		Case: &Case{ID: j.Case, Suite: j.Suite}, Target: j.Target, Arm: j.Arm, Trial: j.Trial, Status: j.Status, Value: j.Value,
		Started: j.Started, Duration: fromMillis(j.DurationMS), Scores: j.Scores, Fault: j.Fault, Events: j.Events, Notes: j.Notes,
	}
	if j.Response == nil {
		return r, ""
	}
	r.Response = j.Response.Response
	if r.Response == nil {
		r.Response = new(Response)
	}
	r.Response.Latency = fromMillis(j.LatencyMS)
	r.setTimes(j.Steps)
	return r, j.Response.ContextDigest
}

// setTimes gives the steps of the response their times, which format 1 keeps
// apart from them.
func (r *Result) setTimes(times []Step) {
	if r.Response == nil {
		return
	}
	for i := range min(len(times), len(r.Response.Steps)) {
		r.Response.Steps[i].Start, r.Response.Steps[i].Duration = times[i].Start, times[i].Duration
	}
}

// Millis is d in milliseconds to the microsecond, the form every file uses.
func Millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func fromMillis(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}
