// Package fsx is what the os package lacks for files that must survive a crash
// or a second process: replacing a file in one step, and locking it.
package fsx

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Replace writes a file in one step: a reader sees the old content or the new
// content, and an error leaves the old file alone. A new file has the mode 0644
// and its missing folders are made; an existing one keeps its mode. A symbolic
// link is followed, and a device or a pipe is written to directly. What a killed
// process left behind in the folder is removed first.
func Replace(path string, write func(io.Writer) error) error {
	Sweep(filepath.Dir(path))
	return replace(path, shared, func(f *os.File) error { return write(f) })
}

// modes are those of new files and folders.
type modes struct{ file, folder fs.FileMode }

var (
	shared  = modes{0o644, 0o755}
	private = modes{0o600, 0o700} // what servers and models said
)

// WritePrivate is [Replace] with content that is at hand, for nobody but the
// owner to read: a new file has the mode 0600, and its folders 0700.
func WritePrivate(path string, data []byte) error {
	return replace(path, private, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// WriteSynced is [WritePrivate] that returns when the file is on the disk.
func WriteSynced(path string, data []byte) error {
	return ReplaceSynced(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ReplaceSynced is [Replace] of a private file that returns when it is on the disk.
func ReplaceSynced(path string, write func(io.Writer) error) error {
	err := replace(path, private, func(f *os.File) error { return errors.Join(write(f), f.Sync()) })
	if err == nil {
		SyncDir(filepath.Dir(path))
	}
	return err
}

func replace(path string, new modes, write func(*os.File) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := new.file
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%s is a folder", path)
		case !info.Mode().IsRegular():
			return writeThrough(path, write)
		}
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, new.folder); err != nil {
		return err
	}
	f, lock, err := createTemp(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	err = errors.Join(write(f), f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

const tempPattern = ".mettle-*"

// createTemp makes a file that [Sweep] leaves alone until its lock is closed.
func createTemp(dir string) (f *os.File, lock io.Closer, err error) {
	for range 100 {
		if f, err = os.CreateTemp(dir, tempPattern); err != nil || !sweeps {
			return f, io.NopCloser(nil), err
		}
		if lock, err = Lock(f.Name()); err == nil {
			own, err1 := f.Stat()
			now, err2 := os.Stat(f.Name())
			if err1 == nil && err2 == nil && os.SameFile(own, now) {
				return f, lock, nil
			}
			_ = lock.Close()
		}
		_ = f.Close() // it was swept before it was locked
		_ = os.Remove(f.Name())
	}
	return nil, nil, cmp.Or(err, errors.New("temporary files vanish"))
}

// sweeps tells whether a file can be locked while it is written and renamed.
const sweeps = runtime.GOOS != "windows"

// Sweep removes the temporary files that killed processes left in a folder.
func Sweep(dir string) {
	if !sweeps {
		return
	}
	left, _ := filepath.Glob(filepath.Join(escapeGlob(dir), tempPattern))
	for _, path := range left {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if lock, err := Lock(path); err == nil {
			_ = os.Remove(path)
			_ = lock.Close()
		}
	}
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func writeThrough(path string, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Writable tells why [Replace] could not write a file, or nil. It makes missing
// folders.
func Writable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, lock, err := createTemp(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()), lock.Close())
}

// SyncDir makes the names in a folder last, such as that of a renamed file. Not
// every system can sync a folder, and a rename that comes late loses nothing:
// errors are ignored.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
