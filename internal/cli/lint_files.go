package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/suite"
)

// lintFile is a file to lint, by its three names.
type lintFile struct {
	path  string // to open it
	id    string // from the configuration's folder, which suppressions and baselines mean paths from
	shown string // for people, from where they stand

	stdin bool
}

// findSkills lists the files that the arguments name, each once.
func findSkills(w *World, o *lintOptions, cfg *suite.Config, args []string) ([]lintFile, error) {
	if len(args) == 0 {
		args = []string{"."}
		if cfg.Skills != "" {
			args[0] = w.shown(filepath.Join(cfg.Dir, cfg.Skills))
		}
	}
	var files []lintFile
	var errs []error
	seen := map[string]bool{}
	for _, arg := range args {
		found, err := oneLintArgument(w, o, cfg, arg)
		if err != nil {
			errs = append(errs, err)
		}
		for _, f := range found {
			if !seen[f.path] {
				seen[f.path] = true
				files = append(files, f)
			}
		}
	}
	if len(errs) > 0 {
		return nil, &usageError{errors.Join(errs...)}
	}
	return files, nil
}

func oneLintArgument(w *World, o *lintOptions, cfg *suite.Config, arg string) ([]lintFile, error) {
	switch {
	case arg == "":
		return nil, errors.New("a path is empty")
	case arg == "-" && o.fix:
		return nil, errors.New("--fix has no file to change when it is standard input; --diff shows the change")
	case arg == "-":
		f := lintFile{stdin: true, id: skill.FileName, shown: "<stdin>"}
		if o.stdinName != "" {
			f = w.lintFile(o.stdinName, w.abs(o.stdinName), cfg.Dir)
			f.stdin = true
		}
		return []lintFile{f}, nil
	}
	found, err := skill.Find(w.abs(arg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file or folder", arg)
	case errors.Is(err, skill.ErrNoSkills):
		return nil, fmt.Errorf("%s: no %s in it or below", arg, skill.FileName)
	case errors.Is(err, skill.ErrManyFolders):
		return nil, fmt.Errorf("%s: %w", arg, skill.ErrManyFolders)
	case err != nil:
		return nil, err
	}
	files := make([]lintFile, len(found))
	for i, path := range found {
		files[i] = w.lintFile(arg, path, cfg.Dir)
	}
	return files, nil
}

// lintFile names a file that was found by way of an argument.
func (w *World) lintFile(arg, path, root string) lintFile {
	f := lintFile{path: path, id: path, shown: path}
	if rel, err := filepath.Rel(root, path); err == nil {
		f.id = rel
	}
	if rel, err := filepath.Rel(w.Dir, path); err == nil && (!filepath.IsAbs(arg) || filepath.IsLocal(rel)) {
		f.shown = rel
	}
	f.id, f.shown = filepath.ToSlash(f.id), filepath.ToSlash(f.shown)
	return f
}

// lint looks at every file and then at all of them together. What it finds
// comes in the order of the files, each as soon as those before it have come.
func (j *lintJob) lint(ctx context.Context, emit func(report.LintFile) error) error {
	workers := min(runtime.GOMAXPROCS(0), len(j.files))
	err := inOrder(ctx, len(j.files), workers, func(i int) report.LintFile { return j.one(j.files[i]) }, func(f report.LintFile) error {
		j.totals.Files++
		j.withoutBaseline(&f)
		return emit(f)
	})
	if err != nil {
		return err
	}
	shown := make(map[string]string, len(j.files))
	for _, f := range j.files {
		shown[f.id] = f.shown
	}
	for found := j.linter.Finish(); len(found) > 0; {
		n := slices.IndexFunc(found, func(f skill.Finding) bool { return f.File != found[0].File })
		if n < 0 {
			n = len(found)
		}
		f := named(found[:n:n], shown[found[0].File])
		found = found[n:]
		j.withoutBaseline(&f)
		if err := emit(f); err != nil {
			return err
		}
	}
	return nil
}

// one lints one file.
func (j *lintJob) one(f lintFile) report.LintFile {
	d, err := j.load(f)
	if err != nil {
		return report.LintFile{Path: f.shown, Err: errors.New(f.shownIn(err))}
	}
	var fixed []skill.Finding
	if j.opts.fix {
		if d, fixed, err = j.mendFile(f, d); err != nil {
			err = fmt.Errorf("write the mended file: %w", err)
		}
	}
	out := named(j.linter.File(d), f.shown)
	out.Err = err
	out.Fixed = named(fixed, f.shown).Findings
	return out
}

// shownIn is the text of an error in which the file has the name that people
// know it by.
func (f lintFile) shownIn(err error) string {
	if f.path == "" {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), f.path, f.shown)
}

// named gives findings the name that people know their file by.
func named(found []skill.Finding, shown string) report.LintFile {
	for i := range found {
		found[i].File = shown
	}
	return report.LintFile{Path: shown, Findings: found}
}

// load reads a skill.
func (j *lintJob) load(f lintFile) (*skill.Document, error) {
	if f.stdin {
		const most = 16 << 20
		data, err := io.ReadAll(io.LimitReader(j.world.Stdin, most+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		if len(data) > most {
			return nil, fmt.Errorf("read standard input: it is more than the %d MB a skill file may have", most>>20)
		}
		return f.parse(data), nil
	}
	d, err := skill.Load(f.path)
	if err != nil {
		return nil, err
	}
	d.Path = f.id
	return d, nil
}

// parse makes a document of a text in the place of the file's.
func (f lintFile) parse(data []byte) *skill.Document {
	if f.path == "" {
		return skill.Parse(f.id, data)
	}
	d := skill.Parse(filepath.ToSlash(f.path), data)
	d.Path = f.id
	if folder := filepath.Dir(f.path); isFolder(folder) {
		d.Folder = os.DirFS(folder)
	}
	return d
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// inOrder does n things at some at a time and hands on the results in order.
// It runs no further ahead than twice the workers, so that a slow reader of the
// results does not fill the memory.
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
