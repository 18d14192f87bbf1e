package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// replaceFile writes a file in one step: who reads it sees the old one or the
// new one. What is no regular file, such as a device or a pipe, is written to
// as it is, and a link is followed.
func replaceFile(path string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return writeThrough(path, write)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".mettle-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// checkDestinations finds reports that could not be written before anything is
// asked: two to one place, a folder, a place that cannot be written to.
func (o *runOptions) checkDestinations(w *World) error {
	reports := o.reports
	if o.output != "" && o.output != noReport {
		reports = append([]string{"json=" + o.output}, reports...)
	}
	seen := map[string]string{}
	for _, r := range reports {
		name, path, _ := strings.Cut(r, "=")
		if path != "-" {
			path = w.abs(path)
		}
		if other, taken := seen[path]; taken {
			return usagef("the %s and the %s report both go to %s", other, name, path)
		}
		seen[path] = name
		if path == "-" {
			continue
		}
		if err := writable(path); err != nil {
			return usagef("the %s report cannot be written: %w", name, err)
		}
	}
	return nil
}

// noReport as a path means that the report is not wanted.
const noReport = "none"

func writable(path string) error {
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
	f, err := os.CreateTemp(dir, ".mettle-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
