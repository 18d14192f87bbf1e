package fsx

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files in the folder, want 1 (%v)", len(entries), err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(path, text string) error{
		"Replace": func(path, text string) error {
			return Replace(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		},
		"WritePrivate": func(path, text string) error { return WritePrivate(path, []byte(text)) },
		"WriteSynced":  func(path, text string) error { return WriteSynced(path, []byte(text)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "new", "folder", "file")
			for _, text := range []string{"one, which is longer", "two"} {
				if err := write(path, text); err != nil {
					t.Fatal(err)
				}
				if got := content(t, path); got != text {
					t.Errorf("%q, want %q", got, text)
				}
			}
			alone(t, path)
		})
	}
}

func TestReplaceKeepsTheOldFileOnErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := WritePrivate(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Replace(path, func(w io.Writer) error { _, _ = io.WriteString(w, "half of the ne"); return broken })
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("%q", got)
	}
	alone(t, path)
}

// TestSweepLeavesWhatIsBeingWritten: a file of a killed process goes, one that is
// being written stays, and many writers do not get in each other's way.
func TestSweepLeavesWhatIsBeingWritten(t *testing.T) {
	t.Parallel()
	if !sweeps {
		t.Skip("files are not locked while they are written")
	}
	dir := filepath.Join(t.TempDir(), "a [folder]")
	if err := WritePrivate(filepath.Join(dir, ".mettle-left"), []byte("half")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "file")
	err := Replace(path, func(w io.Writer) error {
		Sweep(dir)
		_, err := io.WriteString(w, "new")
		return err
	})
	if err != nil || content(t, path) != "new" {
		t.Errorf("the file being written is gone: %v", err)
	}
	alone(t, path)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				if err := Replace(path, func(w io.Writer) error { _, err := io.WriteString(w, "again"); return err }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	alone(t, path)
}

func TestReplaceMode(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are a matter of Unix")
	}
	dir := t.TempDir()
	write := map[string]func(string) error{
		"shared":  func(path string) error { return Replace(path, func(io.Writer) error { return nil }) },
		"private": func(path string) error { return WritePrivate(path, nil) },
		"synced":  func(path string) error { return WriteSynced(path, nil) },
	}
	for name, want := range map[string]modes{"shared": shared, "private": private, "synced": private} {
		path := filepath.Join(dir, name, "file")
		check := func(path string, want fs.FileMode) {
			t.Helper()
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, want %v (%v)", name, info.Mode(), want, err)
			}
		}
		if err := write[name](path); err != nil {
			t.Fatal(err)
		}
		check(path, want.file)
		check(filepath.Dir(path), want.folder)
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := write[name](path); err != nil {
			t.Fatal(err)
		}
		check(path, 0o640)
	}
}

func TestReplaceFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "elsewhere")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if err := WritePrivate(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 || content(t, file) != "new" {
		t.Errorf("the link is %v (%v), the file %q", info.Mode(), err, content(t, file))
	}
}

func TestReplaceDevicesAndFolders(t *testing.T) {
	t.Parallel()
	if err := WritePrivate(os.DevNull, []byte("gone")); err != nil {
		t.Error(err)
	}
	if err := Writable(os.DevNull); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	if WritePrivate(dir, nil) == nil || Writable(dir) == nil {
		t.Error("a folder was written to")
	}
	if err := Writable(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a", "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("asking made the file")
	}
}

func locked(t *testing.T, path string, want bool) {
	t.Helper()
	if got, err := Locked(path); got != want || err != nil {
		t.Errorf("locked: %v (%v), want %v", got, err, want)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	locked(t, path, false)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("asking made the file")
	}
	l, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	locked(t, path, true)
	if _, err := Lock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	locked(t, path, false)
	if l, err = Lock(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Lock(filepath.Join(path, "below a file")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("a lock that cannot be made: %v", err)
	}
}

// TestLockEndsWithItsProcess runs this test's program again as the holder.
func TestLockEndsWithItsProcess(t *testing.T) {
	if path := os.Getenv("FSX_LOCK"); path != "" {
		if _, err := Lock(path); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("held\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), "FSX_LOCK="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder says %q (%v)", line, err)
	}
	locked(t, path, true)
	if _, err := Lock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	locked(t, path, false)
}
