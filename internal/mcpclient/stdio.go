package mcpclient

import (
	"context"
	"sync"
	"time"
)

// A stdioConn talks to a process, one message a line.
type stdioConn struct {
	*mux
	proc  *process
	jobs  chan []byte // lines to write
	quit  chan struct{}
	once  sync.Once
	loops sync.WaitGroup
	noise func([]byte)
	grace time.Duration
}

func openStdio(cfg Config, probe time.Duration, hello []byte, stderr *tail, noise func([]byte)) (*stdioConn, error) {
	proc, err := startProcess(cfg, stderr)
	if err != nil {
		return nil, err
	}
	c := &stdioConn{
		mux: newMux(), proc: proc, noise: noise, grace: cfg.Timeouts.Close,
		// Room for a few lines keeps callers from waiting for each other's
		// write, and lets a cancellation be queued without waiting at all.
		jobs: make(chan []byte, 16), quit: make(chan struct{}),
	}
	c.mux.send, c.mux.abandon, c.mux.probe, c.mux.hello = c.enqueue, c.cancel, probe, hello
	c.loops.Go(func() { c.readLoop(cfg.MaxMessage) })
	c.loops.Go(c.writeLoop)
	return c, nil
}

func (c *stdioConn) agreed(string) {}

// enqueue hands a message to the writer. A server that does not read its input
// fills the pipe; the wait for it must end with ctx and not block other calls.
func (c *stdioConn) enqueue(ctx context.Context, body []byte) *fault {
	select {
	case c.jobs <- append(body, '\n'):
		return nil
	case <-ctx.Done():
		return ctxFault(ctx)
	case <-c.quit:
		return lostFault("the connection is closed", nil)
	}
}

func (c *stdioConn) cancel(id int64) {
	select {
	case c.jobs <- append(cancelBody(id), '\n'):
	default:
	}
}

func (c *stdioConn) writeLoop() {
	for {
		select {
		case data := <-c.jobs:
			if _, err := c.proc.stdin.Write(data); err != nil {
				c.finish("the server closed its input")
				return
			}
		case <-c.quit:
			return
		}
	}
}

func (c *stdioConn) readLoop(limit int64) {
	lines := newLineReader(c.proc.stdout, limit)
	for {
		ln, err := lines.next()
		if err != nil {
			c.finish("the server closed its output")
			return
		}
		if ln.tooLong {
			c.tooLong(&ln, limit)
			continue
		}
		sift(ln.text, c.deliver, c.noise)
	}
}

// finish ends the connection and says why: how the process ended if it did,
// else what was seen of it.
func (c *stdioConn) finish(seen string) {
	f := lostFault(seen, nil)
	if ending := c.proc.ending(); ending != "" {
		f.text = ending
	}
	f.body = c.proc.lastWords()
	c.end(f)
}

func (c *stdioConn) stop(bool) {
	c.once.Do(func() {
		close(c.quit)
		c.proc.stop(c.grace)
		c.loops.Wait()
	})
}
