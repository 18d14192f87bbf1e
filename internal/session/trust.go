package session

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/suite"
)

// A run's folder names the suites and the configuration that it was made with,
// and grading by them may run programs (exec checks, checkers) and send keys to
// the endpoints of models. A folder from elsewhere must not decide that. One is
// our own when it is in the project's folder of runs and was made in the
// project, with files of the project that are not among its runs.

// settle decides what a run is graded by: the folder in which its options are
// read, and whether the suites are foreign, so that they may not run programs.
// Foreign suites are read with the caller's own configuration.
func (r *Rescoring) settle(w *World, dir string, o *Options) (at string, foreign bool, err error) {
	cfg, err := LoadConfig(w, r.Config)
	if err != nil {
		return "", false, err
	}
	trusted := r.Trust || o.madeIn(w, cfg, RunsDir(w, r.Runs, cfg), dir)
	if len(r.Suites) > 0 {
		o.Suites, o.Dir = r.Suites, w.Dir
	}
	if trusted {
		return o.Dir, false, nil
	}
	o.Config = r.Config
	if len(r.Suites) > 0 {
		return w.Dir, false, nil
	}
	for i, name := range o.Suites {
		if _, err := suite.Find(o.Dir, name); !errors.Is(err, fs.ErrNotExist) {
			o.Suites[i] = within(o.Dir, name)
		}
	}
	if o.Skills != "" {
		o.Skills = within(o.Dir, o.Skills)
	}
	o.Dir = w.Dir
	return w.Dir, len(o.Suites) > 0, nil
}

// madeIn tells whether a run was made in the project of a config.
func (o *Options) madeIn(w *World, cfg *suite.Config, runs, dir string) bool {
	config := o.Config
	if config == "" {
		found, err := suite.FindConfig(o.Dir)
		if err != nil {
			return false
		}
		config = found
	}
	ours := func(path string) bool {
		path = within(o.Dir, path)
		return (inside(cfg.Dir, path) || inside(w.Dir, path)) && !inside(runs, path)
	}
	same := config == "" || cfg.File != "" && real(within(o.Dir, config)) == real(w.Abs(cfg.File))
	return inside(runs, w.Abs(dir)) && ours(".") && (same || ours(config)) &&
		!slices.ContainsFunc(o.Suites, func(name string) bool { return !ours(name) })
}

// inside tells whether a path is a folder or in it.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(real(folder), real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// real is a path without symbolic links, as far as it exists.
func real(path string) string {
	for head, rest := path, ""; ; head, rest = filepath.Dir(head), filepath.Join(filepath.Base(head), rest) {
		if there, err := filepath.EvalSymlinks(head); err == nil {
			return filepath.Join(there, rest)
		}
		if head == filepath.Dir(head) {
			return path
		}
	}
}

// refusePrograms finds checks of suites that may not run programs.
func refusePrograms(parent string, suites []*eval.Suite) error {
	for _, s := range suites {
		for _, c := range s.Cases {
			if slices.ContainsFunc(c.Checks, grade.RunsProgram) {
				return usagef("run %s was not made in this project, and case %s of its suite %s runs a program: name suites of your own, or give --trust if you trust whoever made the run", parent, c.ID, s.File)
			}
		}
	}
	return nil
}
