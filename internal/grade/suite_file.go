package grade

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// suiteFile reads a text that a check names by a path from its suite's folder.
func suiteFile(dir, name string, most int64) ([]byte, error) {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		var lookup *fs.PathError
		if errors.As(err, &lookup) {
			err = lookup.Err // the path is the check's own
		}
		return nil, fmt.Errorf("open %s: %w", quote(name), err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", quote(name))
	case info.Size() > most:
		return nil, fmt.Errorf("%s is %d bytes long, want %d or less", quote(name), info.Size(), most)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", quote(name), err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most)) // some files say nothing of their length
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", quote(name), err)
	}
	return data, nil
}
