package mcpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mettle-eval/mettle/internal/term"
)

// A postConn speaks streamable HTTP: every message is a POST of its own, whose
// answer is JSON or a stream of events. Nothing but the session id ties the
// requests together, so an odd answer to one leaves the others alone.
//
// The standalone GET stream is opened only for questions to the user: it
// brings nothing else a caller of tools needs, and servers get it wrong in
// many ways.
type postConn struct {
	*web
	*inbox
	probe time.Duration

	mu      sync.Mutex
	session string
	version string
	header  atomic.Pointer[http.Header] // of the next POST, shared and never modified
	gone    atomic.Pointer[fault]
	refused *fault // what makes an attempt at the legacy handshake pointless
}

func openPost(w *web, probe time.Duration) *postConn {
	c := &postConn{web: w, inbox: newInbox(), probe: probe}
	c.learn("", "")
	return c
}

// learn notes the session and the protocol version; "" changes nothing.
func (c *postConn) learn(session, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if session != "" {
		c.session = session
	}
	if version != "" {
		c.version = version
	}
	h := c.web.header.Clone()
	h.Set("Content-Type", typeJSON)
	h.Set("Accept", typeJSON+", "+typeStream)
	if c.session != "" {
		h.Set(headerSession, c.session)
	}
	if c.version != "" {
		h.Set(headerVersion, c.version)
	}
	c.header.Store(&h)
}

func (c *postConn) agreed(version string) {
	c.learn("", version)
	if c.cfg.Elicit != nil && !isModern(version) {
		c.listen()
	}
}

func (c *postConn) modern() bool { return isModern((*c.header.Load()).Get(headerVersion)) }

func (c *postConn) ended() *fault { return c.gone.Load() }

// stop tells the server that the session is over, if there is one.
func (c *postConn) stop(politely bool) {
	c.Close()
	header := *c.header.Load()
	if !politely || c.ended() != nil || header.Get(headerSession) == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeouts.Close)
	defer cancel()
	// Servers may answer 405, and a session that is not deleted expires.
	if resp, f := c.do(ctx, http.MethodDelete, c.url, header, nil); f == nil {
		discard(resp)
	}
}

// rpc implements conn.
func (c *postConn) rpc(ctx context.Context, req *request) (reply, *fault) {
	header := *c.header.Load()
	if c.modern() {
		header = header.Clone()
		header.Set("Mcp-Method", req.method)
		if req.tool != "" {
			header.Set("Mcp-Name", headerValue(req.tool))
		}
		for _, f := range req.header {
			header.Set(f.name, f.value)
		}
	}
	rep, f := c.exchange(ctx, req.id, header, req.body())
	if f != nil && f.lost {
		c.gone.Store(f)
	}
	if f != nil && ctx.Err() != nil && !c.modern() {
		// Up to 2025-11-25 closing the connection does not cancel a request.
		c.tell(cancelBody(req.id))
	}
	return rep, f
}

// exchange posts one request and reads its answer.
func (c *postConn) exchange(ctx context.Context, id int64, header http.Header, body []byte) (reply, *fault) {
	resp, f := c.do(ctx, http.MethodPost, c.url, header, body)
	if f != nil {
		return reply{}, f
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return reply{}, c.statusFault(resp, id, header.Get(headerSession) != "")
	}
	var rep reply
	if mediaType(resp.Header) == typeStream {
		rep, f = c.readStream(ctx, id, resp)
	} else if raw, broken := readAll(ctx, resp, c.cfg.MaxMessage); broken != nil {
		f = broken
	} else {
		rep, f = readAnswer(id, raw, resp)
	}
	rep.session = resp.Header.Get(headerSession)
	return rep, f
}

// readAnswer reads the body of a POST as the answer to request id.
func readAnswer(id int64, raw []byte, resp *http.Response) (reply, *fault) {
	msg, ok := parseMessage(raw)
	if !ok {
		f := protocolFault("the answer is not a JSON-RPC message (status %d, content type %q)", resp.StatusCode, resp.Header.Get("Content-Type"))
		f.body = string(raw)
		return reply{}, f
	}
	result, f := answerTo(id, &msg)
	rep := reply{result: result}
	if t := mediaType(resp.Header); f == nil && t != typeJSON {
		rep.findings = append(rep.findings, "the answer is JSON, but its content type is "+term.Excerpt(`"`+t+`"`, 80))
	}
	return rep, f
}

// answerTo judges a response that came as the answer to request id.
func answerTo(id int64, msg *message) ([]byte, *fault) {
	if !msg.isResponse() {
		return nil, protocolFault("the answer is not a JSON-RPC response")
	}
	n, ok := msg.number()
	switch {
	case ok && n == id:
	case msg.anonymous() && msg.err != nil:
		// The server could not tell which request its error is about; we can.
	default:
		return nil, protocolFault("the answer has the id %s instead of %d", msg.id, id)
	}
	return msg.answer()
}

const (
	// maxResumes bounds how often a stream that makes no progress is resumed.
	maxResumes = 5
	// resumeDelay is the wait before resuming if the server names none.
	resumeDelay = time.Second
	// lingerTime is how long a server may keep a stream open after the answer
	// before the connection is given up instead of used again.
	lingerTime = 50 * time.Millisecond
)

// readStream reads events until the answer to id comes, and resumes a stream
// that the server closed before, as 2025-11-25 allows.
func (c *postConn) readStream(ctx context.Context, id int64, resp *http.Response) (reply, *fault) {
	var at position
	for resumes := 0; ; resumes++ {
		before := at.id
		result, f, found := c.scan(ctx, id, resp, &at)
		if found {
			return reply{result: result}, f
		}
		if at.id != before {
			resumes = 0
		}
		if f == nil {
			f = &fault{class: ClassTransport, text: "the stream ended without an answer", again: true}
		}
		if !f.again || at.id == "" || resumes >= maxResumes || c.modern() || !sleep(ctx, at.delay()) {
			return reply{}, f
		}
		next, broken := c.resume(ctx, at.id)
		if broken != nil {
			return reply{}, broken
		}
		defer next.Body.Close()
		resp = next
	}
}

// A position is where a stream can be resumed.
type position struct {
	id    string
	retry time.Duration
	set   bool
}

func (p *position) delay() time.Duration {
	if p.set {
		return p.retry
	}
	return resumeDelay
}

// scan reads the events of one response. found means that the stream brought
// the answer, be it a good one or not.
func (c *postConn) scan(ctx context.Context, id int64, resp *http.Response, at *position) (result []byte, f *fault, found bool) {
	events := newEventReader(resp.Body, c.cfg.MaxMessage)
	for {
		ev, err := events.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil, false
		case err != nil:
			f = brokenFault(ctx, err)
			f.text = "the stream broke off"
			return nil, f, false
		}
		if ev.tooLong != nil {
			return nil, tooLargeFault(c.cfg.MaxMessage), true
		}
		if ev.id != "" {
			at.id = ev.id
		}
		if ev.retry >= 0 {
			at.retry, at.set = ev.retry, true
		}
		if !ev.isMessage() {
			continue
		}
		msg, ok := parseMessage(ev.data)
		switch {
		case ok && msg.method != nil:
			c.pushRaw(ev.data)
		case ok:
			result, f = answerTo(id, &msg)
			linger(resp)
			return result, f, true
		case ev.cut:
			return nil, nil, false
		default:
			f = protocolFault("an event of the answer is not a JSON-RPC message")
			f.body = string(ev.data)
			return nil, f, true
		}
	}
}

// linger waits a moment for the end of a stream whose answer is here: only
// then can the connection be used again.
func linger(resp *http.Response) {
	timer := time.AfterFunc(lingerTime, func() { resp.Body.Close() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, resp.Body)
}

// resume asks for the rest of a stream.
func (c *postConn) resume(ctx context.Context, last string) (*http.Response, *fault) {
	header := (*c.header.Load()).Clone()
	header.Del("Content-Type")
	header.Set("Accept", typeStream)
	if last != "" {
		header.Set("Last-Event-ID", last)
	}
	resp, f := c.do(ctx, http.MethodGet, c.url, header, nil)
	if f != nil {
		return nil, f
	}
	if resp.StatusCode/100 != 2 || mediaType(resp.Header) != typeStream {
		discard(resp)
		return nil, &fault{
			class: ClassTransport, status: resp.StatusCode, again: true,
			text: "the stream ended without an answer and cannot be resumed",
		}
	}
	return resp, nil
}

// listenTime is how long a server may take to open the stream for its
// questions before calls begin without it.
const listenTime = 2 * time.Second

// listen opens the stream on which a server may put questions that it does not
// tie to the call they are about. A server that has none refuses it.
func (c *postConn) listen() {
	opened := make(chan struct{})
	c.tasks.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		c.tasks.spawn(func(context.Context) {
			select {
			case <-c.closed:
				cancel()
			case <-ctx.Done():
			}
		})
		resp, f := c.resume(ctx, "")
		close(opened)
		c.hear(ctx, resp, f)
	})
	timer := time.NewTimer(listenTime)
	defer timer.Stop()
	select {
	case <-opened:
	case <-timer.C:
	case <-c.tasks.ctx.Done():
	}
}

// hear hands what comes on the stream to the SDK, and resumes it as long as it
// brings anything.
func (c *postConn) hear(ctx context.Context, resp *http.Response, f *fault) {
	var at position
	for idle := 0; f == nil && idle < maxResumes; idle++ {
		before := at.id
		_, _, _ = c.scan(ctx, 0, resp, &at) // no answer is waited for here
		resp.Body.Close()
		if at.id != before {
			idle = 0
		}
		if !sleep(ctx, at.delay()) {
			return
		}
		resp, f = c.resume(ctx, at.id)
	}
	if f == nil {
		resp.Body.Close()
	}
}

// Write implements mcp.Connection for the SDK's own messages. A request that
// fails is answered with the fault instead of breaking the SDK's connection.
func (c *postConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	body, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	req, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok:
		c.tell(body)
	case req.IsCall():
		result, f := c.ask(ctx, req, body)
		c.pushAnswer(req.ID, result, f)
	case req.Method == methodInitialized:
		if f := c.notify(ctx, body); f != nil {
			return f
		}
	default:
		// Nothing depends on it, and the SDK would wait for it when closing.
		c.tell(body)
	}
	return nil
}

// ask sends a request of the SDK's handshake.
func (c *postConn) ask(ctx context.Context, req *jsonrpc.Request, body []byte) ([]byte, *fault) {
	header := *c.header.Load()
	if req.Method == methodDiscover {
		c.setProbed(probeAsked)
		header = header.Clone()
		header.Set("Mcp-Method", req.Method)
		header.Set(headerVersion, metaVersion(req.Params))
		if c.probe > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.probe)
			defer cancel()
		}
	} else if c.refused != nil {
		return nil, c.refused
	}
	var rep reply
	_, f := retry(ctx, c.cfg.Retries, func() (f *fault) {
		rep, f = c.exchange(ctx, sdkID(req.ID), header, body)
		if f != nil && f.rpc != nil && req.Method == methodDiscover {
			f.again = false // whatever the status: it is how a server says that it does not know the method
		}
		return f
	})
	switch {
	case req.Method == methodDiscover:
		c.judgeProbe(f)
	case req.Method == methodInitialize && f == nil:
		c.learn(rep.session, resultVersion(rep.result))
	}
	return rep.result, f
}

// judgeProbe notes what server/discover came to. Where the server cannot be
// reached or wants credentials, asking it in the older way is pointless.
func (c *postConn) judgeProbe(f *fault) {
	c.setProbed(probeAnswered)
	switch {
	case f == nil:
	case f.class == ClassAuth, f.class == ClassTransport && f.status == 0:
		c.refused = f
	case f.class == ClassTimeout, f.again:
		c.setProbed(probeSilent)
	}
}

// tell sends a message that nobody waits for.
func (c *postConn) tell(body []byte) {
	c.tasks.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, tellTime)
		defer cancel()
		_ = c.notify(ctx, body)
	})
}

// tellTime bounds what is sent in the background.
const tellTime = 5 * time.Second

// notify sends a message that has no answer.
func (c *postConn) notify(ctx context.Context, body []byte) *fault {
	header := *c.header.Load()
	_, f := retry(ctx, c.cfg.Retries, func() *fault {
		resp, f := c.do(ctx, http.MethodPost, c.url, header, body)
		if f != nil {
			return f
		}
		defer discard(resp)
		if resp.StatusCode/100 == 2 || c.cfg.LenientNotifications && resp.StatusCode >= 400 {
			return nil
		}
		f = c.statusFault(resp, 0, header.Get(headerSession) != "")
		f.again = f.again && !f.lost
		f.text = "a notification was refused"
		return f
	})
	return f
}
