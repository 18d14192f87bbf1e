package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
)

// loaded is what a command's arguments turned out to be.
type loaded struct {
	*suite.Set
	config    *suite.Config
	builtin   bool // nothing but built-in suites
	defaulted bool // nobody asked for these suites by name
	skills    func(file string) *suite.Skills
	withheld  []string // suites left out for want of a model
	absent    []string // suites left out for want of their skills
}

// load reads the suites that a command's arguments name and narrows them to
// the cases asked for.
func load(w *World, o *selectOptions) (*loaded, error) {
	cfg, err := loadConfig(w, o.Config)
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
	}
	defaulted := len(o.Suites)+len(cfg.Suites) == 0
	var absent []string
	if defaulted && o.Skills+cfg.Skills != "" {
		files, absent = aboutThese(files)
	}
	set, err := suite.Load(files)
	if err != nil {
		return nil, err
	}
	if !o.elsewhere {
		if err := set.CheckTargets(cfg.TargetNames()); err != nil {
			return nil, err
		}
	}
	if err := checkCases(set, cfg); err != nil {
		return nil, err
	}
	if len(o.gates) == 0 {
		o.gates = cfg.Gates
	}
	if err := suite.CheckGates(o.gates, set.Suites); err != nil {
		return nil, &usageError{err}
	}
	if err := checkReports(cfg.Output.Report); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.File, err)
	}
	set.Suites, err = o.selection().Apply(set.Suites)
	if err != nil {
		return nil, &usageError{err}
	}
	return &loaded{Set: set, config: cfg, builtin: onlyBuiltin, defaulted: defaulted, skills: skills, absent: absent}, nil
}

// checkCases finds cases that a target of mettle.yaml cannot be asked. Those
// of a suite's own target are checked with the suite.
func checkCases(set *suite.Set, cfg *suite.Config) error {
	var problems kind.Problems
	for _, s := range set.Suites {
		for _, c := range s.Cases {
			checker, ok := cfg.Targets[c.Target].(target.CaseChecker)
			if !ok {
				continue
			}
			if err := checker.CheckCase(c); err != nil {
				problems = append(problems, kind.Problem{File: c.Pos.File, Line: c.Pos.Line, Col: c.Pos.Col, Message: fmt.Sprintf("test %s: %v", c.ID, err)})
			}
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// aboutThese leaves out the built-in suites that nobody asked for and that are
// about other skills than somebody's own. Nothing else can be wrong with one.
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

// skills tells where the skills are that a suite's cases are about: where the
// command line or the config says, else the built-in ones for a built-in suite
// and the config's folder for any other.
func (o *selectOptions) skills(w *World, cfg *suite.Config) (func(file string) *suite.Skills, error) {
	if o.Language != "" && !slices.Contains(skillLanguages, o.Language) {
		return nil, usagef("--language is %q, want one of %s", o.Language, strings.Join(skillLanguages, ", "))
	}
	carried := &suite.Skills{Library: skill.NewLibrary(builtin.Skills, "the built-in skills"), Any: o.Language}
	folder, asked := cfg.Dir, "open the folder of skills"
	switch {
	case o.Skills != "":
		folder, asked = w.abs(o.Skills), "--skills"
	case cfg.Skills != "":
		folder, asked = within(cfg.Dir, cfg.Skills), cfg.File+": skills"
	}
	root, err := os.OpenRoot(folder) // a link out of the folder is not followed
	if err != nil {
		return nil, usagef("%s: %w", asked, err)
	}
	there := &suite.Skills{Library: skill.NewLibrary(root.FS(), w.shown(folder)), Any: o.Language}
	return func(file string) *suite.Skills {
		if o.Skills == "" && cfg.Skills == "" && strings.HasPrefix(file, builtinPrefix) {
			return carried
		}
		return there
	}, nil
}

// skillLanguages are what --language may say.
var skillLanguages = []string{"js", "python", "both"}

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
		return nil, false, &usageError{err}
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
		return suite.File{}, usagef("read suite %s: it is not a regular file", w.shown(path))
	}
	if info.Size() > kind.MaxFile {
		return suite.File{}, kind.Problems{{File: w.shown(path), Message: fmt.Sprintf("the file is %d bytes, more than the %d MiB allowed", info.Size(), kind.MaxFile>>20)}}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return suite.File{}, usagef("read suite: %w", err)
	}
	return suite.File{Path: w.shown(path), Data: b}, nil
}

// builtinPrefix marks the paths of suites that the binary carries.
const builtinPrefix = "builtin:"

// builtinSuites lists the suites that the binary carries, by the name they have
// on the command line. Those about skills have no folder in theirs.
func builtinSuites() (names []string, paths map[string]string) {
	paths = map[string]string{}
	_ = fs.WalkDir(builtin.Suites, ".", func(path string, d fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, ".yaml"); ok && err == nil && !d.IsDir() {
			name = strings.TrimPrefix(name, "skills/")
			names = append(names, name)
			paths[name] = path
		}
		return nil
	})
	return names, paths
}

// builtinFiles reads the built-in suite with a name, or all below it.
func builtinFiles(name string) (files []suite.File, err error) {
	name = strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(name, builtinPrefix)), ".yaml")
	names, paths := builtinSuites()
	for _, n := range names {
		if name != "" && n != name && !strings.HasPrefix(n, name+"/") {
			continue
		}
		b, err := fs.ReadFile(builtin.Suites, paths[n])
		if err != nil {
			return nil, err
		}
		files = append(files, suite.File{Path: builtinPrefix + n + ".yaml", Data: b})
	}
	return files, nil
}

func nearBuiltin(arg string) string {
	names, _ := builtinSuites()
	if near := kind.Near(arg, names); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
