package docserver

import (
	"context"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// folder is a folder of pages that can change.
type folder struct {
	mu    sync.Mutex
	pages fstest.MapFS
	err   error
}

func (f *folder) Open(name string) (fs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
	}
	return f.pages.Open(name)
}

func (f *folder) change(pages fstest.MapFS, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages, f.err = pages, err
}

func pageAbout(project string, modified int) fstest.MapFS {
	return fstest.MapFS{project + "/a.md": {Data: []byte("# Anvils\n\nAn anvil.\n"), ModTime: time.Unix(int64(modified), 0)}}
}

// TestWatch changes the pages in every way, and looks at what is served after
// the next look at them.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &folder{pages: pageAbout("one", 1)}
		ix, _, err := Load(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		s := New(ix, Options{Now: time.Now})
		f.change(pageAbout("two", 1), nil) // between reading and watching
		var mu sync.Mutex
		var reports []string
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Watch(ctx, f, time.Second, func(skipped []string, err error) {
				report := "indexed"
				if err != nil {
					report = err.Error()
				}
				for _, s := range skipped {
					report += "; " + s
				}
				mu.Lock()
				defer mu.Unlock()
				reports = append(reports, report)
			})
		}()
		for _, step := range []struct {
			name   string
			change func()
			serves string
			says   []string
		}{
			{"changed before", func() {}, "two", []string{"indexed"}},
			{"the same", func() {}, "two", nil},
			{"another page", func() { f.change(pageAbout("three", 1), nil) }, "three", []string{"indexed"}},
			{"touched", func() { f.change(pageAbout("three", 2), nil) }, "three", []string{"indexed"}},
			{"gone", func() { f.change(nil, fs.ErrNotExist) }, "three", []string{"open .: file does not exist"}},
			{"still gone", func() {}, "three", nil},
			{"back", func() { f.change(pageAbout("three", 2), nil) }, "three", []string{"indexed"}},
			{"no pages", func() { f.change(fstest.MapFS{"a.txt": {}}, nil) }, "three", []string{"there are no pages left"}},
			{"one of two broken", func() {
				p := pageAbout("four", 1)
				p["four/b.md"] = &fstest.MapFile{Data: []byte("\x00")}
				f.change(p, nil)
			}, "four", []string{"indexed; four/b.md: not text in UTF-8"}},
		} {
			step.change()
			time.Sleep(1500 * time.Millisecond) // of the bubble's own time
			synctest.Wait()
			mu.Lock()
			if diff := cmp.Diff(step.says, reports); diff != "" {
				t.Errorf("%s: reports (-want +got)\n%s", step.name, diff)
			}
			reports = nil
			mu.Unlock()
			s.mu.RLock()
			got := s.index.names()
			s.mu.RUnlock()
			if diff := cmp.Diff([]string{step.serves}, got); diff != "" {
				t.Errorf("%s: serves (-want +got)\n%s", step.name, diff)
			}
		}
		cancel()
		<-done
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
