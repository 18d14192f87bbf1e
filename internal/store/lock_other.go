//go:build !unix

package store

import (
	"fmt"
	"os"
)

// lockRun opens the lock file; on systems without flock nothing is locked.
func lockRun(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the run: %w", err)
	}
	return f, nil
}
