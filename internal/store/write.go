package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
)

// Writer puts a run on disk as it happens. It is an [eval.Journal].
type Writer struct {
	dir     string
	suites  []*eval.Suite
	resumed bool
	recase  bool // the cases of a resumed run are damaged
	blobs   blobs
	lock    io.Closer

	large sync.Mutex // held while a large result is encoded

	mu      sync.Mutex // guards what follows
	results *os.File
	size    int64   // of results
	written listing // where they are, but of a resumed run, which did not write them all
	err     error   // of a write: the end of the file is not known any more
}

// Create prepares a new run folder below root for the given suites. Nothing is
// on disk before the run starts: a run whose prerequisites are missing leaves
// no trace.
func Create(root, id string, suites []*eval.Suite) *Writer {
	return &Writer{dir: filepath.Join(root, id), suites: suites}
}

// Resume opens a run to add what it is missing. A torn last line is cut off,
// and damaged ones are moved out of the way.
func Resume(dir string) (*Writer, error) {
	w := &Writer{dir: dir, resumed: true}
	if err := w.open(); err != nil {
		return nil, err
	}
	return w, nil
}

// Dir is the run's folder.
func (w *Writer) Dir() string { return w.dir }

// Started tells whether there is a run to resume.
func (w *Writer) Started() bool { return w.results != nil }

// Start writes the header and the cases. The folder appears under its name
// only when both are complete.
func (w *Writer) Start(run *eval.Run) error {
	if w.resumed {
		return errors.Join(w.restoreCases(run.Suites), writeHeader(w.dir, run))
	}
	root := filepath.Dir(w.dir)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("make the folder of runs: %w", err)
	}
	temp, err := os.MkdirTemp(root, newPrefix)
	if err != nil {
		return fmt.Errorf("make the run's folder: %w", err)
	}
	sweepNew(root, temp)
	err = fsx.ReplaceSynced(filepath.Join(temp, casesFile), func(out io.Writer) error {
		w.written.cases, err = writeCases(out, w.suites)
		return err
	})
	err = errors.Join(err, writeHeader(temp, run))
	if err == nil {
		err = os.Rename(temp, w.dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the run's folder: %w", err), os.RemoveAll(temp))
	}
	fsx.SyncDir(root)
	return w.open()
}

const newPrefix = ".new-"

// sweepNew removes the folders of runs that were killed as they started: those
// that are much older than the one that was just made.
func sweepNew(root, made string) {
	info, err := os.Stat(made)
	if err != nil {
		return
	}
	dirs, _ := os.ReadDir(root)
	for _, d := range dirs {
		old, err := d.Info()
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), newPrefix) && info.ModTime().Sub(old.ModTime()) > 10*time.Minute {
			_ = os.RemoveAll(filepath.Join(root, d.Name()))
		}
	}
}

// restoreCases writes damaged cases anew. The suites are those of the run.
func (w *Writer) restoreCases(run []eval.Suite) error {
	if !w.recase {
		return nil
	}
	suites := make([]*eval.Suite, len(run))
	for i := range run {
		suites[i] = &run[i]
	}
	if err := os.RemoveAll(filepath.Join(w.dir, indexFile)); err != nil { // it has their offsets
		return err
	}
	return fsx.ReplaceSynced(filepath.Join(w.dir, casesFile), func(out io.Writer) error {
		_, err := writeCases(out, suites)
		return err
	})
}

// open takes the run's lock and opens the file results are added to.
func (w *Writer) open() (err error) {
	lock := filepath.Join(w.dir, lockFile)
	switch w.lock, err = fsx.Lock(lock); {
	case errors.Is(err, fsx.ErrLocked):
		return fmt.Errorf("the run is being written by another process (%s is locked)", lock)
	case err != nil:
		return fmt.Errorf("lock the run: %w", err)
	}
	if w.resumed {
		fsx.Sweep(w.dir)
		fsx.Sweep(filepath.Join(w.dir, blobsFolder))
		if w.recase, err = repair(w.dir); err != nil {
			return errors.Join(fmt.Errorf("repair run %s: %w", w.dir, err), w.lock.Close())
		}
	}
	w.blobs.dir = filepath.Join(w.dir, blobsFolder)
	w.results, err = os.OpenFile(filepath.Join(w.dir, resultsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return errors.Join(fmt.Errorf("open the run's results: %w", err), w.lock.Close())
	}
	fsx.SyncDir(w.dir)
	return nil
}

// encoders are reused: many results are encoded side by side.
var encoders = sync.Pool{New: func() any { return new(eval.Encoder) }}

// keepBuffer bounds the buffers that are reused: one huge answer must not cost
// memory for the whole run.
const keepBuffer = 256 << 10

// Append writes a result. It is safe for concurrent use.
func (w *Writer) Append(r *eval.Result) error {
	if r.Large() { // one at a time: its line is as large again
		w.large.Lock()
		defer w.large.Unlock()
	}
	e := encoders.Get().(*eval.Encoder)
	defer func() {
		if e.Cap() <= keepBuffer {
			encoders.Put(e)
		}
	}()
	line, err := w.encode(e, r)
	if err != nil {
		return fmt.Errorf("encode the result of %s: %w", r.Identity(), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = w.results.Write(line)
	}
	if w.err != nil {
		return fmt.Errorf("write results: %w", w.err)
	}
	if !w.resumed {
		w.written.add(r.Identity(), w.size, len(line))
	}
	w.size += int64(len(line))
	return nil
}

// encode makes a result's line. One that has no form in JSON, because of what a
// target said, must not end the run: what is kept is that it has none.
func (w *Writer) encode(e *eval.Encoder, r *eval.Result) ([]byte, error) {
	digest := ""
	if r.Response != nil && r.Response.Context != "" {
		var err error
		if digest, err = w.blobs.keepText(r.Response.Context); err != nil {
			return nil, err
		}
	}
	e.Reset()
	e.Result(r, digest)
	line, err := e.Bytes()
	if err == nil && len(line) >= math.MaxInt32 {
		err = fmt.Errorf("it has %d bytes", len(line))
	}
	if err != nil {
		r.Status, r.Value, r.Response, r.Scores, r.Events = eval.Error, 0, nil, nil, nil
		r.Fault = &eval.Fault{Class: eval.ProtocolFault, Message: "the answer cannot be kept: " + err.Error()}
		e.Reset()
		e.Result(r, "")
		line, err = e.Bytes()
	}
	return append(line, '\n'), err
}

// Sync makes what was written survive a power cut.
func (w *Writer) Sync() error {
	if err := w.results.Sync(); err != nil {
		return fmt.Errorf("sync results: %w", err)
	}
	return nil
}

// Keep stores data under its digest.
func (w *Writer) Keep(data []byte) (string, error) { return w.blobs.keep(data) }

// Finish writes the index and then the header again, with summary and verdicts,
// and lets the run be read through.
func (w *Writer) Finish(run *eval.Run) error {
	f := &folder{dir: w.dir, want: run.Summary.Total}
	f.attach(run)
	if err := w.writeIndex(f); err != nil {
		return fmt.Errorf("write the run's index: %w", err)
	}
	return writeHeader(w.dir, run)
}

func (w *Writer) writeIndex(f *folder) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.resumed {
		w.written.sort()
		return w.written.writeIndex(w.dir, w.size)
	}
	l, size, err := f.scan()
	if err != nil {
		return err
	}
	return l.writeIndex(w.dir, size)
}

// Close lets go of the files; a run that was not finished can be resumed.
func (w *Writer) Close() error {
	if w.results == nil {
		return nil
	}
	err := errors.Join(w.results.Close(), w.lock.Close())
	w.results, w.lock = nil, nil
	return err
}

// Spool notes results that a listener did not take.
func (w *Writer) Spool(listener string, results []eval.Identity) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, id := range results {
		if err := enc.Encode(id); err != nil {
			return err
		}
	}
	dir := filepath.Join(w.dir, spoolFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, filepath.Base(listener)+".jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Sync(), f.Close())
}

// writeCases writes the cases in suite order and tells where each is.
func writeCases(out io.Writer, suites []*eval.Suite) (cases []caseLine, err error) {
	b := bufio.NewWriterSize(out, 1<<16)
	var e eval.Encoder // of this file only: it remembers the checks that cases share
	var offset int64
	for _, s := range suites {
		for _, c := range s.Cases {
			e.Reset()
			e.Case(c)
			line, err := e.Bytes()
			if err != nil {
				return nil, fmt.Errorf("encode case %s: %w", c.ID, err)
			}
			line = append(line, '\n')
			_, _ = b.Write(line) // told by Flush
			cases = append(cases, caseLine{id: c.ID, offset: offset, length: int32(len(line))})
			offset += int64(len(line))
		}
	}
	return cases, b.Flush()
}

// writeHeader replaces run.json in one step.
func writeHeader(dir string, run *eval.Run) error {
	head := *run
	head.Cases = nil
	b, err := json.Marshal(&head)
	if err == nil && len(run.Cases) > 0 {
		var e eval.Encoder
		e.Verdicts(run.Cases)
		var cases []byte
		cases, err = e.Bytes()
		b = append(append(b[:len(b)-1], `,"cases":`...), cases...)
		b = append(b, '}')
	}
	if err != nil {
		return fmt.Errorf("encode the run: %w", err)
	}
	if err := fsx.WriteSynced(filepath.Join(dir, headerFile), append(b, '\n')); err != nil {
		return fmt.Errorf("write the run's header: %w", err)
	}
	return nil
}
