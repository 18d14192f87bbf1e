package docserver

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"time"
)

// Watch looks at the pages every so often and indexes them again when a file
// came, went or changed. It polls: that works on every file system, and a
// folder of pages is walked in milliseconds. It returns when ctx ends.
func Watch(ctx context.Context, fsys fs.FS, every time.Duration, changed func(*Index, error)) {
	last, _ := stamp(fsys)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := stamp(fsys)
		if err != nil || now == last {
			continue // a folder caught in the middle of a change is looked at again
		}
		last = now
		ix, _, err := Load(fsys)
		changed(ix, err)
	}
}

// stamp is a number that differs when the pages do.
func stamp(fsys fs.FS) (uint64, error) {
	h := fnv.New64a()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isMarkdown(name) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return h.Sum64(), err
}
