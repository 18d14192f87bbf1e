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
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/mettle-eval/mettle/internal/eval"
)

// folder reads the results of one run folder.
type folder struct {
	dir   string
	want  int // how many results there must be; 0 when it is not known
	blobs blobs
}

// attach lets a run be read through.
func (f *folder) attach(run *eval.Run) {
	run.Results = func() iter.Seq2[*eval.Result, error] { return f.results(nil) }
	run.Notable, run.Result = f.results, f.result
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
		return fmt.Errorf("run %s is damaged: its header counts %d results and %s has %d; mettle resume makes the missing ones", f.dir, f.want, resultsFile, len(l.places))
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
			return r.damaged(resultsFile, err)
		}
		if skip != nil && !r.warns(line) {
			if _, status, err := r.decoder.Identity(line); err == nil && skip(status) {
				continue
			}
		}
		res, err := r.decode(line, l.cases[p.order])
		if err != nil {
			return err
		}
		if !yield(res, nil) {
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
	res, err := r.result(p, c)
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

func (r *reader) damaged(file string, err error) error {
	return fmt.Errorf("read %s of run %s: %w", file, r.folder.dir, err)
}

// warns tells whether a line may have a check that only warns.
func (r *reader) warns(line []byte) bool { return bytes.Contains(line, []byte(`"severity":"warn"`)) }

func (r *reader) result(p place, c caseLine) (*eval.Result, error) {
	line, err := r.results.line(p.offset, p.length)
	if err != nil {
		return nil, r.damaged(resultsFile, err)
	}
	return r.decode(line, c)
}

// decode reads a result and its case, which is that of the last result where
// the trials of a case are read one after the other.
func (r *reader) decode(line []byte, c caseLine) (*eval.Result, error) {
	if r.at != c.offset {
		b, err := r.cases.line(c.offset, c.length)
		if err == nil {
			r.current, err = r.decoder.Case(b)
		}
		if err != nil {
			return nil, r.damaged(casesFile, err)
		}
		r.at = c.offset
	}
	res, digest, err := r.decoder.Result(line, r.current)
	if err == nil && digest != "" {
		res.Response.Context, err = r.folder.blobs.text(digest)
	}
	if err != nil {
		return nil, r.damaged(resultsFile, err)
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
		id, _, err := decoder.Identity(line)
		if err == nil && (id.Trial < 1 || id.Trial > math.MaxInt32) {
			err = fmt.Errorf("its trial is %d", id.Trial)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s, line %d, is not a result: %w", results.file.Name(), results.n, err)
		}
		l.add(id, offset, len(line))
	}
}

// cases gives each case's place.
func (f *folder) cases() (cases []caseLine, err error) {
	l, err := openLines(filepath.Join(f.dir, casesFile))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	for {
		offset := l.offset
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return cases, nil
		}
		id, ok := member(line, `{"id":`)
		if err == nil && !ok {
			var c struct {
				ID string `json:"id"`
			}
			err = json.Unmarshal(line, &c)
			id = c.ID
		}
		if err != nil {
			return nil, fmt.Errorf("read cases of run %s: %w", f.dir, err)
		}
		cases = append(cases, caseLine{id, offset, int32(len(line))})
	}
}

// member reads the string that follows a prefix.
func member(line []byte, prefix string) (text string, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(prefix))
	if !ok || len(rest) == 0 || rest[0] != '"' {
		return "", false
	}
	end := bytes.IndexByte(rest[1:], '"')
	if end < 0 || bytes.IndexByte(rest[1:end+1], '\\') >= 0 {
		return "", false
	}
	return string(rest[1 : end+1]), true
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
	if len(line) > math.MaxInt32 {
		return nil, fmt.Errorf("%s, line %d, has %d bytes", l.file.Name(), l.n+1, len(line))
	}
	l.offset += int64(len(line))
	l.n++
	return line, nil
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
