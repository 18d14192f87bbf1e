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
	dir   string
	want  int // how many results there must be; 0 when it is not known
	blobs blobs
}

// place is where a result and its case are.
type place struct {
	eval.Identity
	order          int // of its case in the suites
	offset, length int // of its line in the results
	caseOffset     int // of its case's line
	caseLength     int
}

// results streams the results in suite order, arms and trials in order, each
// with its case. Of a result that is there twice the later one counts.
func (f *folder) results() iter.Seq2[*eval.Result, error] {
	return func(yield func(*eval.Result, error) bool) {
		if err := f.each(yield); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

var errStop = errors.New("the reader has seen enough")

func (f *folder) each(yield func(*eval.Result, error) bool) error {
	places, err := f.places()
	if err != nil {
		return err
	}
	if len(places) < f.want {
		return fmt.Errorf("run %s is damaged: its header counts %d results and %s has %d; mettle resume makes the missing ones", f.dir, f.want, resultsFile, len(places))
	}
	if len(places) == 0 {
		return nil
	}
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	for i := range places {
		res, err := r.result(&places[i])
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
	p, err := f.find(id)
	if err != nil || p == nil {
		return nil, err
	}
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.result(p)
}

// reader has the files of a run open.
type reader struct {
	folder         *folder
	results, cases *os.File
	buf            []byte
	at             int // offset of the case that was read last
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
	return &reader{folder: f, results: results, cases: cases, at: -1}, nil
}

// Close lets go of the files.
func (r *reader) Close() error { return errors.Join(r.results.Close(), r.cases.Close()) }

// line reads a line; it is good until the next one is read.
func (r *reader) line(file *os.File, offset, length int) ([]byte, error) {
	r.buf = slices.Grow(r.buf[:0], length)[:length]
	_, err := file.ReadAt(r.buf, int64(offset))
	return r.buf, err
}

func (r *reader) result(p *place) (*eval.Result, error) {
	if r.at != p.caseOffset {
		b, err := r.line(r.cases, p.caseOffset, p.caseLength)
		c := new(eval.Case)
		if err == nil {
			err = json.Unmarshal(b, c)
		}
		if err != nil {
			return nil, fmt.Errorf("read cases of run %s: %w", r.folder.dir, err)
		}
		r.at, r.current = p.caseOffset, c
	}
	b, err := r.line(r.results, p.offset, p.length)
	res := new(eval.Result)
	digest := ""
	if err == nil {
		digest, err = res.Decode(b)
	}
	if err == nil && digest != "" {
		res.Response.Context, err = r.folder.blobs.text(digest)
	}
	if err != nil {
		return nil, fmt.Errorf("read results of run %s: %w", r.folder.dir, err)
	}
	res.Case = r.current
	return res, nil
}

// places lists where the results are, in suite order: from the index, or by
// reading through the results where there is none that fits.
func (f *folder) places() ([]place, error) {
	var places []place
	err := f.readIndex(func(p place) bool { places = append(places, p); return true })
	if err == nil {
		return places, nil
	}
	return f.scan()
}

// scan finds every result's line without keeping what it says. A run without
// results has no file yet.
func (f *folder) scan() ([]place, error) {
	cases, err := f.cases()
	if err != nil {
		return nil, err
	}
	l, err := openLines(filepath.Join(f.dir, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer l.Close()
	latest := map[eval.Identity]place{}
	for {
		offset := l.offset
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		id, err := identify(line)
		if err == nil && id.Trial < 1 {
			err = fmt.Errorf("its trial is %d", id.Trial)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d, is not a result: %w", l.file.Name(), l.n, err)
		}
		c, known := cases[id.Case]
		if !known {
			continue
		}
		c.Suite, c.Arm, c.Trial = id.Suite, id.Arm, id.Trial
		c.offset, c.length = int(offset), len(line)
		id.Suite = "" // format 1 does not say it; ids are unique in a run
		latest[id] = c
	}
	places := make([]place, 0, len(latest))
	for _, p := range latest {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.Arm, b.Arm), cmp.Compare(a.Trial, b.Trial))
	})
	return places, nil
}

// cases gives each case's place, by id.
func (f *folder) cases() (map[string]place, error) {
	l, err := openLines(filepath.Join(f.dir, casesFile))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	cases := map[string]place{}
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
		cases[id] = place{Identity: eval.Identity{Case: id}, order: len(cases), caseOffset: int(offset), caseLength: len(line)}
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

// identify reads the identity of a result's line. It comes first, so the rest,
// which may be megabytes, is not parsed.
func identify(line []byte) (id eval.Identity, err error) {
	if end := bytes.Index(line, []byte(`,"trial":`)); end > 0 && end < 1<<16 {
		rest := line[end+len(`,"trial":`):]
		digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
		head := append(slices.Clip(line[:end]), '}')
		if json.Unmarshal(head, &id) == nil {
			if id.Trial, err = strconv.Atoi(string(rest[:digits])); err == nil {
				return id, nil
			}
		}
	}
	err = json.Unmarshal(line, &id)
	return id, err
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
