package store

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
)

// folder reads the results of one run folder. What is damaged is left out and
// noted.
type folder struct {
	dir    string
	want   int  // how many results there must be; 0 when it is not known
	trials int  // of a case that does not say
	strict bool // a result whose context is lost is left out too
	blobs  blobs

	mu    sync.Mutex
	notes []string
}

// attach lets a run be read through.
func (f *folder) attach(run *eval.Run) {
	f.trials = run.Trials
	run.Results = func() iter.Seq2[*eval.Result, error] { return f.results(nil) }
	run.Notable, run.Result, run.Damage = f.results, f.result, f.damage
}

// results streams the results in suite order, arms and trials in order, each
// with its case. Of a result that is there twice the later one counts. Those that
// skip accepts are left out, see [eval.Run.Notable].
func (f *folder) results(skip func(eval.Status) bool) iter.Seq2[*eval.Result, error] {
	return func(yield func(*eval.Result, error) bool) {
		if err := f.each(skip, yield); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

var errStop = errors.New("the reader has seen enough")

func (f *folder) each(skip func(eval.Status) bool, yield func(*eval.Result, error) bool) error {
	l, err := f.list(false)
	if err != nil {
		return err
	}
	if len(l.places) < f.want {
		f.note("%s counts %d results, %s has %d", headerFile, f.want, resultsFile, len(l.places))
	}
	if len(l.places) == 0 {
		return nil
	}
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	for _, p := range l.places {
		line, err := r.results.line(p.offset, p.length)
		if err != nil {
			return r.failed(resultsFile, err)
		}
		if skip != nil && !r.warns(line) {
			if _, status, err := r.decoder.Identity(line); err == nil && status.Check() == nil && skip(status) {
				continue
			}
		}
		res, err := r.decode(line, p, l)
		if err != nil && !f.noted(err) {
			return err
		}
		if res != nil && (err == nil || !f.strict) && !yield(res, nil) {
			return errStop
		}
	}
	return nil
}

// result reads one result. It is nil when the run does not have it.
func (f *folder) result(id eval.Identity) (*eval.Result, error) {
	p, c, ok, err := f.find(id)
	if err != nil || !ok {
		return nil, err
	}
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	res, err := r.result(p, c, id.Arm)
	if err == nil && id.Suite != "" && res.Case.Suite != id.Suite {
		return nil, nil
	}
	return res, err
}

// reader has the files of a run open.
type reader struct {
	folder         *folder
	results, cases *window
	decoder        eval.Decoder
	at             int64 // offset of the case that was read last
	current        *eval.Case
}

func (f *folder) open() (*reader, error) {
	f.blobs.dir = filepath.Join(f.dir, blobsFolder)
	results, err := os.Open(filepath.Join(f.dir, resultsFile))
	if err != nil {
		return nil, err
	}
	cases, err := os.Open(filepath.Join(f.dir, casesFile))
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return &reader{folder: f, results: &window{file: results}, cases: &window{file: cases}, at: -1}, nil
}

// Close lets go of the files.
func (r *reader) Close() error { return errors.Join(r.results.file.Close(), r.cases.file.Close()) }

func (r *reader) failed(file string, err error) error {
	return fmt.Errorf("read %s of run %s: %w", file, r.folder.dir, err)
}

// warns tells whether a line may have a check that only warns.
func (r *reader) warns(line []byte) bool { return bytes.Contains(line, []byte(`"severity":"warn"`)) }

// result reads one result. Nothing of it may be damaged.
func (r *reader) result(p place, c caseLine, arm string) (*eval.Result, error) {
	line, err := r.results.line(p.offset, p.length)
	if err != nil {
		return nil, r.failed(resultsFile, err)
	}
	p.order, p.arm = 0, 0
	res, err := r.decode(line, p, &listing{cases: []caseLine{c}, arms: []string{arm}})
	if err != nil {
		return nil, r.failed(resultsFile, err)
	}
	return res, nil
}

// decode reads a result and its case, which is that of the last result where
// the trials of a case are read one after the other. The error may be a
// [damageError]; there is a result all the same where only its context is lost.
func (r *reader) decode(line []byte, p place, l *listing) (*eval.Result, error) {
	c := l.cases[p.order]
	if r.at != c.offset {
		b, err := r.cases.line(c.offset, c.length)
		if err != nil {
			return nil, r.failed(casesFile, err)
		}
		if r.current, err = r.decoder.Case(b); err != nil {
			return nil, &damageError{casesFile, c.offset, err}
		}
		r.at = c.offset
	}
	res, digest, err := r.decoder.Result(line, r.current)
	if err == nil {
		err = res.Check()
	}
	if err == nil && (res.Trial != int(p.trial) || res.Arm != l.arms[p.arm]) {
		err = fmt.Errorf("found trial %d of arm %q, want %d of %q", res.Trial, res.Arm, p.trial, l.arms[p.arm])
	}
	if err != nil {
		return nil, &damageError{resultsFile, p.offset, err}
	}
	if digest != "" {
		if res.Response.Context, err = r.folder.blobs.text(digest); err != nil {
			return res, &damageError{resultsFile, p.offset, fmt.Errorf("the context is missing: %w", err)}
		}
	}
	return res, nil
}

// window is the part of a file that was read last. Results are nearly in suite
// order, so most lines are in it.
type window struct {
	file *os.File
	from int64
	buf  []byte
}

// A window has windowBytes, windowBack of them before the line it was read for.
const (
	windowBytes = 256 << 10
	windowBack  = 64 << 10
)

// line is good until the next one is read.
func (w *window) line(offset int64, length int32) ([]byte, error) {
	end := offset + int64(length)
	if offset < w.from || end > w.from+int64(len(w.buf)) {
		w.from = max(0, offset-windowBack)
		size := int(max(windowBytes, end-w.from))
		w.buf = slices.Grow(w.buf[:0], size)[:size]
		n, err := w.file.ReadAt(w.buf, w.from)
		w.buf = w.buf[:n]
		if end > w.from+int64(n) {
			return nil, cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	return w.buf[offset-w.from : end-w.from], nil
}

// scan finds every result's line without keeping what it says, and the size of
// the results it is of. A run without results has no file yet.
func (f *folder) scan() (l *listing, size int64, err error) {
	l = new(listing)
	if l.cases, err = f.cases(); err != nil {
		return nil, 0, err
	}
	results, err := openLines(filepath.Join(f.dir, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return l, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer results.Close()
	var decoder eval.Decoder
	most := f.mostTrials(l.cases)
	for {
		offset := results.offset
		line, err := results.next()
		if errors.Is(err, io.EOF) {
			l.sort()
			return l, results.offset, nil
		}
		if err != nil {
			return nil, 0, err
		}
		id, status, err := decoder.Identity(line)
		if err = cmp.Or(err, status.Check(), most.check(id)); err != nil {
			f.noted(&damageError{resultsFile, offset, err})
			continue
		}
		l.add(id, offset, len(line))
	}
}

// mostTrials is how often each case is tried, by its id.
type mostTrials map[string]int

// unknownTrials bounds the trials of a run whose header does not say.
const unknownTrials = 10_000

func (f *folder) mostTrials(cases []caseLine) mostTrials {
	m := make(mostTrials, len(cases))
	for _, c := range cases {
		m[c.id] = cmp.Or(int(c.trials), f.trials, unknownTrials)
	}
	return m
}

// check finds a result that the run cannot have.
func (m mostTrials) check(id eval.Identity) error {
	most, ok := m[id.Case]
	switch {
	case !ok:
		return fmt.Errorf("case %q is not in %s", id.Case, casesFile)
	case id.Trial < 1 || id.Trial > most:
		return fmt.Errorf("trial %d of case %q, want 1 to %d", id.Trial, id.Case, most)
	}
	return nil
}

// cases gives each case's place.
func (f *folder) cases() (cases []caseLine, err error) {
	l, err := openLines(filepath.Join(f.dir, casesFile))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var decoder eval.Decoder
	for {
		offset := l.offset
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			if len(line) > 0 {
				f.noted(&damageError{casesFile, offset, io.ErrUnexpectedEOF})
			}
			return cases, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read cases of run %s: %w", f.dir, err)
		}
		c, err := decoder.Case(line)
		if err == nil && (c.ID == "" || c.Trials < 0 || c.Trials > math.MaxInt32) {
			err = fmt.Errorf("case %q with %d trials", c.ID, c.Trials)
		}
		if err != nil {
			f.noted(&damageError{casesFile, offset, err})
			continue
		}
		cases = append(cases, caseLine{id: c.ID, target: c.Target, trials: int32(c.Trials), offset: offset, length: int32(len(line))})
	}
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
		return line, err // io.EOF with a torn line is the end as well
	}
	if len(line) > math.MaxInt32 {
		return nil, fmt.Errorf("%s, line %d, has %d bytes", l.file.Name(), l.n+1, len(line))
	}
	l.offset += int64(len(line))
	l.n++
	return line, nil
}

func (l *lines) Close() error { return l.file.Close() }
