package target

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/mcpclient"
	"github.com/mettle-eval/mettle/internal/secret"
)

// MCP puts cases to a server that speaks the Model Context Protocol: the
// case's tool is called with its input.
type MCP struct {
	URL       string            `yaml:"url" json:"url,omitempty" jsonschema:"address of the server's endpoint; without a path, /mcp is meant"`
	Command   []string          `yaml:"command" json:"command,omitempty" jsonschema:"instead of url: program and arguments of a server that speaks on its standard input and output"`
	Dir       string            `yaml:"dir" json:"dir,omitempty" jsonschema:"folder the command runs in, from the file's own folder"`
	Env       map[string]string `yaml:"env" json:"env,omitempty" jsonschema:"environment variables of the command, such as API_KEY: ${API_KEY}; of the others it gets only HOME, LOGNAME, PATH, SHELL, TERM, USER and the locale"`
	Headers   map[string]string `yaml:"headers" json:"headers,omitempty" jsonschema:"further HTTP headers; take secrets from the environment with ${NAME}"`
	Token     string            `yaml:"token" json:"token,omitempty" jsonschema:"bearer token, best as ${NAME}"`
	OAuth     OAuth             `yaml:"oauth" json:"oauth,omitzero" jsonschema:"instead of token: how to get access tokens by OAuth"`
	Transport string            `yaml:"transport" json:"transport,omitempty" jsonschema:"how to speak; auto finds out" check:"enum=auto|streamable|sse|stdio,default=auto"`
	Protocol  string            `yaml:"protocol" json:"protocol,omitempty" jsonschema:"protocol version to insist on, such as 2025-06-18; without it the newest both sides know"`
	Tools     Tools             `yaml:"tools" json:"tools,omitzero" jsonschema:"how a case's tool becomes the server's"`
	Envelope  Envelope          `yaml:"envelope" json:"envelope,omitzero" jsonschema:"how the server wraps its answers"`
	Timeouts  Timeouts          `yaml:"timeouts" json:"timeouts,omitzero" jsonschema:"limits for each step of the conversation"`
	Retries   *int              `yaml:"retries" json:"retries,omitempty" jsonschema:"further tries of a call that broke on the way; an answer is never asked for again" check:"min=0,max=20,default=8"`
	MaxAnswer int64             `yaml:"maxAnswer" json:"maxAnswer,omitempty" jsonschema:"bytes over which an answer is refused" check:"min=1024,default=16777216"`
	Lenient   bool              `yaml:"lenientNotifications" json:"lenientNotifications,omitempty" jsonschema:"put up with servers that answer notifications with an HTTP error" check:"default=false"`

	Elicitation string `yaml:"elicitation" json:"elicitation,omitempty" jsonschema:"what a server hears that asks the user something in the middle of a call: refuse tells it beforehand that nobody is there, accept answers with the defaults of its question" check:"enum=refuse|accept,default=refuse"`

	given   Supplies
	session session         // nil until Prepare
	tools   map[string]tool // by the case's name
	note    string          // what was worked out about tool names

	unusable []string // schemas of the server that nothing is checked by, and why
}

// Tools maps the tool names that cases use to those the server has.
type Tools struct {
	Prefix string            `yaml:"prefix" json:"prefix,omitempty" jsonschema:"put before each tool name, such as crypto_; without it a prefix that all of the server's tools share is found"`
	Map    map[string]string `yaml:"map" json:"map,omitempty" jsonschema:"server's tool name by case's tool name; goes before the prefix"`
}

// Timeouts bounds the steps of a conversation.
type Timeouts struct {
	Start   kind.Duration `yaml:"start" json:"start,omitempty" jsonschema:"of a command, until it answers for the first time; without it that of connect, if that is set" check:"default=60s"`
	Connect kind.Duration `yaml:"connect" json:"connect,omitempty" jsonschema:"until the handshake is done, with a command from its first answer on" check:"default=30s"`
	List    kind.Duration `yaml:"list" json:"list,omitempty" jsonschema:"until the tools are listed" check:"default=30s"`
	Call    kind.Duration `yaml:"call" json:"call,omitempty" jsonschema:"of one call, with its tries and the waits between them; waiting for other calls does not count" check:"default=60s"`
	Close   kind.Duration `yaml:"close" json:"close,omitempty" jsonschema:"until a command that was told to end is killed" check:"default=2s"`
}

// Or fills what t leaves open from other.
func (t Timeouts) Or(other Timeouts) Timeouts {
	return Timeouts{
		cmp.Or(t.Start, other.Start), cmp.Or(t.Connect, other.Connect), cmp.Or(t.List, other.List),
		cmp.Or(t.Call, other.Call), cmp.Or(t.Close, other.Close),
	}
}

var mcpKind = kind.Kind[Target]{
	Name: "mcp",
	Doc:  "A server that speaks the Model Context Protocol, at a URL or as a command.",
	Explain: "Streamable HTTP, HTTP+SSE and stdio servers of every protocol version are understood. " +
		"The case's `tool` is called with its `input`; `project` is added where the tool takes one and the input does not say. " +
		"The answer's metadata block and source list are split off before checks look at it.\n\n" +
		"Names of tools may be the server's own or leave out the prefix that its tools share, in one run too. " +
		"Before the first case each input is checked by the `inputSchema` of its tool; a case that sends wrong arguments on purpose has an `is_error` check, be it inside another. " +
		"A result that violates its tool's `outputSchema` gets a note.\n\n" +
		"The time of an answer is that of the try which brought it, from sending the request. " +
		"A command is sent one call at a time until it has answered a ping while it works on a call; from then on calls are sent side by side. " +
		"So a command that does one thing at a time is not charged what calls wait for each other. " +
		"Over HTTP calls are always sent side by side, and what the server makes them wait is part of the time: use `--concurrency 1` to leave it out.",
	Example: "type: mcp\nurl: http://localhost:3000/mcp\ntools:\n  prefix: crypto_\ntoken: ${DOCS_TOKEN}\n",
	New:     func() Target { return new(MCP) },
}

// Check finds settings that contradict each other.
func (m *MCP) Check() error {
	switch {
	case m.URL == "" && len(m.Command) == 0:
		return errors.New("the mcp target needs a url or a command")
	case m.URL != "" && len(m.Command) > 0:
		return &kind.FieldError{Field: "command", Err: errors.New("the mcp target has both a url and a command")}
	case m.Transport == "stdio" && m.URL != "":
		return &kind.FieldError{Field: "transport", Err: errors.New("transport stdio needs a command, not a url")}
	case len(m.Command) > 0 && (m.Transport == "sse" || m.Transport == "streamable"):
		return &kind.FieldError{Field: "transport", Err: fmt.Errorf("transport %s needs a url, not a command", m.Transport)}
	}
	if versions := mcpclient.Versions(); m.Protocol != "" && !slices.Contains(versions, m.Protocol) {
		return &kind.FieldError{Field: "protocol", Err: fmt.Errorf("unknown protocol version %q, want one of %s", m.Protocol, strings.Join(versions, ", "))}
	}
	if m.URL != "" && !strings.Contains(m.URL, "${") {
		if _, err := Endpoint(m.URL); err != nil {
			return &kind.FieldError{Field: "url", Err: err}
		}
	}
	if err := m.checkOAuth(); err != nil {
		return err
	}
	return m.Envelope.check()
}

// Endpoint completes the address of a server: a URL without a path means its
// /mcp.
func Endpoint(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", errors.New("the server's url is not an http or https address")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	return u.String(), nil
}

// Needs says that the target is a server.
func (m *MCP) Needs() Needs { return Needs{Server: true} }

// CheckCase wants a tool and its arguments.
func (m *MCP) CheckCase(c *eval.Case) error {
	var errs []error
	if c.Tool == "" {
		errs = append(errs, errors.New("the test has no tool, and there is none under defaults"))
	}
	if c.Input == nil {
		errs = append(errs, errors.New("the test has no input: for a tool without arguments write input: {}"))
	}
	return errors.Join(errs...)
}

// Estimate is zero: no model is asked.
func (m *MCP) Estimate(*eval.Case) (llm.Tokens, error) { return llm.Tokens{}, nil }

// Use fills in ${NAME} from the environment, and what the settings leave open.
func (m *MCP) Use(s Supplies) error {
	if s.Secrets == nil {
		s.Secrets = secret.FromEnviron(s.Environ)
	}
	m.given = s
	m.Timeouts = m.Timeouts.Or(s.Timeouts)
	m.Tools.Prefix = cmp.Or(s.ToolPrefix, m.Tools.Prefix)
	if s.Env != nil {
		if err := m.expand(s.Env); err != nil {
			return err
		}
	}
	if m.URL == "" {
		return nil
	}
	if _, err := Endpoint(m.URL); err != nil {
		return fmt.Errorf("target %s: %w", s.Name, err)
	}
	return nil
}

func (m *MCP) expand(env Lookup) error {
	e := &expander{env: env, secrets: m.given.Secrets}
	m.URL, m.Token, m.Dir = e.text(m.URL), e.text(m.Token), e.text(m.Dir)
	m.OAuth.expand(e)
	for i := range m.Command {
		m.Command[i] = e.text(m.Command[i])
	}
	for k, v := range m.Env {
		m.Env[k] = e.text(v)
	}
	for k, v := range m.Headers {
		m.Headers[k] = e.text(v)
	}
	return e.err()
}

// Dial connects to the server as the settings say.
func (m *MCP) Dial(ctx context.Context) (*mcpclient.Client, error) {
	cfg := mcpclient.Config{
		Command: m.Command, Dir: m.folder(), Env: m.environ(), Headers: http.Header{},
		Transport: m.Transport, Protocol: m.Protocol, LenientNotifications: m.Lenient,
		MaxMessage: m.MaxAnswer, MaxConns: m.given.Connections, Name: "mettle", Version: m.given.Version,
		OAuth: m.OAuth.client(), Elicit: m.elicit(), Secrets: m.given.Secrets,
		Timeouts: mcpclient.Timeouts{
			Start: time.Duration(m.Timeouts.Start), Connect: time.Duration(m.Timeouts.Connect),
			List: time.Duration(m.Timeouts.List), Call: time.Duration(m.Timeouts.Call), Close: time.Duration(m.Timeouts.Close),
		},
	}
	if m.Retries != nil {
		cfg.Retries = *m.Retries
		if cfg.Retries == 0 {
			cfg.Retries = -1
		}
	}
	if m.URL != "" {
		endpoint, err := Endpoint(m.URL)
		if err != nil {
			return nil, err
		}
		cfg.URL = endpoint
	}
	for k, v := range m.Headers {
		cfg.Headers.Set(k, v)
	}
	if m.Token != "" && cfg.Headers.Get("Authorization") == "" {
		cfg.Headers.Set("Authorization", "Bearer "+m.Token)
	}
	return mcpclient.Dial(ctx, cfg)
}

// Bounded tells that a command's calls have their own limits: what a call waits
// for its turn does not count.
func (m *MCP) Bounded() bool { return len(m.Command) > 0 }

// Prepare connects and makes sure that the server has every tool that a case
// names, and that it takes the case's arguments; a missing one is told with what
// it may have been meant to be.
func (m *MCP) Prepare(ctx context.Context, env *eval.Env, cases []*eval.Case) error {
	if env != nil && env.Timeout > 0 && m.Bounded() {
		m.Timeouts.Call = kind.Duration(min(env.Timeout, cmp.Or(time.Duration(m.Timeouts.Call), env.Timeout)))
	}
	session, err := m.connect(ctx)
	if err != nil {
		return &eval.Missing{What: []string{err.Error()}}
	}
	m.session = session
	tools, err := session.Tools(ctx)
	if err != nil {
		return &eval.Missing{What: []string{err.Error()}}
	}
	return m.bind(cases, tools)
}

// Respond calls the case's tool.
func (m *MCP) Respond(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
	t := m.tools[a.Case.Tool]
	var steps []eval.Step
	r, err := m.answer(m.call(ctx, a, &steps, t.name, t.arguments(a.Case)))
	if err == nil {
		r.Steps = steps
		t.judge(r)
	}
	return r, err
}

// call calls a tool for an attempt, reports it as an event, and adds it to the
// attempt's steps. Every call of a tool in a run is made here.
func (m *MCP) call(ctx context.Context, a *eval.Attempt, steps *[]eval.Step, tool string, args json.RawMessage) (*mcpclient.Result, error) {
	step := eval.Step{ID: strconv.Itoa(len(*steps) + 1), Kind: eval.CallStep, Name: tool, Args: args}
	asked := Asked{Server: m.given.Name, Tool: tool, Args: args, Case: a.Case.ID, Arm: a.Arm, Trial: max(1, a.Trial), Repeat: 1}
	for _, s := range *steps {
		if s.Kind == step.Kind && s.Name == tool && bytes.Equal(s.Args, args) {
			asked.Repeat++
		}
	}
	call := a.Begin(eval.ToolEvent, tool, args)
	res, err := m.session.Call(ctx, asked)
	step.Start = call.Start()
	if err != nil {
		call.End(nil, nil, err)
	} else {
		call.End(res, nil, nil)
		step.Duration = res.Latency
	}
	*steps = append(*steps, step)
	return res, err
}

// answer makes what came of a call a response.
func (m *MCP) answer(res *mcpclient.Result, err error) (*eval.Response, error) {
	var rpc *mcpclient.RPCError
	if errors.As(err, &rpc) && rpc.Code == invalidParams {
		// The server turned the arguments down: newer protocol versions ask
		// for this to be an answer with isError, so older servers' form of it
		// is read as the same.
		return &eval.Response{Text: rpc.Message, IsError: true, Notes: []string{"the server answered with JSON-RPC error -32602"}}, nil
	}
	if err != nil {
		return nil, classed(err)
	}
	r := response(res)
	m.Envelope.Split(r)
	return r, nil
}

const invalidParams = -32602

// fault is an error of the client that tells the core its class.
type fault struct {
	error
	class string
}

func (f *fault) Class() string { return f.class }

// Tries tells the core how often a call was made.
func (f *fault) Tries() int {
	var e *mcpclient.Error
	var kept *callError
	switch {
	case errors.As(f.error, &e):
		return e.Attempts
	case errors.As(f.error, &kept):
		return kept.Attempts
	}
	return 0
}

func (f *fault) Unwrap() error { return f.error }

func classed(err error) error {
	var e *mcpclient.Error
	if errors.As(err, &e) {
		return &fault{err, string(e.Class)}
	}
	return err
}

// Describe says what the server turned out to be.
func (m *MCP) Describe() map[string]string {
	d := map[string]string{"type": "mcp"}
	if m.session == nil {
		return d
	}
	info := m.session.Info()
	for k, v := range map[string]string{
		"server": strings.TrimSpace(info.Name + " " + info.Version), "protocol": info.Protocol,
		"transport": info.Transport, "tools": m.note, "tools_digest": info.ToolsHash,
	} {
		if v != "" {
			d[k] = v
		}
	}
	if len(m.unusable) > 0 {
		d["schemas"] = "not checked: " + strings.Join(m.unusable, "; ")
	}
	if info.Noise > 0 {
		d["noise"] = fmt.Sprintf("%d lines on standard output that are no protocol messages", info.Noise)
	}
	return d
}

// Close ends the session and, of a command, the process.
func (m *MCP) Close() error {
	if m.session == nil {
		return nil
	}
	return m.session.Close()
}

// response makes the parts of a tool's result one text.
func response(res *mcpclient.Result) *eval.Response {
	r := &eval.Response{
		Structured: res.Structured, IsError: res.IsError, Latency: res.Latency, Retries: res.Retries, Notes: res.Findings,
		Exchange: &eval.Exchange{Request: res.Request, Response: res.Response},
	}
	if res.Attempts > 1 {
		r.Attempts = res.Attempts
	}
	var texts []string
	for _, p := range res.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		} else if p.URI != "" {
			texts = append(texts, p.URI)
		}
	}
	r.Text = strings.Join(texts, "\n")
	if strings.TrimSpace(r.Text) == "" && len(r.Structured) > 0 {
		var b bytes.Buffer
		if json.Indent(&b, r.Structured, "", "  ") == nil {
			r.Text = b.String()
		}
	}
	return r
}
