package lint

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/skill"
)

// Job lints files. What it finds comes in the order of the files, each as soon as those before it have come, and memory
// does not grow with their number or size.
type Job struct {
	Files  []File
	Root   string // the configuration's folder, which the paths of a baseline are from
	Fix    bool   // the files are changed
	Totals Totals // of what was found so far

	linter *Linter
}

// NewJob checks the options and prepares a job without files.
func NewJob(opts Options) (*Job, error) {
	l, err := NewLinter(opts)
	if err != nil {
		return nil, err
	}
	return &Job{linter: l}, nil
}

// Severity is how much a rule weighs in this job, [Off] when it does not hold.
func (j *Job) Severity(r *Rule) Severity { return j.linter.Severity(r) }

// Run looks at every file and then at all of them together.
func (j *Job) Run(ctx context.Context, emit func(Result) error) error {
	add := func(r Result) error {
		j.Totals.Add(r)
		return emit(r)
	}
	workers := min(runtime.GOMAXPROCS(0), len(j.Files))
	groups := j.groups(workers)
	err := inOrder(ctx, len(groups), workers, func(i int) []Result { return j.group(groups[i]) }, func(results []Result) error {
		for _, r := range results {
			j.Totals.Files++
			if err := add(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	byID := j.byID()
	for found := j.linter.Finish(); len(found) > 0; {
		n := slices.IndexFunc(found, func(f Finding) bool { return f.File != found[0].File })
		if n < 0 {
			n = len(found)
		}
		r := byID[found[0].File].result(found[:n:n])
		found = found[n:]
		if err := add(r); err != nil {
			return err
		}
	}
	j.Totals.Baseline = j.linter.remembered
	return nil
}

func (j *Job) byID() map[string]*File {
	files := make(map[string]*File, len(j.Files))
	for i := range j.Files {
		files[j.Files[i].ID] = &j.Files[i]
	}
	return files
}

// linted reports whether a file is a skill of this job, or bundled with one.
func (j *Job) linted() func(file string) bool {
	folders := make(map[string]bool, len(j.Files))
	for i := range j.Files {
		folders[path.Dir(j.Files[i].ID)] = true
	}
	byID := j.byID()
	return func(file string) bool {
		if byID[file] != nil {
			return true
		}
		for folder := path.Dir(file); !strings.EqualFold(path.Base(file), skill.FileName); folder = path.Dir(folder) {
			if folders[folder] || folder == path.Dir(folder) {
				return folders[folder]
			}
		}
		return false
	}
}

const (
	maxGroup      = 16        // files that a worker takes at a time
	maxGroupBytes = 256 << 10 // text that it holds at a time, unless one file has more
)

// groups divides the files among workers: one to begin with, so that something is shown at once, then many, then fewer,
// so that all workers end at the same time. What is not a file may take any time to read and is a group of its own.
func (j *Job) groups(workers int) (groups [][]File) {
	for rest := j.Files; len(rest) > 0; {
		n := min(max(len(rest)/workers, 1), maxGroup)
		if len(groups) == 0 || rest[0].Input != nil {
			n = 1
		}
		if i := slices.IndexFunc(rest[1:n], func(f File) bool { return f.Input != nil }); i >= 0 {
			n = i + 1
		}
		groups = append(groups, rest[:n:n])
		rest = rest[n:]
	}
	return groups
}

// group lints some files.
func (j *Job) group(files []File) []Result {
	results := make([]Result, len(files))
	var docs []*skill.Document
	var of []int // the results that they are for
	size := 0
	flush := func() {
		for i, found := range j.linter.files(docs) {
			results[of[i]].Findings = files[of[i]].result(found).Findings
		}
		docs, of, size = docs[:0], of[:0], 0
	}
	for i := range files {
		var d *skill.Document
		if results[i], d = j.load(&files[i]); d == nil {
			continue
		}
		docs, of = append(docs, d), append(of, i)
		if size += len(d.Text); size > maxGroupBytes {
			flush()
		}
	}
	flush()
	return results
}

// load reads a file, and fixes it if that is wanted. The document is nil when it cannot be read.
func (j *Job) load(f *File) (Result, *skill.Document) {
	r := Result{Path: f.Shown}
	d, err := f.load()
	if err != nil {
		r.Err = f.shown(err)
		return r, nil
	}
	if j.Fix {
		var fixed []Finding
		if d, fixed, err = j.fixFile(f, d); err != nil {
			r.Err = fmt.Errorf("write the mended file: %w", err)
		}
		r.Fixed = f.result(fixed).Findings
	}
	return r, d
}

// Stale counts the findings of the baseline that were not found again in files that were looked at.
func (j *Job) Stale() (n int) {
	if j.linter.opts.Baseline == nil {
		return 0
	}
	linted := j.linted()
	for _, e := range j.linter.opts.Baseline.Findings {
		if linted(e.File) && !j.linter.found[e.Fingerprint] {
			n++
		}
	}
	return n
}

// Remember makes a baseline of what is found now. What the old one says of files that were not looked at stays, as long
// as they are there. Emit is called for each file; n is the number of findings that the job has found.
func (j *Job) Remember(ctx context.Context, old *Baseline, emit func(Result)) (next *Baseline, n int, err error) {
	ids := make(map[string]string, len(j.Files))
	for _, f := range j.Files {
		ids[f.Shown] = f.ID
	}
	var found []Finding
	err = j.Run(ctx, func(r Result) error {
		emit(r)
		for _, x := range r.Findings {
			x.File = rebase(x.File, r.Path, ids[r.Path])
			found = append(found, x)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	next = NewBaseline(found)
	n = len(next.Findings)
	if old != nil {
		linted := j.linted()
		next.add(slices.DeleteFunc(slices.Clone(old.Findings), func(e BaselineEntry) bool {
			_, err := os.Stat(filepath.Join(j.Root, filepath.FromSlash(e.File)))
			return linted(e.File) || err != nil
		}))
	}
	return next, n, nil
}

// inOrder does n things at some at a time and hands on the results in order. It runs no further ahead than twice the
// workers, so that a slow reader of the results does not fill the memory.
func inOrder[T any](ctx context.Context, n, workers int, do func(i int) T, emit func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	type job struct {
		i    int
		slot chan T
	}
	jobs, slots := make(chan job), make(chan chan T, 2*workers)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	for range workers {
		group.Go(func() {
			for j := range jobs {
				j.slot <- do(j.i)
			}
		})
	}
	group.Go(func() {
		defer close(slots)
		defer close(jobs)
		for i := range n {
			j := job{i, make(chan T, 1)}
			select {
			case slots <- j.slot:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for slot := range slots {
		select {
		case v := <-slot:
			if err := emit(v); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}
