//go:build unix

package store_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
)

// TestRunsArePrivate: answers may hold what is not for everybody on the
// machine.
func TestRunsArePrivate(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "runs")
	record(t, root, "private", 1, suiteOf(3))
	w, err := store.Resume(filepath.Join(root, "private"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Keep([]byte("an artifact")); err != nil {
		t.Fatal(err)
	}
	if err := w.Spool("listener", []eval.Identity{{Case: "case-001"}}); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		seen++
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil || seen < 10 {
		t.Errorf("%d files and folders, %v", seen, err)
	}
}
