package mcpclient

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// An sseConn speaks HTTP+SSE, the transport of 2024-11-05: answers come on one
// long stream, messages go to an address that the stream's first event names.
type sseConn struct {
	*mux
	web      *web
	endpoint *url.URL
	header   http.Header
	cancel   context.CancelFunc
	loop     sync.WaitGroup
}

// openSSE opens the stream. ctx bounds only the opening.
func openSSE(ctx context.Context, w *web) (*sseConn, *fault) {
	c := &sseConn{mux: newMux(), web: w}
	c.mux.send, c.mux.abandon = c.post, c.cancelCall
	c.header = w.header.Clone()
	c.header.Set("Content-Type", typeJSON)
	c.header.Set("Accept", typeJSON+", "+typeStream)
	get := w.header.Clone()
	get.Set("Accept", typeStream)

	life, cancel := context.WithCancel(w.tasks.ctx)
	c.cancel = cancel
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	resp, f := w.do(life, http.MethodGet, w.url, get, nil)
	if f == nil {
		f = notStream(w, resp)
	}
	if f != nil {
		cancel()
		if ctx.Err() != nil {
			f = ctxFault(ctx)
		}
		return nil, f
	}
	events := newEventReader(resp.Body, w.cfg.MaxMessage)
	events.drain = true
	if f := c.readEndpoint(ctx, events); f != nil {
		resp.Body.Close()
		cancel()
		return nil, f
	}
	c.loop.Go(func() {
		defer resp.Body.Close()
		c.end(c.readEvents(life, events))
	})
	return c, nil
}

// notStream says what is wrong with a response that should be a stream.
func notStream(w *web, resp *http.Response) *fault {
	var f *fault
	switch {
	case resp.StatusCode/100 != 2:
		f = w.statusFault(resp, 0, false)
	case mediaType(resp.Header) != typeStream:
		f = protocolFault("a GET is answered with content type %q instead of an event stream", resp.Header.Get("Content-Type"))
	default:
		return nil
	}
	discard(resp)
	return f
}

// readEndpoint reads the first event. An address of another origin is refused:
// it would be sent the credentials of this one.
func (c *sseConn) readEndpoint(ctx context.Context, events *eventReader) *fault {
	ev, err := events.next()
	if err != nil {
		if ctx.Err() != nil {
			return ctxFault(ctx)
		}
		return &fault{class: ClassTransport, text: "the event stream ended at once", cause: err, again: true}
	}
	if ev.name != "endpoint" {
		return protocolFault("the first event is %q instead of endpoint", ev.name)
	}
	endpoint, err := c.web.url.Parse(string(ev.data))
	if err != nil {
		return protocolFault("the endpoint event holds no URL")
	}
	if !sameOrigin(endpoint, c.web.url) {
		return protocolFault("the endpoint %s is of another origin than %s", shown(endpoint), shown(c.web.url))
	}
	c.endpoint = endpoint
	return nil
}

func (c *sseConn) readEvents(ctx context.Context, events *eventReader) *fault {
	for {
		ev, err := events.next()
		switch {
		case err != nil && ctx.Err() != nil:
			return lostFault("the connection is closed", nil)
		case err != nil:
			return lostFault("the event stream ended", err)
		case ev.tooLong != nil:
			c.tooLong(ev.tooLong, c.web.cfg.MaxMessage)
		case ev.isMessage():
			c.deliver(ev.data)
		}
	}
}

// post sends one message; its answer comes on the stream.
func (c *sseConn) post(ctx context.Context, body []byte) *fault {
	resp, f := c.web.do(ctx, http.MethodPost, c.endpoint, c.header, body)
	if f != nil {
		return f
	}
	defer discard(resp)
	if resp.StatusCode/100 != 2 {
		// The address itself carries the session.
		return c.web.statusFault(resp, 0, true)
	}
	return nil
}

func (c *sseConn) cancelCall(id int64) {
	c.web.tasks.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, tellTime)
		defer cancel()
		_ = c.post(ctx, cancelBody(id)) // nobody waits for it
	})
}

// Write implements mcp.Connection. What breaks on the way is tried again, as
// for a call.
func (c *sseConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	_, f := retry(ctx, c.web.cfg.Retries, func() *fault {
		err := c.mux.Write(ctx, msg)
		var f *fault
		if !errors.As(err, &f) {
			return nil
		}
		g := *f // a copy: others may hold it too
		g.again = f.again && !f.lost
		return &g
	})
	req, isRequest := msg.(*jsonrpc.Request)
	lenient := c.web.cfg.LenientNotifications && isRequest && !req.IsCall()
	if f == nil || lenient && f.status >= 400 {
		return nil
	}
	return f
}

// agreed has nothing to note: the version header is younger than this
// transport.
func (c *sseConn) agreed(string) {}

func (c *sseConn) stop(bool) {
	c.cancel()
	c.loop.Wait()
}
