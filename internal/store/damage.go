package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
)

// damageError is a line that cannot be read. The rest of the run can.
type damageError struct {
	file   string
	offset int64
	err    error
}

func (e *damageError) Error() string { return "the line is damaged: " + e.err.Error() }
func (e *damageError) Unwrap() error { return e.err }

// mostNotes bounds what is said of a run that is damaged all over.
const mostNotes = 20

// noted notes an error that is a damaged line; any other is for the caller.
func (f *folder) noted(err error) bool {
	var d *damageError
	if !errors.As(err, &d) {
		return false
	}
	if len(f.damage()) < mostNotes {
		f.note("%s, line %d: %v", d.file, f.lineAt(d.file, d.offset), d.err)
	}
	return true
}

func (f *folder) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(f.notes, text) {
		f.notes = append(f.notes, text)
	}
	if len(f.notes) == mostNotes-1 {
		f.notes = append(f.notes, "there may be more")
	}
}

// damage is what was noted so far.
func (f *folder) damage() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notes)
}

// lineAt is the number of the line at an offset, from 1; 0 when the file cannot
// be read.
func (f *folder) lineAt(name string, offset int64) (n int) {
	file, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return 0
	}
	defer file.Close()
	r, buf := io.LimitReader(file, offset), make([]byte, 1<<16)
	for {
		read, err := r.Read(buf)
		n += bytes.Count(buf[:read], []byte{'\n'})
		if err != nil {
			return n + 1
		}
	}
}

// repair takes the damaged lines out of the results of a run that is resumed
// and keeps them beside it. It tells whether the cases are damaged too: the
// suites have them.
func repair(dir string) (cases bool, err error) {
	run, err := readHeader(dir)
	if err != nil {
		return false, err
	}
	f := &folder{dir: dir, trials: run.Trials}
	known, err := f.cases()
	if err != nil {
		return false, err
	}
	cases = len(f.damage()) > 0
	most := f.mostTrials(known)
	path := filepath.Join(dir, resultsFile)
	whole, bad, err := checkLines(path, func(id eval.Identity) error {
		if _, ok := most[id.Case]; !ok && cases {
			return nil // its case may be the damaged one
		}
		return most.check(id)
	})
	switch {
	case errors.Is(err, os.ErrNotExist):
		return cases, nil
	case err != nil:
		return cases, err
	case len(bad) == 0:
		return cases, os.Truncate(path, whole)
	}
	return cases, withoutLines(dir, whole, bad)
}

// span is a part of a file.
type span struct{ from, to int64 }

// checkLines reads results through: how much of the file is complete lines,
// and which of them are damaged.
func checkLines(path string, planned func(eval.Identity) error) (whole int64, bad []span, err error) {
	l, err := openLines(path)
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	var decoder eval.Decoder
	for {
		from := l.offset
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return from, bad, nil
		}
		if err != nil {
			return 0, nil, err
		}
		res, _, err := decoder.Result(line, nil)
		if err == nil {
			err = res.Check()
		}
		if err == nil {
			err = planned(res.Identity())
		}
		switch n := len(bad); {
		case err == nil:
		case n > 0 && bad[n-1].to == from:
			bad[n-1].to = l.offset
		default:
			bad = append(bad, span{from, l.offset})
		}
	}
}

// withoutLines moves lines from the results to a file of their own.
func withoutLines(dir string, whole int64, bad []span) error {
	results, err := os.Open(filepath.Join(dir, resultsFile))
	if err != nil {
		return err
	}
	defer results.Close()
	parts := func(w io.Writer, spans []span) error {
		for _, s := range spans {
			if _, err := io.Copy(w, io.NewSectionReader(results, s.from, s.to-s.from)); err != nil {
				return err
			}
		}
		return nil
	}
	kept, err := os.OpenFile(filepath.Join(dir, damagedFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(parts(kept, bad), kept.Sync(), kept.Close()); err != nil {
		return err
	}
	var good []span
	at := int64(0)
	for _, s := range append(bad, span{whole, whole}) {
		good = append(good, span{at, s.from})
		at = s.to
	}
	if err := os.RemoveAll(filepath.Join(dir, indexFile)); err != nil {
		return err
	}
	return fsx.ReplaceSynced(filepath.Join(dir, resultsFile), func(w io.Writer) error { return parts(w, good) })
}
