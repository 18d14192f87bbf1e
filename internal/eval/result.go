package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
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

// Identity says which result of the run it is.
func (r *Result) Identity() Identity {
	return Identity{Suite: r.Case.Suite, Case: r.Case.ID, Arm: r.Arm, Trial: r.Trial}
}

// Fault says why a case has no verdict.
type Fault struct {
	Class   string `json:"class"`
	Message string `json:"message"`
	Usage   *Usage `json:"usage,omitempty"` // of an answer that came to nothing and was paid for
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
// class with a method Class() string, and what it cost with Used() *Usage.
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
	return f
}

// settle sets the status and value that follow from the scores. A failed check
// of error severity fails the case whatever else is unknown; without one, an
// unscored check leaves the case unscored. A case all of whose checks were
// skipped is skipped itself: nothing was held against the answer.
func (r *Result) settle() {
	r.Status = Pass
	var sum, weight float64
	asked, skipped := 0, Score{}
	for _, s := range r.Scores {
		if s.Counts() && !s.Implicit {
			sum += s.Value * s.Weight
			weight += s.Weight
		}
		switch {
		case s.Status == Skip && skipped.Status == "":
			skipped = s
		case s.Status != Skip && !s.Implicit:
			asked++
		}
		if s.Severity == WarnSeverity {
			continue
		}
		switch {
		case s.Status == Fail:
			r.Status = Fail
		case s.Status == Unscored && r.Status == Pass:
			r.Status = Unscored
		}
	}
	switch {
	case asked == 0 && skipped.Status == Skip && r.Status == Pass:
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

// resultJSON starts with the identity, so that a reader who wants no more need
// not read on.
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
	Scores     []scoreJSON   `json:"scores,omitempty"`
	Fault      *Fault        `json:"error,omitempty"`
	Response   *responseJSON `json:"response,omitempty"`
	Steps      []stepJSON    `json:"steps,omitempty"` // format 1: the times of the response's steps
	Events     []eventJSON   `json:"events,omitempty"`
	Notes      []string      `json:"notes,omitempty"`
}

// responseJSON is a response whose steps are written without a second pass, and
// whose context may be kept elsewhere.
type responseJSON struct {
	*Response
	Context       string     `json:"context,omitempty"`
	ContextDigest string     `json:"context_digest,omitempty"`
	Steps         []stepJSON `json:"steps,omitempty"`
}

// MarshalJSON writes the result: the case by its id, everything else in full.
func (r *Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.wire("")) }

// Encode writes the result as one line of a run, which keeps the context of
// the response elsewhere, under a digest. It is MarshalJSON without the second
// pass that an encoder makes over what a method gives it.
func (r *Result) Encode(enc *json.Encoder, contextDigest string) error {
	return enc.Encode(r.wire(contextDigest))
}

func (r *Result) wire(contextDigest string) *resultJSON {
	j := &resultJSON{
		Arm: r.Arm, Target: r.Target, Trial: r.Trial, Status: r.Status, Value: r.Value,
		Started: r.Started, DurationMS: Millis(r.Duration), Scores: scoresJSON(r.Scores), Fault: r.Fault, Notes: r.Notes,
	}
	if r.Case != nil {
		j.Case, j.Suite = r.Case.ID, r.Case.Suite
	}
	if resp := r.Response; resp != nil {
		j.LatencyMS = Millis(resp.Latency)
		j.Response = &responseJSON{Response: resp, ContextDigest: contextDigest}
		if contextDigest == "" {
			j.Response.Context = resp.Context
		}
		for i := range resp.Steps {
			j.Response.Steps = append(j.Response.Steps, resp.Steps[i].wire())
		}
	}
	for i := range r.Events {
		j.Events = append(j.Events, r.Events[i].wire())
	}
	return j
}

// UnmarshalJSON reads a result back. Its case has only an id until the reader
// puts the real one in, and the context of its response is missing where the
// run keeps it elsewhere.
func (r *Result) UnmarshalJSON(b []byte) error {
	_, err := r.Decode(b)
	return err
}

// Decode is UnmarshalJSON that also returns the digest under which the context
// of the response is kept, "" where it is in the line.
func (r *Result) Decode(b []byte) (contextDigest string, err error) {
	var j resultJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return "", err
	}
	*r = Result{
		Case: &Case{ID: j.Case, Suite: j.Suite}, Target: j.Target, Arm: j.Arm, Trial: j.Trial, Status: j.Status, Value: j.Value,
		Started: j.Started, Duration: fromMillis(j.DurationMS), Fault: j.Fault, Notes: j.Notes,
	}
	for i := range j.Scores {
		r.Scores = append(r.Scores, j.Scores[i].score())
	}
	for i := range j.Events {
		r.Events = append(r.Events, j.Events[i].event())
	}
	if j.Response == nil {
		return "", nil
	}
	r.Response = j.Response.Response
	if r.Response == nil {
		r.Response = new(Response)
	}
	r.Response.Latency, r.Response.Context = fromMillis(j.LatencyMS), j.Response.Context
	for i := range j.Response.Steps {
		step := j.Response.Steps[i].step()
		if i < len(j.Steps) {
			step.Start, step.Duration = fromMillis(j.Steps[i].StartMS), fromMillis(j.Steps[i].DurationMS)
		}
		r.Response.Steps = append(r.Response.Steps, step)
	}
	return j.Response.ContextDigest, nil
}

// Millis is d in milliseconds to the microsecond, the form every file uses.
func Millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func fromMillis(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}
