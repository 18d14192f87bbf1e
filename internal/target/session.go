package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/tape"
	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// session is a conversation with an MCP server: live, or with a tape in
// between.
type session interface {
	Call(ctx context.Context, asked Asked) (*mcpclient.Result, error)
	Tools(ctx context.Context) ([]mcpclient.Tool, error)
	Info() mcpclient.Info
	Close() error
}

// Asked is a call of a tool, and what it is known by on a tape.
type Asked struct {
	Server string          `json:"server"` // the name of the target
	Tool   string          `json:"tool"`   // as the server calls it
	Args   json.RawMessage `json:"args"`
	Case   string          `json:"case"`
	Arm    string          `json:"arm,omitempty"`
	Trial  int             `json:"trial"`
	Repeat int             `json:"repeat"` // 2 for the second equal call of an attempt, and so on
}

func (a *Asked) String() string { return fmt.Sprintf("%s %s %s", a.Server, a.Tool, a.Args) }

// connect begins the conversation. A tape that is replayed needs no server.
func (m *MCP) connect(ctx context.Context) (session, error) {
	t := m.given.Tape
	if t != nil && t.Mode() == tape.Replay {
		return &taped{tape: t, name: m.given.Name}, nil
	}
	client, err := m.Dial(ctx)
	switch {
	case err != nil:
		return nil, err
	case t != nil:
		return &taped{live: live{client}, tape: t, name: m.given.Name}, nil
	}
	return live{client}, nil
}

// live is a session without a tape.
type live struct{ *mcpclient.Client }

func (l live) Call(ctx context.Context, a Asked) (*mcpclient.Result, error) {
	return l.Client.Call(ctx, a.Tool, a.Args)
}

// taped is a session with a tape between the run and the server.
type taped struct {
	live session // nil when the tape is replayed
	tape *tape.Tape
	name string
	kept serverValue
}

// Kinds of entries on a tape.
const (
	serverEntry = "server" // by name: a [serverValue]
	toolEntry   = "tool"   // by [Asked]: a [toolValue]
)

// serverValue is what a server turned out to be.
type serverValue struct {
	Name      string        `json:"name"`
	Version   string        `json:"version,omitempty"`
	Protocol  string        `json:"protocol"`
	Transport string        `json:"transport"`
	Noise     int           `json:"noise,omitempty"`
	ToolsHash string        `json:"tools_digest,omitempty"`
	Tools     []offeredTool `json:"tools"`
}

type offeredTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
}

// toolValue is what came of a call: the result as it was on the wire, so that a
// replay reads it anew, or an error.
type toolValue struct {
	Request  json.RawMessage `json:"request,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
	Retries  []string        `json:"retries,omitempty"`
	Latency  time.Duration   `json:"latency,omitempty"`
	Findings []string        `json:"findings,omitempty"`
	Error    *callError      `json:"error,omitempty"`
}

// callError is an error of a call that was kept.
type callError struct {
	Text  string              `json:"text"`
	Kind  string              `json:"class"`
	Reply *mcpclient.RPCError `json:"rpc,omitempty"`

	Attempts int `json:"attempts,omitempty"`
}

// Tries tells the core how often the call was made.
func (e *callError) Tries() int { return e.Attempts }

func (e *callError) Error() string { return e.Text }

// Class names the fault for [eval.FaultOf].
func (e *callError) Class() string { return e.Kind }

func (e *callError) Unwrap() error {
	if e.Reply == nil {
		return nil
	}
	return e.Reply
}

func (v *toolValue) result() (*mcpclient.Result, error) {
	if v.Error != nil {
		return nil, v.Error
	}
	res := mcpclient.ReadResult(v.Response)
	res.Request, res.Attempts, res.Retries, res.Latency, res.Findings = v.Request, v.Attempts, v.Retries, v.Latency, v.Findings
	return res, nil
}

// check finds an entry that is damaged.
func (v *toolValue) check() error {
	if v.Error == nil && len(v.Response) == 0 {
		return errors.New("it has neither a response nor an error")
	}
	return nil
}

// Tools gives the server's tools, and keeps them with what the server is. They
// are asked for whenever there is a server: a cache may be old.
func (t *taped) Tools(ctx context.Context) ([]mcpclient.Tool, error) {
	kept, err := tape.Do(ctx, t.tape, tape.Exchange[serverValue]{
		Kind: serverEntry, Key: t.name,
		Reuse: func(*serverValue) (bool, error) { return t.tape.Mode() != tape.Cache, nil },
		Make:  func() (*serverValue, bool, error) { return t.look(ctx) },
	})
	if errors.Is(err, tape.ErrUnrecorded) {
		return nil, fmt.Errorf("the target %s is not on the tape: replay with the flags and the environment that the recording was made with", t.name)
	}
	if err != nil {
		return nil, err
	}
	t.kept = *kept
	tools := make([]mcpclient.Tool, len(kept.Tools))
	for i, o := range kept.Tools {
		tools[i] = mcpclient.Tool{Name: o.Name, Description: o.Description, InputSchema: o.Input, OutputSchema: o.Output}
	}
	return tools, nil
}

func (t *taped) look(ctx context.Context) (*serverValue, bool, error) {
	tools, err := t.live.Tools(ctx)
	if err != nil {
		return nil, false, err
	}
	info := t.live.Info()
	v := &serverValue{Name: info.Name, Version: info.Version, Protocol: info.Protocol, Transport: info.Transport, Noise: info.Noise, ToolsHash: info.ToolsHash}
	for _, tool := range tools {
		v.Tools = append(v.Tools, offeredTool{tool.Name, tool.Description, tool.InputSchema, tool.OutputSchema})
	}
	return v, true, nil
}

// Info says what the server is, or was.
func (t *taped) Info() mcpclient.Info {
	k := &t.kept
	return mcpclient.Info{Name: k.Name, Version: k.Version, Protocol: k.Protocol, Transport: k.Transport, Noise: k.Noise, ToolsHash: k.ToolsHash}
}

// Call gives what is on the tape, or asks the server.
func (t *taped) Call(ctx context.Context, a Asked) (*mcpclient.Result, error) {
	v, err := tape.Do(ctx, t.tape, tape.Exchange[toolValue]{
		Kind: toolEntry, Key: a,
		Reuse: func(v *toolValue) (bool, error) {
			return t.tape.Mode() != tape.Cache || v.Error == nil, v.check()
		},
		Make: func() (*toolValue, bool, error) { return t.ask(ctx, a) },
	})
	if errors.Is(err, tape.ErrUnrecorded) {
		return nil, &fault{fmt.Errorf("the call of %s with %s, trial %d, is not on the tape", a.Tool, a.Args, a.Trial), string(llm.Unrecorded)}
	}
	if err != nil {
		return nil, err
	}
	return v.result()
}

// ask makes a call. An error is not kept when nobody waited for the answer, or
// when it may go well the next time that a cache is used.
func (t *taped) ask(ctx context.Context, a Asked) (*toolValue, bool, error) {
	res, err := t.live.Call(ctx, a)
	switch {
	case err == nil:
		return &toolValue{Request: res.Request, Response: res.Response, Attempts: res.Attempts, Retries: res.Retries, Latency: res.Latency, Findings: res.Findings}, true, nil
	case ctx.Err() != nil || t.tape.Mode() == tape.Cache:
		return nil, false, err
	}
	fault := eval.FaultOf(classed(err))
	kept := &callError{Text: err.Error(), Kind: fault.Class, Attempts: fault.Attempts}
	_ = errors.As(err, &kept.Reply)
	return &toolValue{Error: kept}, true, nil
}

// Close ends the session.
func (t *taped) Close() error {
	if t.live == nil {
		return nil
	}
	return t.live.Close()
}

// ToolCall is a call of a tool on a tape.
type ToolCall struct {
	Asked
	value toolValue
}

// ToolCalls gives the calls of tools on a tape, in an order that stays.
func ToolCalls(t *tape.Tape) iter.Seq2[*ToolCall, error] {
	return func(yield func(*ToolCall, error) bool) {
		for e, err := range t.Entries(toolEntry) {
			c := new(ToolCall)
			if err == nil {
				err = e.Decode(&c.Asked, &c.value)
			}
			if err == nil && c.value.check() != nil {
				err = fmt.Errorf("tape entry %s: %w", e.Path, c.value.check())
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Again makes the call once more on a target that is prepared, and gives what
// was answered then and what is answered now. was is nil when there was no
// answer.
func (c *ToolCall) Again(ctx context.Context, t eval.Target) (was, is *eval.Response, err error) {
	m, ok := t.(interface {
		repeat(ctx context.Context, c *ToolCall) (was, is *eval.Response, err error)
	})
	if !ok {
		return nil, nil, fmt.Errorf("the target %s calls no tools", c.Server)
	}
	return m.repeat(ctx, c)
}

func (m *MCP) repeat(ctx context.Context, c *ToolCall) (was, is *eval.Response, err error) {
	was, _ = m.answer(c.value.result()) // without an answer then, there is none to compare
	a := &eval.Attempt{Case: &eval.Case{ID: c.Case, Tool: c.Tool, Input: c.Args}, Arm: c.Arm, Trial: c.Trial}
	is, err = m.answer(m.call(ctx, a, new([]eval.Step), c.Tool, c.Args))
	return was, is, err
}
