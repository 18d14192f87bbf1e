package fsx

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// ErrLocked is the error of [Lock] when another holder has the lock.
var ErrLocked = errors.New("locked by another process")

// Lock locks a file, which is made when it is missing, until it is closed or
// the process ends, however it ends. It does not wait.
func Lock(path string) (io.Closer, error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	switch ok, err := l.TryLock(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrLocked
	}
	return l, nil
}

// Locked tells whether a file is locked by [Lock]. It neither makes the file
// nor gets in the way of others that ask.
func Locked(path string) (bool, error) {
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !ok:
		return true, nil
	}
	return false, l.Close()
}
