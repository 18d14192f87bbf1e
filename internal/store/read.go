package store

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mettle-eval/mettle/internal/eval"
)

// folder reads the results of one run folder.
type folder struct {
	dir  string
	want int // how many results there must be; 0 when nobody knows
}

// place is where a result's line stands.
type place struct {
	offset int64
	length int
	order  int // of its case
	trial  int
}

// results streams the results in suite order, trials in order, each with its
// case. Of a result that stands twice the later one counts.
func (f *folder) results() iter.Seq2[*eval.Result, error] {
	return func(yield func(*eval.Result, error) bool) {
		if err := f.each(yield); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

var errStop = errors.New("the reader has seen enough")

func (f *folder) each(yield func(*eval.Result, error) bool) error {
	order, err := f.order()
	if err != nil {
		return err
	}
	places, file, err := f.index(order)
	if err != nil {
		return err
	}
	if len(places) < f.want {
		return fmt.Errorf("run %s is damaged: its header counts %d results and %s has %d; mettle resume makes the missing ones", f.dir, f.want, resultsFile, len(places))
	}
	if file == nil {
		return nil
	}
	defer file.Close()
	cases, err := openLines(filepath.Join(f.dir, casesFile))
	if err != nil {
		return err
	}
	defer cases.Close()

	var current *eval.Case
	at := -1
	for _, p := range places {
		for at < p.order {
			current = new(eval.Case)
			if err := cases.decode(current); err != nil {
				return fmt.Errorf("read cases of run %s: %w", f.dir, err)
			}
			at++
		}
		res, err := readResult(file, p)
		if err != nil {
			return fmt.Errorf("read results of run %s: %w", f.dir, err)
		}
		res.Case = current
		if !yield(res, nil) {
			return errStop
		}
	}
	return nil
}

// order gives each case's place in the suites.
func (f *folder) order() (map[string]int, error) {
	cases, err := openLines(filepath.Join(f.dir, casesFile))
	if err != nil {
		return nil, err
	}
	defer cases.Close()
	order := map[string]int{}
	for {
		var c struct {
			ID string `json:"id"`
		}
		switch err := cases.decode(&c); {
		case errors.Is(err, io.EOF):
			return order, nil
		case err != nil:
			return nil, fmt.Errorf("read cases of run %s: %w", f.dir, err)
		}
		order[c.ID] = len(order)
	}
}

// index finds every result's line without keeping what it says. A run without
// results has no file yet.
func (f *folder) index(order map[string]int) ([]place, *os.File, error) {
	file, err := os.Open(filepath.Join(f.dir, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	type key struct{ order, trial int }
	latest := map[key]place{}
	l := lines{file: file, r: bufio.NewReaderSize(file, 1<<16)}
	for {
		offset := l.offset
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
		id, trial, err := identify(line)
		if err == nil && trial < 1 {
			err = fmt.Errorf("its trial is %d", trial)
		}
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("%s, line %d, is not a result: %w", file.Name(), l.n, err), file.Close())
		}
		if n, known := order[id]; known {
			latest[key{n, trial}] = place{offset, len(line), n, trial}
		}
	}
	places := make([]place, 0, len(latest))
	for _, p := range latest {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.trial, b.trial))
	})
	return places, file, nil
}

// identify reads the case and trial of a result's line. They stand first, so
// the rest, which may be megabytes, is not parsed.
func identify(line []byte) (id string, trial int, err error) {
	const open, between = `{"case":`, `,"trial":`
	if rest, ok := bytes.CutPrefix(line, []byte(open)); ok {
		if quoted, rest, ok := bytes.Cut(rest, []byte(between)); ok && json.Unmarshal(quoted, &id) == nil {
			end := bytes.IndexAny(rest, ",}")
			if trial, err = strconv.Atoi(string(rest[:max(0, end)])); err == nil {
				return id, trial, nil
			}
		}
	}
	var whole struct {
		Case  string `json:"case"`
		Trial int    `json:"trial"`
	}
	err = json.Unmarshal(line, &whole)
	return whole.Case, whole.Trial, err
}

func readResult(file *os.File, p place) (*eval.Result, error) {
	line := make([]byte, p.length)
	if _, err := file.ReadAt(line, p.offset); err != nil {
		return nil, err
	}
	res := new(eval.Result)
	return res, json.Unmarshal(line, res)
}

// lines reads a file line by line; a last line without an end is not there.
type lines struct {
	file   *os.File
	r      *bufio.Reader
	offset int64
	n      int
}

func openLines(path string) (*lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &lines{file: f, r: bufio.NewReaderSize(f, 1<<16)}, nil
}

func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadBytes('\n')
	if err != nil {
		return nil, err // io.EOF with a torn line is the end as well
	}
	l.offset += int64(len(line))
	l.n++
	return line, nil
}

func (l *lines) decode(into any) error {
	line, err := l.next()
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

func (l *lines) Close() error { return l.file.Close() }

// wholeLines is how much of a file is complete lines; only a last one can be
// torn.
func wholeLines(path string) (int64, error) {
	l, err := openLines(path)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	for {
		_, err := l.next()
		if errors.Is(err, io.EOF) {
			return l.offset, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
