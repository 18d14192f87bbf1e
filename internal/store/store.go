// Package store keeps runs as folders:
//
//	<runs>/<id>/run.json       header, and at the end summary and verdicts
//	<runs>/<id>/cases.jsonl    what was asked: one case a line, in suite order
//	<runs>/<id>/results.jsonl  what came back: one result a line, as they arrived
//	<runs>/<id>/index          where each result is, in suite order
//	<runs>/<id>/damaged.jsonl  lines that a resumed run could not read
//	<runs>/<id>/blobs/         long contexts and artifacts, by digest
//	<runs>/<id>/spool/         what listeners did not take
//
// Folders have the mode 0700 and files 0600: answers may hold what is not for
// everybody on the machine. Reports, which are made to be handed on, are not
// kept here.
//
// A [Writer] is the journal of a run: results are synced to disk before
// anything counts them. A process killed at any moment leaves a folder that
// [Open] reads and [Resume] continues; at most its last line is torn, and that
// one is dropped. Any other line that cannot be read is left out and named by
// [eval.Run.Damage], and a resumed run makes its result again. Whatever reads a run goes through [eval.Run.Results], which
// streams results in suite order and holds one at a time, or
// [eval.Run.Result], which opens one.
package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
)

const (
	headerFile  = "run.json"
	casesFile   = "cases.jsonl"
	resultsFile = "results.jsonl"
	indexFile   = "index"
	damagedFile = "damaged.jsonl"
	lockFile    = "lock"
	blobsFolder = "blobs"
	spoolFolder = "spool"
)

// idTime is the part of an id that says when the run started, to the second.
const idTime = "20060102-150405"

// NewID names a run by when it started, in UTC to the millisecond, and two
// random characters, so that a listing by name is one by time.
func NewID(now time.Time, random uint32) string {
	now = now.UTC()
	return now.Format(idTime) + fmt.Sprintf("-%03d%02x", now.Nanosecond()/1e6, random&0xff)
}

// Open reads a run. One that never finished gets its summary counted from the
// results that are there.
func Open(dir string) (*eval.Run, error) {
	run, err := readHeader(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir}
	f.attach(run)
	if run.Summary != nil {
		f.want = run.Summary.Total
		return run, nil
	}
	return run, recount(run)
}

// Recount reads a run and counts its results anew, whatever its header says:
// what is there is what a resumed run starts from. A result that has lost its
// context, so that it could not be graded again, is not there.
func Recount(dir string) (*eval.Run, error) {
	run, err := readHeader(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, strict: true}
	f.attach(run)
	return run, recount(run)
}

func recount(run *eval.Run) error {
	tally := eval.NewTally(eval.EffectiveGates(run.Gates, run.Suites), run.Kinds)
	for res, err := range run.Results() {
		if err != nil {
			return err
		}
		tally.Add(res)
	}
	run.Summary, run.Outcomes, run.Cases = tally.Summary(), tally.Outcomes(), tally.Verdicts()
	run.Judge()
	return nil
}

func readHeader(dir string) (*eval.Run, error) {
	b, err := os.ReadFile(filepath.Join(dir, headerFile))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a run: it has no %s", dir, headerFile)
		}
		return nil, err
	}
	head, cases, ok := splitCases(b)
	if !ok {
		return parseHeader(dir, b) // which says what is wrong with it
	}
	run, err := parseHeader(dir, head)
	if err == nil && len(cases) > 0 {
		if run.Cases, err = new(eval.Decoder).Verdicts(cases); err != nil {
			return parseHeader(dir, b)
		}
	}
	return run, err
}

// splitCases takes the verdicts of the cases out of a header. They come last,
// and in a large run they are nearly all of it.
func splitCases(b []byte) (head, cases []byte, ok bool) {
	head, end, ok := headOf(bytes.NewReader(b))
	if !ok || end == 0 {
		return b, nil, ok
	}
	cases, colon := bytes.CutPrefix(bytes.TrimSpace(b[end:]), []byte{':'})
	cases, brace := bytes.CutSuffix(cases, []byte{'}'})
	return head, cases, colon && brace
}

// headOf reads a header up to the verdicts of the cases, and tells where the key
// of those ends; 0 where there are none.
func headOf(r io.Reader) (head []byte, end int64, ok bool) {
	dec, head := json.NewDecoder(r), []byte{'{'}
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, 0, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err == nil && key == "cases" {
			end = dec.InputOffset()
			break
		}
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return nil, 0, false
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, 0, false
		}
		head = append(append(append(head, name...), ':'), value...)
		head = append(head, ',')
	}
	return append(bytes.TrimSuffix(head, []byte{','}), '}'), end, true
}

// readSummary is readHeader without the verdicts of the cases, so that a listing
// of large runs reads a few kilobytes of each.
func readSummary(dir string) (*eval.Run, error) {
	f, err := os.Open(filepath.Join(dir, headerFile))
	if err != nil {
		return readHeader(dir) // which says why
	}
	defer f.Close()
	head, _, ok := headOf(f)
	if !ok {
		return readHeader(dir)
	}
	return parseHeader(dir, head)
}

func parseHeader(dir string, b []byte) (*eval.Run, error) {
	run := new(eval.Run)
	if err := json.Unmarshal(b, run); err != nil {
		return nil, fmt.Errorf("read run %s: %w", dir, err)
	}
	if run.Format < 1 || run.ID == "" {
		return nil, fmt.Errorf("%s is not a run: its %s has no id and format", dir, headerFile)
	}
	if run.Format > eval.FormatVersion {
		return nil, fmt.Errorf("run %s has format %d, written by a newer mettle (%s); this one reads up to %d", dir, run.Format, run.Tool, eval.FormatVersion)
	}
	return run, nil
}

// Entry is a run in a listing, or a folder that should be one and is not.
type Entry struct {
	Dir string
	Run *eval.Run // header, summary and verdict; nil when Err is set
	Err error

	// Killed tells that the run says it is running while no process writes it.
	Killed bool
}

// List gives the runs below root, newest first. A root that does not exist has
// none.
func List(root string) ([]Entry, error) {
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []Entry
	for _, d := range dirs {
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		dir := filepath.Join(root, d.Name())
		run, err := readSummary(dir)
		e := Entry{Dir: dir, Run: run, Err: err}
		e.Killed = err == nil && run.Header.Status == eval.Running && unlocked(dir)
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(b.started().Compare(a.started()), strings.Compare(b.Dir, a.Dir))
	})
	return out, nil
}

// started is when the run was started. Its folder says so: a replay has the
// times of the recorded run in its header. A folder with a name that a person
// gave it goes by its header, and one that is no run comes last.
func (e *Entry) started() time.Time {
	name := filepath.Base(e.Dir)
	if len(name) >= len(idTime)+4 {
		seconds, err := time.Parse(idTime, name[:len(idTime)])
		millis, err2 := strconv.Atoi(name[len(idTime)+1 : len(idTime)+4])
		if err == nil && err2 == nil && name[len(idTime)] == '-' {
			return seconds.Add(time.Duration(millis) * time.Millisecond)
		}
	}
	if e.Run == nil {
		return time.Time{}
	}
	return e.Run.Started
}

// unlocked tells whether no process writes a run.
func unlocked(dir string) bool {
	locked, err := fsx.Locked(filepath.Join(dir, lockFile))
	return err == nil && !locked
}

// Find gives the folder of a run named by a path, an id, the start of one, or
// the word latest.
func Find(root, name string) (string, error) {
	if _, err := os.Stat(filepath.Join(name, headerFile)); err == nil {
		return name, nil
	}
	entries, err := List(root)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		id := filepath.Base(e.Dir)
		if id == name || (name == "latest" && e.Err == nil) {
			return e.Dir, nil
		}
		if name != "" && strings.HasPrefix(id, name) {
			found = append(found, e.Dir)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no run is named %q in %s: mettle runs lists them", name, root)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%d runs start with %q: give more of the id", len(found), name)
}
