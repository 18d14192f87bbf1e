//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockRun makes sure that one process at a time adds to a run. The lock ends
// with the process, however it ends.
func lockRun(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the run: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the run is being written by another process (%s is locked)", path), f.Close())
	}
	return f, nil
}
