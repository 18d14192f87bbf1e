package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
)

// LoadConfig reads the config a command works with; without one, an empty one
// whose folder is the working directory.
func LoadConfig(w *World, path string) (*suite.Config, error) {
	if path == "" {
		found, err := suite.FindConfig(w.Dir)
		if err != nil {
			return nil, err
		}
		if found == "" {
			return &suite.Config{Dir: w.Dir}, nil
		}
		path = found
	}
	b, err := os.ReadFile(w.Abs(path))
	if err != nil {
		return nil, usagef("read the configuration: %w", err)
	}
	cfg, err := suite.LoadConfig(suite.File{Path: w.Shown(path), Data: b})
	if err != nil {
		return nil, err
	}
	cfg.Dir = filepath.Dir(w.Abs(path))
	return cfg, nil
}

// RunsDir is the folder runs are kept in: the given one, or the configured.
func RunsDir(w *World, given string, cfg *suite.Config) string {
	switch {
	case given != "":
		return w.Abs(given)
	case cfg.Output.Runs != "":
		return within(cfg.Dir, cfg.Output.Runs)
	}
	return filepath.Join(cfg.Dir, ".mettle", "runs")
}

// Loaded is the suites that options name, narrowed to the cases asked for.
type Loaded struct {
	*suite.Set
	Config *suite.Config

	builtin   bool // nothing but built-in suites
	defaulted bool // no suite was asked for by name
	skills    func(file string) *suite.Skills
	absent    []string // suites left out because their skills are not there

	unmeasured []eval.Gate // of suites, whose cases the selection left out
}

// Load reads the suites that are selected. run says where their cases are to
// go, nil where that does not matter; gates are those of the run, checked
// against the cases.
func Load(w *World, o *Select, run *Options, gates []eval.Gate) (*Loaded, error) {
	if run == nil {
		run = new(Options)
	}
	cfg, err := LoadConfig(w, o.Config)
	if err != nil {
		return nil, err
	}
	files, onlyBuiltin, err := suiteFiles(w, o.Suites, cfg)
	if err != nil {
		return nil, err
	}
	skills, err := o.skills(w, cfg)
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Skills = skills(files[i].Path)
		files[i].Target = func(name string) target.Target { return cfg.Targets[run.defaultTarget(name, cfg)] }
	}
	l := &Loaded{Config: cfg, builtin: onlyBuiltin, defaulted: len(o.Suites)+len(cfg.Suites) == 0, skills: skills}
	if l.defaulted && o.Skills+cfg.Skills != "" {
		files, l.absent = aboutThese(files)
	}
	if l.Set, err = suite.Load(files); err != nil {
		return nil, err
	}
	if !run.elsewhere() {
		if err := l.CheckTargets(cfg.TargetNames()); err != nil {
			return nil, err
		}
	}
	if err := suite.CheckGates(gates, l.Suites); err != nil {
		return nil, &UsageError{err}
	}
	if l.Suites, err = o.selection().Apply(l.Suites); err != nil {
		return nil, &UsageError{err}
	}
	for _, s := range l.Suites {
		var out []eval.Gate
		s.Gates, out = suite.SelectGates(s.Gates, s.Cases)
		l.unmeasured = append(l.unmeasured, out...)
	}
	return l, nil
}

// named is the target that a suite or mettle.yaml defines under a name, nil for
// none.
func (l *Loaded) named(name string) target.Target {
	if t := l.Targets[name]; t != nil {
		return t
	}
	return l.Config.Targets[name]
}

// server tells whether a name may be that of a server: targets that are not
// defined are.
func (l *Loaded) server(name string) bool {
	t := l.named(name)
	return t == nil || t.Needs().Server
}

// cases lists all cases.
func (l *Loaded) cases() (out []*eval.Case) {
	for _, s := range l.Suites {
		out = append(out, s.Cases...)
	}
	return out
}

// aboutThese leaves out the built-in suites that were not asked for by name and
// that are about other skills than the ones at hand. Nothing else can be wrong
// with one.
func aboutThese(files []suite.File) (kept []suite.File, absent []string) {
	for _, f := range files {
		if _, err := suite.Load([]suite.File{f}); err != nil {
			absent = append(absent, strings.TrimSuffix(strings.TrimPrefix(f.Path, builtinPrefix), ".yaml"))
		} else {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return files, nil
	}
	return kept, absent
}

// skillLanguages are the values of --language.
var skillLanguages = []string{"js", "python", "both"}

// skills tells where the skills are that a suite's cases are about: where the
// options or the config say, else the built-in ones for a built-in suite and
// the config's folder for any other.
func (o *Select) skills(w *World, cfg *suite.Config) (func(file string) *suite.Skills, error) {
	if o.Language != "" && !slices.Contains(skillLanguages, o.Language) {
		return nil, usagef("--language is %q, want one of %s", o.Language, strings.Join(skillLanguages, ", "))
	}
	own := &suite.Skills{Library: skill.NewLibrary(builtin.Skills, "the built-in skills"), Any: o.Language}
	folder, asked := cfg.Dir, "open the folder of skills"
	switch {
	case o.Skills != "":
		folder, asked = w.Abs(o.Skills), "--skills"
	case cfg.Skills != "":
		folder, asked = within(cfg.Dir, cfg.Skills), cfg.File+": skills"
	}
	root, err := os.OpenRoot(folder) // a link out of the folder is not followed
	if err != nil {
		return nil, usagef("%s: %w", asked, err)
	}
	there := &suite.Skills{Library: skill.NewLibrary(root.FS(), w.Shown(folder)), Any: o.Language}
	return func(file string) *suite.Skills {
		if o.Skills == "" && cfg.Skills == "" && strings.HasPrefix(file, builtinPrefix) {
			return own
		}
		return there
	}, nil
}

// suiteFiles reads what the arguments name: files, folders, globs and
// built-in suites. Without arguments it is what the config names, and without
// that the built-in suites.
func suiteFiles(w *World, args []string, cfg *suite.Config) (files []suite.File, onlyBuiltin bool, err error) {
	dir := w.Dir
	if len(args) == 0 {
		if len(cfg.Suites) == 0 {
			files, err = builtinFiles("")
			return files, true, err
		}
		args, dir = cfg.Suites, cfg.Dir
	}
	onlyBuiltin = true
	for _, arg := range args {
		found, isBuiltin, err := oneArgument(w, dir, arg)
		if err != nil {
			return nil, false, err
		}
		onlyBuiltin = onlyBuiltin && isBuiltin
		for _, f := range found {
			if !slices.ContainsFunc(files, func(g suite.File) bool { return g.Path == f.Path }) {
				files = append(files, f)
			}
		}
	}
	return files, onlyBuiltin, nil
}

func oneArgument(w *World, dir, arg string) (files []suite.File, isBuiltin bool, err error) {
	paths, err := suite.Find(dir, arg)
	if errors.Is(err, fs.ErrNotExist) {
		if files, err := builtinFiles(arg); err == nil && len(files) > 0 {
			return files, true, nil
		}
		return nil, false, usagef("no suite %q: it is neither a file, a folder or a glob that matches, nor a built-in suite%s", arg, nearBuiltin(arg))
	}
	if err != nil {
		return nil, false, &UsageError{err}
	}
	for _, p := range paths {
		f, err := readSuite(w, p)
		if err != nil {
			return nil, false, err
		}
		files = append(files, f)
	}
	return files, false, nil
}

// readSuite reads a suite file, but no more of a huge one than it takes to
// refuse it.
func readSuite(w *World, path string) (suite.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return suite.File{}, usagef("read suite: %w", err)
	}
	if !info.Mode().IsRegular() {
		return suite.File{}, usagef("read suite %s: it is not a regular file", w.Shown(path))
	}
	if info.Size() > kind.MaxFile {
		return suite.File{}, kind.Problems{{File: w.Shown(path), Message: fmt.Sprintf("the file is %d bytes, more than the %d MiB allowed", info.Size(), kind.MaxFile>>20)}}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return suite.File{}, usagef("read suite: %w", err)
	}
	return suite.File{Path: w.Shown(path), Data: b}, nil
}
