package mcpclient

import (
	"context"
	"sync"
	"time"
)

// tasks owns the goroutines of a client and the context they live under.
type tasks struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func newTasks() *tasks {
	t := &tasks{}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// spawn runs f, unless the client is closing.
func (t *tasks) spawn(f func(ctx context.Context)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Go(func() { f(t.ctx) })
	return true
}

// close tells all tasks to end. It reports whether it was the first to do so.
func (t *tasks) close() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.closed
	t.closed = true
	t.cancel(errClosed)
	return first
}

// bound gives ctx a deadline and ends it when the client is closed.
func (t *tasks) bound(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.ctx, func() { cancelCause(errClosed) })
	ctx, cancel := context.WithTimeout(ctx, d)
	return ctx, func() {
		stop()
		cancel()
		cancelCause(nil)
	}
}
