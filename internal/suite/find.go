package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mettle-eval/mettle/internal/kind"
)

// Find gives the suite files that an argument means: a file; a folder, with
// the .yaml, .yml and .json files below it; or a glob, in which * stands for
// any part of a name, ** for any folders and {a,b} for either. Paths are meant from dir and come
// sorted. Hidden files and folders, node_modules and mettle.yaml are passed
// over unless named, and links are not followed out of the folder that is
// searched.
//
// The error is [fs.ErrNotExist] when there is nothing by that name.
func Find(dir, arg string) ([]string, error) {
	full := arg
	if !filepath.IsAbs(arg) {
		full = filepath.Join(dir, arg)
	}
	info, err := os.Stat(full)
	switch {
	case err == nil && info.IsDir():
		return findBelow(full, arg)
	case err == nil:
		return []string{full}, nil
	case !strings.ContainsAny(arg, globMarks):
		return nil, fmt.Errorf("find suite %s: %w", arg, err)
	}
	return findGlob(dir, arg)
}

func findBelow(folder, arg string) ([]string, error) {
	s, err := newSearch(folder, "**")
	if err != nil {
		return nil, fmt.Errorf("find suites in %s: %w", arg, err)
	}
	if err := s.walk(); err != nil {
		return nil, fmt.Errorf("find suites in %s: %w", arg, err)
	}
	if len(s.found) == 0 {
		return nil, fmt.Errorf("the folder %s has no suite files (%s)", arg, strings.Join(extensions, ", "))
	}
	return s.sorted(), nil
}

func findGlob(dir, arg string) ([]string, error) {
	if err := checkGlob(arg); err != nil {
		return nil, err
	}
	folder, pattern := doublestar.SplitPattern(path.Clean(filepath.ToSlash(arg)))
	folder = filepath.FromSlash(folder)
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	s, err := newSearch(folder, pattern)
	if err == nil {
		err = s.walk()
	}
	if err == nil && len(s.found) == 0 {
		err = fs.ErrNotExist
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("nothing matches %s: %w", arg, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("find suites %s: %w", arg, err)
	}
	return s.sorted(), nil
}

// globMarks are the characters that make an argument a glob.
const globMarks = "*?[{"

// checkGlob tells whether a glob can be read.
func checkGlob(arg string) error {
	if !doublestar.ValidatePattern(filepath.ToSlash(arg)) {
		return fmt.Errorf("the glob %q cannot be read: a [ or { is not closed, or a \\ stands last", arg)
	}
	return nil
}

// extensions are those of suite files.
var extensions = []string{".yaml", ".yml", ".json"}

// search walks a folder for the suite files that match a pattern.
type search struct {
	root    string // as the caller named it
	real    string // the same without links
	pattern string
	found   map[string]string // real path to the path below root
	links   map[string]string // the same, of links
}

func newSearch(root, pattern string) (*search, error) {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	return &search{root, resolved, pattern, map[string]string{}, map[string]string{}}, nil
}

// walk finds the files that match, and those below folders that match.
func (s *search) walk() error {
	tree := modulesHidden{os.DirFS(s.real)}
	for _, pattern := range []string{s.pattern, path.Join(s.pattern, "**")} {
		err := doublestar.GlobWalk(tree, pattern, func(rel string, entry fs.DirEntry) error {
			if entry.IsDir() {
				return nil
			}
			return s.file(filepath.FromSlash(rel))
		}, doublestar.WithNoHidden(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
		if err != nil {
			return err
		}
	}
	for target, link := range s.links { // a link to what was found anyway would be the same suite twice
		if _, ok := s.found[target]; !ok {
			s.found[target] = link
		}
	}
	return nil
}

// modulesHidden is a tree without the folders of npm.
type modulesHidden struct{ fs.FS }

// ReadDir lists a folder.
func (m modulesHidden) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(m.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "node_modules" }), err
}

func (s *search) file(rel string) error {
	if !slices.Contains(extensions, strings.ToLower(filepath.Ext(rel))) || filepath.Base(rel) == ConfigName {
		return nil
	}
	full := filepath.Join(s.real, rel)
	target, err := filepath.EvalSymlinks(full)
	if err != nil || !below(s.real, target) {
		return nil //nolint:nilerr // a link that leads nowhere is as good as one that leads out
	}
	into := s.found
	if target != full {
		into = s.links
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || otherJSON(target, info.Size()) {
		return nil
	}
	if _, ok := into[target]; !ok {
		into[target] = filepath.Join(s.root, rel)
	}
	return nil
}

func (s *search) sorted() (paths []string) {
	for _, p := range s.found {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

func below(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// otherJSON tells the JSON files that are not meant as suites: reports, for
// one, are written below the folder that was searched for suites. A file that
// is no JSON is left for the loader to complain about.
func otherJSON(file string, size int64) bool {
	if strings.ToLower(filepath.Ext(file)) != ".json" {
		return false
	}
	if size > kind.MaxFile {
		return true
	}
	b, err := os.ReadFile(file)
	if err != nil || !json.Valid(b) {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil {
		return true
	}
	_, tests := members["tests"]
	return !tests
}
