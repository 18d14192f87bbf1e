package docserver

import (
	"context"
	"fmt"
	"io/fs"
	"time"
)

// Watch looks at the pages every so often and indexes them again when a file
// came, went or changed; report is told of it. It polls: that works on every
// file system, and a folder of pages is walked in milliseconds. It returns when
// ctx ends.
//
// While the pages cannot be read, or there are none, the server goes on to
// answer from those it had.
func (s *Server) Watch(ctx context.Context, pages fs.FS, every time.Duration, report func(skipped []string, err error)) {
	s.mu.RLock()
	last := s.index.stamp
	s.mu.RUnlock()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := walk(ctx, pages, nil)
		if now == last || ctx.Err() != nil {
			continue
		}
		last = now
		if err != nil {
			report(nil, err)
			continue
		}
		report(s.reload(ctx, pages))
	}
}

func (s *Server) reload(ctx context.Context, pages fs.FS) (skipped []string, err error) {
	ix, skipped, err := Load(ctx, pages)
	if err != nil {
		return skipped, err
	}
	if len(ix.projects) == 0 {
		_ = ix.Close()
		return skipped, fmt.Errorf("there are no pages left")
	}
	return skipped, s.Replace(ix)
}
