package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
)

// Writer puts a run on disk as it happens. It is an [eval.Sink].
type Writer struct {
	dir     string
	suites  []*eval.Suite
	resumed bool
	results *os.File
	lock    io.Closer
	buf     bytes.Buffer
	enc     *json.Encoder
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
		return nil, errors.Join(fmt.Errorf("mend %s: %w", w.results.Name(), err), w.Close())
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
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("make the folder of runs: %w", err)
	}
	temp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return fmt.Errorf("make the run's folder: %w", err)
	}
	err = errors.Join(os.Chmod(temp, 0o755), writeCases(filepath.Join(temp, casesFile), w.suites), writeHeader(temp, run))
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
	w.results, err = os.OpenFile(filepath.Join(w.dir, resultsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return errors.Join(fmt.Errorf("open the run's results: %w", err), w.lock.Close())
	}
	fsx.SyncDir(w.dir)
	w.enc = json.NewEncoder(&w.buf)
	w.enc.SetEscapeHTML(false)
	return nil
}

// Results adds a batch and returns when it is on disk.
func (w *Writer) Results(batch []*eval.Result) error {
	w.buf.Reset()
	for _, r := range batch {
		if err := w.encode(r); err != nil {
			return fmt.Errorf("encode the result of %s: %w", r.Case.ID, err)
		}
	}
	if _, err := w.results.Write(w.buf.Bytes()); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := w.results.Sync(); err != nil {
		return fmt.Errorf("sync results: %w", err)
	}
	const keep = 1 << 20 // one huge batch must not cost memory for the whole run
	if w.buf.Cap() > keep {
		w.buf = bytes.Buffer{}
		w.enc = json.NewEncoder(&w.buf)
		w.enc.SetEscapeHTML(false)
	}
	return nil
}

// encode adds a result's line. One that has no form in JSON, because of what a
// target said, must not end the run: what is kept is that it has none.
func (w *Writer) encode(r *eval.Result) error {
	before := w.buf.Len()
	err := r.Encode(w.enc)
	if err == nil {
		return nil
	}
	w.buf.Truncate(before)
	r.Status, r.Value, r.Response, r.Scores = eval.Error, 0, nil, nil
	r.Fault = &eval.Fault{Class: eval.ProtocolFault, Message: "the answer cannot be kept: " + err.Error()}
	return r.Encode(w.enc)
}

// Finish writes the header again, with summary and verdicts, and lets the run
// be read through.
func (w *Writer) Finish(run *eval.Run) error {
	run.Results = (&folder{dir: w.dir, want: run.Summary.Total}).results
	return errors.Join(writeHeader(w.dir, run), w.Close())
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

func writeCases(path string, suites []*eval.Suite) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, s := range suites {
		for _, c := range s.Cases {
			if err := enc.Encode(c); err != nil {
				return errors.Join(fmt.Errorf("encode case %s: %w", c.ID, err), f.Close())
			}
		}
	}
	return errors.Join(b.Flush(), f.Sync(), f.Close())
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
