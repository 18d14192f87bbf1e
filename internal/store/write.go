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
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
)

// Writer puts a run on disk as it happens. It is an [eval.Journal].
type Writer struct {
	dir     string
	suites  []*eval.Suite
	resumed bool
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

// Resume opens a run to add what it is missing. A torn last line is cut off.
func Resume(dir string) (*Writer, error) {
	w := &Writer{dir: dir, resumed: true}
	if err := w.open(); err != nil {
		return nil, err
	}
	whole, err := wholeLines(filepath.Join(dir, resultsFile))
	if err == nil {
		err = w.results.Truncate(whole)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cut the torn line off %s: %w", w.results.Name(), err), w.Close())
	}
	return w, nil
}

// Dir is the run's folder.
func (w *Writer) Dir() string { return w.dir }

// Start writes the header and the cases. The folder appears under its name
// only when both are complete.
func (w *Writer) Start(run *eval.Run) error {
	if w.resumed {
		return writeHeader(w.dir, run)
	}
	root := filepath.Dir(w.dir)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("make the folder of runs: %w", err)
	}
	temp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return fmt.Errorf("make the run's folder: %w", err)
	}
	w.written.cases, err = writeCases(filepath.Join(temp, casesFile), w.suites)
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

// open takes the run's lock and opens the file results are added to.
func (w *Writer) open() (err error) {
	lock := filepath.Join(w.dir, lockFile)
	switch w.lock, err = fsx.Lock(lock); {
	case errors.Is(err, fsx.ErrLocked):
		return fmt.Errorf("the run is being written by another process (%s is locked)", lock)
	case err != nil:
		return fmt.Errorf("lock the run: %w", err)
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
func writeCases(path string, suites []*eval.Suite) (cases []caseLine, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	var e eval.Encoder // of this file only: it remembers the checks that cases share
	var offset int64
	for _, s := range suites {
		for _, c := range s.Cases {
			e.Reset()
			e.Case(c)
			line, err := e.Bytes()
			if err != nil {
				return nil, errors.Join(fmt.Errorf("encode case %s: %w", c.ID, err), f.Close())
			}
			line = append(line, '\n')
			_, _ = b.Write(line) // told by Flush
			cases = append(cases, caseLine{c.ID, offset, int32(len(line))})
			offset += int64(len(line))
		}
	}
	return cases, errors.Join(b.Flush(), f.Sync(), f.Close())
}

// writeHeader replaces run.json in one step.
func writeHeader(dir string, run *eval.Run) error {
	b, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("encode the run: %w", err)
	}
	if err := fsx.WriteSynced(filepath.Join(dir, headerFile), append(b, '\n')); err != nil {
		return fmt.Errorf("write the run's header: %w", err)
	}
	return nil
}
