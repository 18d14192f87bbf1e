package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/secret"
)

// Client is a session with one server. All methods are safe for concurrent
// use. Close must be called in the end.
type Client struct {
	cfg     Config
	secrets *secrets
	tasks   *tasks
	web     *web
	sdk     *mcp.Client
	ids     atomic.Int64
	stderr  *tail
	noise   noiseLog
	turns   *turns // of a process; nil over HTTP

	// Settled by the first connect; only connect and its callers, of which
	// there is one at a time, touch them.
	transport string
	offer     string

	mu          sync.Mutex
	closed      bool
	link        *link
	dialing     *dialing
	hello       *mcp.InitializeResult // of the last handshake
	linkKind    string                // its transport
	listed      toolList
	connectTime time.Duration
	listTime    time.Duration
	reconnects  int
}

// dialing is an attempt to replace a lost link, shared by all who need it.
type dialing struct {
	done  chan struct{}
	link  *link
	fault *fault
}

// Dial connects to the server of cfg and does the handshake.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("server config: %w", err)
	}
	c := &Client{
		cfg: cfg, secrets: newSecrets(cfg), tasks: newTasks(), stderr: &tail{},
		transport: cfg.Transport, offer: cfg.Protocol,
		// The SDK announces roots unless it is given capabilities.
		sdk: mcp.NewClient(&mcp.Implementation{Name: cfg.Name, Version: cfg.Version},
			&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, ElicitationHandler: cfg.Elicit.forSDK()}),
	}
	c.noise.secrets = c.secrets
	c.ids.Store(firstID)
	if cfg.Transport == TransportStdio {
		c.turns = newTurns(c)
	}
	c.web = newWeb(cfg, c.tasks)
	var err error
	if c.web.auth, err = newAuthorizer(cfg, c.web, c.secrets); err != nil {
		c.Close()
		return nil, fmt.Errorf("server config: oauth: %w", err)
	}
	l, f := c.connectOnce(ctx)
	if f != nil {
		c.Close()
		return nil, c.secrets.newError(c.connectOp(), c.target(), 1, f)
	}
	c.link = l
	return c, nil
}

func (c *Client) connectOp() Op {
	if c.cfg.Transport == TransportStdio {
		return OpStart
	}
	return OpConnect
}

// target names the server in messages.
func (c *Client) target() string {
	if c.cfg.Transport == TransportStdio {
		return program(c.cfg.Command)
	}
	address, _ := secret.URL(c.cfg.URL)
	return address
}

// connectOnce makes a link and notes what worked for the links to come.
func (c *Client) connectOnce(ctx context.Context) (*link, *fault) {
	began := now()
	var l *link
	f := c.withToken(ctx, func() (f *fault) {
		l, f = c.connect(ctx)
		return f
	})
	if f != nil {
		return nil, f
	}
	c.transport = l.transport
	if c.offer == "" {
		c.offer = lastLegacy
		if v := l.hello.ProtocolVersion; isModern(v) {
			c.offer = v
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connectTime = now().Sub(began)
	c.hello, c.linkKind = l.hello, l.transport
	return l, nil
}

// live returns the current link. If it is lost the first caller to notice
// starts to replace it, and all wait for that one attempt.
func (c *Client) live(ctx context.Context) (*link, *fault) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, &fault{class: ClassCanceled, cause: errClosed}
	}
	if c.link != nil && c.link.conn.ended() == nil {
		defer c.mu.Unlock()
		return c.link, nil
	}
	d := c.dialing
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		c.dialing = d
		old := c.link
		c.link = nil
		c.tasks.spawn(func(ctx context.Context) { c.redial(ctx, old, d) })
	}
	c.mu.Unlock()
	select {
	case <-d.done:
		return d.link, d.fault
	case <-ctx.Done():
		return nil, ctxFault(ctx)
	}
}

// redial replaces old. It runs under the client's own context, because more
// than the caller who started it may wait.
func (c *Client) redial(ctx context.Context, old *link, d *dialing) {
	if old != nil {
		old.stop(false)
	}
	l, f := c.connectOnce(ctx)
	if f != nil {
		// What could be tried again has been, by the handshake itself.
		g := *f
		g.again = false
		g.text = "reconnect: " + g.text
		f = &g
	}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.link, c.dialing = l, nil
	}
	if l != nil {
		c.reconnects++
	}
	c.mu.Unlock()
	if closed && l != nil {
		l.stop(true)
		l, f = nil, &fault{class: ClassCanceled, cause: errClosed}
	}
	d.link, d.fault = l, f
	close(d.done)
}

// maxLosses is how many links one operation may lose before it counts as the
// cause: a tool that crashes its server would otherwise crash it again and
// again, and other calls with it.
const maxLosses = 3

// attempt runs op on the current link until it succeeds or fails for good. If
// reasons is given, it gets why each try failed.
func (c *Client) attempt(ctx context.Context, reasons *[]string, op func(l *link) *fault) (attempts int, f *fault) {
	losses := 0
	return retry(ctx, c.cfg.Retries, func() (f *fault) {
		defer func() {
			if f != nil && reasons != nil {
				*reasons = addFinding(*reasons, "%s", c.secrets.excerpt(f.reason(), excerptSize))
			}
		}()
		l, f := c.live(ctx)
		if f != nil {
			return f
		}
		f = c.withToken(ctx, func() *fault { return op(l) })
		if f != nil && f.lost {
			if losses++; losses >= maxLosses {
				g := *f
				g.again = false
				return &g
			}
		}
		return f
	})
}

// maxGrants is how many access tokens one operation may ask for: one to be let
// in, one for a scope more.
const maxGrants = 2

// withToken runs op, and again with a new access token if that is what it
// failed for.
func (c *Client) withToken(ctx context.Context, op func() *fault) *fault {
	f := op()
	for range maxGrants {
		if f == nil || f.challenge == nil || c.web.auth == nil {
			break
		}
		again, why := c.web.auth.renew(ctx, f.challenge)
		if why != nil && errors.Is(why.cause, errNoOAuth) {
			g := *f // a plain refusal, with what is missing to do more about it
			g.text = errNoOAuth.Error()
			return &g
		}
		if why != nil {
			return why
		}
		if !again {
			break
		}
		f = op()
	}
	return f
}

// Call calls a tool. args is a JSON object; nil means no arguments. An error
// means that no answer could be had, or that it was a JSON-RPC error; a tool
// that reports an error of its own gives a Result with IsError.
//
// A modern server may want parameters repeated in HTTP headers; which ones is
// known only after [Client.Tools].
func (c *Client) Call(ctx context.Context, tool string, args json.RawMessage) (*Result, error) {
	args, err := wireArgs(args)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", tool, err)
	}
	if c.turns != nil {
		done, f := c.turns.take(ctx)
		if f != nil {
			return nil, c.secrets.newError(OpCall, tool, 0, f)
		}
		defer done()
	}
	ctx, cancel := c.tasks.bound(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	var res *Result
	var reasons []string
	attempts, f := c.attempt(ctx, &reasons, func(l *link) (f *fault) {
		began := now()
		if res, f = c.callOnce(ctx, l, tool, args); f == nil {
			res.Latency = now().Sub(began)
		}
		return f
	})
	if f != nil {
		return nil, c.secrets.newError(OpCall, tool, attempts, f)
	}
	res.Attempts, res.Retries = attempts, reasons
	return res, nil
}

// wireArgs checks arguments and brings them on one line, as stdio needs it.
func wireArgs(args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	if !valid(args) {
		return nil, errors.New("the arguments are not valid JSON")
	}
	if !bytes.ContainsAny(args, "\r\n") {
		return args, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, args); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxRounds is how often a modern server may have a call repeated, and
// maxPolls how often without asking anything.
const (
	maxRounds = 20
	maxPolls  = 2
)

// callOnce makes one attempt at a call over l. A modern server may answer that
// the call is to be repeated with a state it hands out; that is still the
// same attempt.
func (c *Client) callOnce(ctx context.Context, l *link, tool string, args []byte) (*Result, *fault) {
	req := &request{method: methodCallTool, tool: tool}
	if l.meta != nil {
		req.header = paramHeaders(c.marks(tool), args)
	}
	var state, answers []byte
	for round, polls := 1, 0; ; round++ {
		req.id = c.ids.Add(1)
		req.params = callParams(tool, args, l.meta, state, answers)
		rep, f := l.conn.rpc(ctx, req)
		if f != nil {
			return nil, f
		}
		var again *repeat
		if l.meta != nil {
			again = inputRequired(rep.result)
		}
		if again == nil {
			return c.result(req, rep)
		}
		if answers, f = c.answers(ctx, again); f != nil {
			return nil, f
		}
		if state = again.state; answers == nil {
			polls++
		}
		if round >= maxRounds || polls > maxPolls || !sleep(ctx, pauseBefore(round, answers)) {
			return nil, protocolFault("the server keeps asking to repeat the call")
		}
	}
}

// result reads the answer to a call. A result that is no object, whatever the
// server meant by it, is not what a tool said.
func (c *Client) result(req *request, rep reply) (*Result, *fault) {
	raw, echoed := c.secrets.echoes.Answer(rep.result)
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return nil, protocolFault("the result of the call is %s", insteadOf("an object", raw))
	}
	res := parseResult(raw)
	res.Request = req.params
	for _, finding := range rep.findings {
		res.find("%s", c.secrets.clean(finding))
	}
	if to := c.web.moved.Load(); to != nil {
		res.find("the server redirects to another host, %s, which got no headers and tokens", c.secrets.clean(*to))
	}
	if echoed {
		res.find("the answer held a configured secret; it is removed")
	}
	return res, nil
}

func (c *Client) marks(tool string) []mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed.marks[tool]
}

func callParams(tool string, args, meta, state, answers []byte) []byte {
	name, err := json.Marshal(tool)
	if err != nil {
		name = []byte(`""`) // a string always marshals
	}
	b := make([]byte, 0, len(name)+len(args)+len(meta)+len(state)+len(answers)+64)
	b = append(append(b, `{"name":`...), name...)
	b = append(append(b, `,"arguments":`...), args...)
	if answers != nil {
		b = append(append(b, `,"inputResponses":`...), answers...)
	}
	if state != nil {
		b = append(append(b, `,"requestState":`...), state...)
	}
	if meta != nil {
		b = append(append(b, `,"_meta":`...), meta...)
	}
	return append(b, '}')
}

// Close ends the session, and a process together with all it started. Calls in
// flight end with [ClassCanceled]. It takes little more than Timeouts.Close.
func (c *Client) Close() error {
	c.mu.Lock()
	l := c.link
	c.link, c.closed = nil, true
	c.mu.Unlock()
	if !c.tasks.close() {
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if l != nil {
			l.stop(true)
		}
		c.tasks.wg.Wait()
		c.web.base.CloseIdleConnections()
	}()
	// What is ended inside takes up to Timeouts.Close; the rest is slack, so
	// that not even a bug can keep a run from ending.
	timer := time.NewTimer(2*c.cfg.Timeouts.Close + time.Second)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return c.secrets.newError(OpClose, c.target(), 1, &fault{class: ClassTimeout, text: "the session does not end"})
	}
}
