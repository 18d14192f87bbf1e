// Package eval is the core of mettle: the words everything else is said in, and
// the loop that turns cases into results.
//
// A [Suite] is a list of [Case] values. An [Attempt] is one case, tried once: a
// [Target] answers it with a [Response], the case's [Check] values, each around
// a [Grader], turn the response into [Score] values, and together they are a
// [Result]. [Evaluate] is that whole attempt; an [Executor] decides where and
// when attempts are evaluated. The [Journal] keeps each result before it is
// counted, and [Listener] values are told of it. A finished [Run] is a header,
// a [Summary] and the verdicts of its [Gate] values.
//
// Three promises live here. An error is not a failure: what broke on the way
// stays apart from what was judged, in every type and every count. Nothing
// wrong is found late: [Runner.Run] asks everything that can be prepared
// before the first case. Nothing is lost: a result is on disk before anything
// counts it.
//
// The package imports the standard library only.
package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Pos is a place in a file a person wrote. Line and Col start at 1; zero means
// the place is not known.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Suite is one suite file once loaded: cases with their checks, and the gates
// that judge them. It does not change afterwards.
type Suite struct {
	Name    string  `json:"name"`
	Project string  `json:"project,omitempty"`
	Version string  `json:"version,omitempty"`
	File    string  `json:"file,omitempty"`
	Digest  string  `json:"digest,omitempty"` // of the file's bytes
	Gates   []Gate  `json:"gates,omitempty"`
	Cases   []*Case `json:"-"`
}

// Difficulty says how hard a case is meant to be.
type Difficulty string

// The difficulties a case may have, easiest first.
const (
	Basic        Difficulty = "basic"
	Intermediate Difficulty = "intermediate"
	Advanced     Difficulty = "advanced"
)

// Difficulties lists every difficulty, easiest first.
var Difficulties = []Difficulty{Basic, Intermediate, Advanced}

// Case is one question to a target and the checks its answer must meet.
type Case struct {
	ID          string          `json:"id"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Suite       string          `json:"suite,omitempty"`
	Project     string          `json:"project,omitempty"`
	Tool        string          `json:"tool,omitempty"`
	Difficulty  Difficulty      `json:"difficulty,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // a JSON object, as small as JSON makes it: suites are held whole
	Target      string          `json:"target,omitempty"`
	Trials      int             `json:"trials,omitempty"` // 0: the run decides
	Checks      []*Check        `json:"checks,omitempty"`
	Places      []Place         `json:"-"` // of the checks; see [Case.CheckPos]
	Pos         Pos             `json:"pos,omitzero"`
}

// Place is a position in the file of a case.
type Place struct{ Line, Col int32 }

// CheckPos is the position of the i-th check. Cases share their checks, so the
// position that a check has in a case is kept in Places; a check that has none
// there has its own.
func (c *Case) CheckPos(i int) Pos {
	if i < len(c.Places) && c.Places[i] != (Place{}) {
		return Pos{File: c.Pos.File, Line: int(c.Places[i].Line), Col: int(c.Places[i].Col)}
	}
	return c.Checks[i].Pos
}

// MarshalJSON writes the case, each check with its position in it.
func (c *Case) MarshalJSON() ([]byte, error) {
	return marshal(func(e *Encoder) { e.Case(c) })
}

// UnmarshalJSON reads a case of a stored run; its checks have no graders.
func (c *Case) UnmarshalJSON(b []byte) error {
	read, err := new(Decoder).Case(b)
	if err == nil {
		*c = *read
	}
	return err
}

// Severity says whether a failed check fails its case.
type Severity string

// An [ErrorSeverity] check decides the case; a [WarnSeverity] check is shown and never
// decides.
const (
	ErrorSeverity Severity = "error"
	WarnSeverity  Severity = "warn"
)

// Part names the part of a response a check looks at.
type Part string

// The parts of a response. The answer is the text with the envelope split off.
const (
	AnswerPart     Part = "answer"
	RawPart        Part = "raw"
	StructuredPart Part = "structured"
	SourcedPart    Part = "answer+sources" // the answer and the titles and addresses of its source list
)

// Check is a grader as used in a case.
type Check struct {
	Key      string
	Kind     string
	Weight   float64
	Severity Severity
	Not      bool
	Of       Part
	Mode     string // failure mode: the cause a failed check is grouped under
	Implicit bool   // added by the loader, shown only when it does not pass
	Skip     string // why this run does not grade it: what it needs was not configured
	Grader   Grader
	Pos      Pos

	rule json.RawMessage // what [Check.Rule] gives for a check read back from a run
}

// Grader turns the response of an attempt into a score. An error means the
// grader could not decide, and makes the score unscored; it is never a verdict.
type Grader interface {
	Grade(ctx context.Context, a *Attempt) (Score, error)
}

// GraderFunc makes a function a [Grader].
type GraderFunc func(ctx context.Context, a *Attempt) (Score, error)

// Grade calls f.
func (f GraderFunc) Grade(ctx context.Context, a *Attempt) (Score, error) { return f(ctx, a) }

// Expensive is implemented by graders that cost money or seconds. They run
// after the cheap ones of a case, side by side.
type Expensive interface{ Expensive() bool }

// Bounded is implemented by targets and graders that bound their own time. A
// call that waits for its turn at a vendor is not late, so the timeout of the
// [Env] does not apply to them.
type Bounded interface{ Bounded() bool }

// Target answers the case of an attempt. An error means that no answer could
// be had; a bad answer is a response. Respond is called from many goroutines.
type Target interface {
	Respond(ctx context.Context, a *Attempt) (*Response, error)
}

// TargetFunc makes a function a [Target].
type TargetFunc func(ctx context.Context, a *Attempt) (*Response, error)

// Respond calls f.
func (f TargetFunc) Respond(ctx context.Context, a *Attempt) (*Response, error) { return f(ctx, a) }

// Preparer is implemented by targets and graders that need something from the
// world before the first case: a key, a server, a tool. cases are those that
// will use a target. What is missing is best told as a [Missing] error, so that
// one list names all of it.
type Preparer interface {
	Prepare(ctx context.Context, env *Env, cases []*Case) error
}

// Missing is an error that lists prerequisites of a run that are not there.
type Missing struct{ What []string }

func (m *Missing) Error() string {
	if len(m.What) == 1 {
		return m.What[0]
	}
	s := fmt.Sprintf("%d things are missing:", len(m.What))
	for _, w := range m.What {
		s += "\n  " + w
	}
	return s
}

// Describer is implemented by targets that can say what they turned out to be
// once prepared: server name and version, protocol, tool mapping. The run
// header keeps it.
type Describer interface{ Describe() map[string]string }

// Response is what a target answered.
type Response struct {
	Text       string          `json:"text"`                  // the answer proper, envelope split off
	Raw        string          `json:"raw,omitempty"`         // everything the target said as text, when it is more than Text
	Structured json.RawMessage `json:"structured,omitempty"`  // structured content, as sent
	IsError    bool            `json:"is_error,omitempty"`    // the target flagged its own answer as an error
	Meta       map[string]any  `json:"meta,omitempty"`        // parsed metadata: confidence, sourcesUsed, …
	MetaBroken string          `json:"meta_broken,omitempty"` // why metadata that is there could not be read
	Sources    []Source        `json:"sources,omitempty"`     // the answer's source list
	Steps      []Step          `json:"steps,omitempty"`
	Context    string          `json:"context,omitempty"` // what the target was given to answer from: a skill's text
	Artifacts  []Artifact      `json:"artifacts,omitempty"`
	Usage      *Usage          `json:"usage,omitempty"`
	Model      string          `json:"model,omitempty"`
	Latency    time.Duration   `json:"-"`
	Attempts   int             `json:"attempts,omitempty"` // tries it took to get this answer, when more than one
	Retries    []string        `json:"retries,omitempty"`  // why the tries before the last one failed, where that is known
	Notes      []string        `json:"notes,omitempty"`    // oddities of the answer's form that are no verdict
	Exchange   *Exchange       `json:"exchange,omitempty"`
}

// RawText is everything the target said as text.
func (r *Response) RawText() string {
	if r.Raw != "" {
		return r.Raw
	}
	return r.Text
}

// Source is one entry of an answer's source list.
type Source struct {
	N     int    `json:"n,omitempty"`
	Title string `json:"title,omitempty"`
	URL   string `json:"url,omitempty"`
}

// Exchange is the wire-level request and reply behind a response.
type Exchange struct {
	Request  json.RawMessage `json:"request,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
}

// Usage is what model calls consumed. Cost is that of the calls whose price is
// known; Unpriced counts the others, so that unknown never looks like free.
type Usage struct {
	Calls      int `json:"calls"`
	Input      int `json:"input"` // tokens, those read from and written to the cache among them
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Cost       USD `json:"cost_usd"`
	Unpriced   int `json:"unpriced_calls,omitempty"`
}

// USD is an amount in thousand-millionths of a US dollar: whole, so that the
// order of adding cannot show.
type USD int64

// Dollars makes an amount of a number of US dollars.
func Dollars(d float64) USD { return USD(math.Round(d * 1e9)) }

// Float is the amount in US dollars.
func (u USD) Float() float64 { return float64(u) / 1e9 }

// String shows cents where there are any, and more digits of less.
func (u USD) String() string {
	switch d := u.Float(); {
	case u == 0:
		return "$0"
	case math.Abs(d) >= 0.1:
		return fmt.Sprintf("$%.2f", d)
	case math.Abs(d) < 0.0001:
		return "<$0.0001"
	default:
		return fmt.Sprintf("$%.4f", d)
	}
}

// MarshalJSON writes US dollars.
func (u USD) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, u.Float(), 'f', -1, 64), nil
}

// UnmarshalJSON reads US dollars.
func (u *USD) UnmarshalJSON(b []byte) error {
	d, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%q is no amount of dollars", b)
	}
	*u = Dollars(d)
	return nil
}

// Add counts what v consumed to u. v may be nil.
func (u *Usage) Add(v *Usage) {
	if v == nil {
		return
	}
	u.Calls += v.Calls
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Cost += v.Cost
	u.Unpriced += v.Unpriced
}

// Stop is an error of a target or a grader that ends the run: a budget is
// spent. The case it came in is not done, so that a resumed run does it.
type Stop struct{ Why string }

func (s *Stop) Error() string { return s.Why }

// Artifact is a file of an attempt, kept in the run folder by its digest.
type Artifact struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// StepKind says what a [Step] is.
type StepKind string

// The kinds of steps. A message is text of a model, a call asks for a tool, and
// a result answers a call.
const (
	MessageStep StepKind = "message"
	CallStep    StepKind = "call"
	ResultStep  StepKind = "result"
)

// Step is one move on the way to a response. The result of the only call of a
// case is the response itself, and is not repeated as a step.
type Step struct {
	ID       string // unique in the response
	Kind     StepKind
	Name     string // of the model or the tool
	Args     json.RawMessage
	Text     string
	Error    bool          // the result is an error
	Answers  string        // the id of the call that a result answers
	Start    time.Duration // since the attempt started
	Duration time.Duration
	Usage    *Usage
}

type stepJSON struct {
	ID         string          `json:"id,omitempty"`
	Kind       StepKind        `json:"kind"`
	Name       string          `json:"name,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Text       string          `json:"text,omitempty"`
	Error      bool            `json:"error,omitempty"`
	Answers    string          `json:"answers,omitempty"`
	StartMS    float64         `json:"start_ms"`
	DurationMS float64         `json:"duration_ms"`
	Usage      *Usage          `json:"usage,omitempty"`
}

// MarshalJSON writes the step with its times in milliseconds.
func (s Step) MarshalJSON() ([]byte, error) {
	return marshal(func(e *Encoder) { e.step(&s) })
}

func (j *stepJSON) step() Step {
	return Step{j.ID, j.Kind, j.Name, j.Args, j.Text, j.Error, j.Answers, fromMillis(j.StartMS), fromMillis(j.DurationMS), j.Usage}
}

// UnmarshalJSON reads a step back.
func (s *Step) UnmarshalJSON(b []byte) error {
	var j stepJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = j.step()
	return nil
}

// Finding is a remark with a place inside a file or an answer.
type Finding struct {
	Message string `json:"message"`
	Pos     Pos    `json:"pos,omitzero"`
}
