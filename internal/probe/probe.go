// Package probe takes a first look at an MCP server: what it is, what its tool
// list costs, and what in it clients are known to trip over. It works on what
// a client session has learnt ([mcpclient.Info] and the tool list) and asks the
// server nothing, least of all to run a tool.
//
// [Inspect] makes the [Report], a card of checks with stable ids (checks.go,
// toolchecks.go). Schemas are read into ordered values (value.go) and walked
// by rules of our own (schema.go), because schemas of strangers must be
// bounded and complained about all at once. [Card] lays the report out for a
// terminal (card.go). [Scaffold] turns the tool list
// into a suite file with example arguments (scaffold.go, example.go).
//
// Everything here may hold text of the server as it came: whoever prints it
// makes it safe to print.
package probe

import (
	"encoding/json"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// Status is what a check came to.
type Status string

// A check fails on what breaks the protocol, so that clients choke on it. It
// warns of what the protocol allows and clients are known to refuse or to do
// badly with. Error means that it could not be found out; it is no verdict on
// the server.
const (
	Pass  Status = "pass"
	Skip  Status = "skip" // does not apply to this server
	Warn  Status = "warn"
	Fail  Status = "fail"
	Error Status = "error"
)

// Report is all that a look at a server found.
type Report struct {
	Format  int      `json:"format"`
	Verdict Status   `json:"verdict"` // of all checks: the worst that any came to, at best pass
	Server  Server   `json:"server"`
	Tools   ToolList `json:"tools"`
	Checks  []Check  `json:"checks"`
	// Noise is what a process wrote to standard output besides its messages.
	Noise []string `json:"noise,omitempty"`
	// Stderr is the end of a process's standard error, kept when something is
	// wrong.
	Stderr string `json:"stderr,omitempty"`
}

// Server is what a server says about itself, and how it was spoken to.
type Server struct {
	Target       string   `json:"target,omitempty"` // address without secrets, or name of the program
	Name         string   `json:"name,omitempty"`
	Version      string   `json:"version,omitempty"`
	Transport    string   `json:"transport,omitempty"`
	Protocol     string   `json:"protocol,omitempty"`
	Era          string   `json:"era,omitempty"`
	Capabilities []string `json:"capabilities"`
	Instructions int      `json:"instructions_chars"`
	Connect      millis   `json:"connect_ms"`
	List         millis   `json:"list_ms"`
}

// millis is a duration that JSON shows in milliseconds.
type millis time.Duration

// MarshalJSON gives the milliseconds, with two places.
func (m millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(m).Round(10*time.Microsecond)) / float64(time.Millisecond))
}

// ToolList is a server's tools and what they weigh.
type ToolList struct {
	Count  int    `json:"count"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"estimated_tokens"` // see [EstimateTokens]
	Digest string `json:"digest,omitempty"`
	Tools  []Tool `json:"list"`
}

// Tool is one tool in short.
type Tool struct {
	Name        string     `json:"name"`
	Bytes       int        `json:"bytes"`
	Tokens      int        `json:"estimated_tokens"`
	Arguments   []Argument `json:"arguments"`
	ReadOnly    *bool      `json:"read_only,omitempty"`
	Destructive *bool      `json:"destructive,omitempty"`
}

// Argument is one argument of a tool.
type Argument struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required"`
}

// Check is one line of the card. Its id is stable.
type Check struct {
	ID       string    `json:"id"`
	Status   Status    `json:"status"`
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings,omitempty"`
}

// Finding is one thing that a check found wrong, mostly with one tool.
type Finding struct {
	Level   Status `json:"level"`
	Tool    string `json:"tool,omitempty"`
	Message string `json:"message"`
}

const formatVersion = 1

// MaxTools is how many tools are looked at one by one. No model can use as
// many; a server that sends more is not worth the time.
const MaxTools = 1000

// Inspect makes the report of a session. listErr is why the tools could not be
// listed, if they could not.
func Inspect(info mcpclient.Info, tools []mcpclient.Tool, listErr error) *Report {
	s := newSubject(info, tools, listErr)
	r := &Report{
		Format: formatVersion, Verdict: Pass, Server: s.server(), Tools: s.list(), Noise: info.NoiseLines,
	}
	for _, c := range checks {
		r.add(c.id, c.run(s))
	}
	if r.Verdict == Fail || r.Verdict == Error {
		r.Stderr = info.Stderr
	}
	return r
}

// Unreachable is the report on a server that could not be spoken to.
func Unreachable(target string, err error) *Report {
	r := &Report{
		Format: formatVersion, Verdict: Pass, Tools: ToolList{Tools: []Tool{}},
		Server: Server{Target: target, Capabilities: []string{}},
	}
	o := outcome{summary: "the server could not be reached"}
	o.find(Error, "", "%s", err)
	r.add("connect", o)
	return r
}

func (r *Report) add(id string, o outcome) {
	c := Check{ID: id, Status: o.status(), Summary: o.summary, Findings: o.findings}
	r.Checks = append(r.Checks, c)
	if worse(c.Status, r.Verdict) && c.Status != Skip {
		r.Verdict = c.Status
	}
}

// Count is how many checks came to a status.
func (r *Report) Count(s Status) (n int) {
	for _, c := range r.Checks {
		if c.Status == s {
			n++
		}
	}
	return n
}

// Failed tells whether the server fails: on a failed check, and if strict is
// set on a warning too.
func (r *Report) Failed(strict bool) bool { return r.Verdict == Fail || strict && r.Verdict == Warn }

// worse orders statuses. That something could not be found out goes before
// what was.
func worse(a, b Status) bool {
	order := []Status{Skip, Pass, Warn, Fail, Error}
	return slices.Index(order, a) > slices.Index(order, b)
}

// EstimateTokens guesses how many tokens a text is for a model, at four
// characters a token. Tokenizers differ by more than the guess is wrong.
func EstimateTokens(text []byte) int { return (utf8.RuneCount(text) + 3) / 4 }

// subject is what the checks look at.
type subject struct {
	info         mcpclient.Info
	tools        []tool
	capabilities []string
	count        int // of all tools, those past MaxTools too
	listErr      *mcpclient.Error
	broken       error // listErr, when it does not say how
}

// tool is a tool with its schemas read.
type tool struct {
	mcpclient.Tool
	input, output       *value
	inputErr, outputErr error
}

func newSubject(info mcpclient.Info, tools []mcpclient.Tool, listErr error) *subject {
	s := &subject{info: info, count: len(tools), capabilities: objectKeys(info.Capabilities)}
	if listErr != nil && !errors.As(listErr, &s.listErr) {
		s.broken = listErr
	}
	for _, t := range tools[:min(len(tools), MaxTools)] {
		v := tool{Tool: t}
		if len(t.InputSchema) > 0 {
			v.input, v.inputErr = parseValue(t.InputSchema)
		}
		if len(t.OutputSchema) > 0 && string(t.OutputSchema) != "null" {
			v.output, v.outputErr = parseValue(t.OutputSchema)
		}
		s.tools = append(s.tools, v)
	}
	return s
}

// objectKeys lists the keys of a JSON object, sorted.
func objectKeys(raw []byte) []string {
	keys := []string{}
	if v, err := parseValue(raw); err == nil {
		for _, m := range v.members {
			keys = append(keys, m.name)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (s *subject) server() Server {
	i := s.info
	return Server{
		Target: i.Target, Name: i.Name, Version: i.Version, Transport: i.Transport, Protocol: i.Protocol, Era: i.Era,
		Capabilities: s.capabilities, Instructions: utf8.RuneCountInString(i.Instructions),
		Connect: millis(i.Connect), List: millis(i.List),
	}
}

func (s *subject) list() ToolList {
	l := ToolList{Count: s.count, Digest: s.info.ToolsHash, Tools: []Tool{}}
	for _, t := range s.tools {
		short := Tool{
			Name: t.Name, Bytes: len(t.Raw), Tokens: EstimateTokens(t.Raw), Arguments: arguments(t.input),
			ReadOnly: t.Annotations.ReadOnly, Destructive: t.Annotations.Destructive,
		}
		l.Bytes += short.Bytes
		l.Tokens += short.Tokens
		l.Tools = append(l.Tools, short)
	}
	return l
}

// arguments lists what a schema says a tool takes, in its order.
func arguments(schema *value) []Argument {
	args := []Argument{}
	required := schema.get("required").set()
	for _, m := range schema.get("properties").object() {
		args = append(args, Argument{m.name, typeName(schema, m.value), required[m.name]})
	}
	return args
}
