package mcpclient

import (
	"context"
	"sync"
	"sync/atomic"
)

// turns lets the calls of a process through. Many processes answer one call
// after the other; if all calls were written at once, each would be charged the
// time of those before it. So one call is sent at a time until the server has
// shown that it can do more: that it answers a ping while it works on a call.
type turns struct {
	client *Client
	turn   chan struct{} // holds a value while a call that had to wait for its turn is under way
	free   chan struct{} // closed when the server works on several calls at once
	open   sync.Once
	asking atomic.Bool  // a ping is under way, or no more are sent
	late   atomic.Int32 // pings that were answered after the call, or not at all
}

func newTurns(c *Client) *turns {
	return &turns{client: c, turn: make(chan struct{}, 1), free: make(chan struct{})}
}

// maxLate is how many pings a server may answer after the call before it counts
// as one that does one thing at a time. More than one, because the
// answer to a fast call may cross the ping.
const maxLate = 3

// take waits for the turn of a call. done ends it.
func (t *turns) take(ctx context.Context) (done func(), f *fault) {
	select {
	case <-t.free:
		return func() {}, nil
	case t.turn <- struct{}{}:
		return func() { <-t.turn }, nil
	default:
	}
	if t.asking.CompareAndSwap(false, true) && !t.client.tasks.spawn(t.ask) {
		t.asking.Store(false)
	}
	select {
	case <-t.free:
		return func() {}, nil
	case t.turn <- struct{}{}:
		return func() { <-t.turn }, nil
	case <-ctx.Done():
		return nil, ctxFault(ctx)
	case <-t.client.tasks.ctx.Done():
		return nil, ctxFault(t.client.tasks.ctx)
	}
}

// ask sends a ping beside the call that is under way. In the modern era, which
// has no ping, server/discover serves; any answer will do, an error too.
func (t *turns) ask(ctx context.Context) {
	c := t.client
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	var rep reply
	if l, f := c.live(ctx); f == nil {
		req := &request{id: c.ids.Add(1), method: methodPing, params: []byte("{}"), beacon: true}
		if l.meta != nil {
			req.method, req.params = methodDiscover, listParams(l.meta, nil)
		}
		rep, _ = l.conn.rpc(ctx, req)
	}
	if rep.overtook {
		t.open.Do(func() { close(t.free) })
	} else if t.late.Add(1) < maxLate {
		t.asking.Store(false)
	}
}
