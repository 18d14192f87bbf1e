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

	"github.com/mettle-eval/mettle/internal/kind"
)

// Find gives the suite files that an argument means: a file; a folder, with
// the .yaml, .yml and .json files below it; or a glob, in which * stands for
// any part of a name and ** for any folders. Paths are meant from dir and come
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
	s, err := newSearch(folder, []string{"**", "*"})
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
	folder, pattern := splitGlob(arg)
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
const globMarks = "*?["

// checkGlob tells whether a glob can be read.
func checkGlob(arg string) error {
	for segment := range strings.SplitSeq(filepath.ToSlash(arg), "/") {
		if _, err := path.Match(segment, ""); err != nil {
			return fmt.Errorf("the glob %q cannot be read: a [ is not closed, or a \\ stands last", arg)
		}
	}
	return nil
}

// splitGlob splits a glob into the folder that it starts from and the names
// below that have marks.
func splitGlob(arg string) (folder string, pattern []string) {
	segments := strings.Split(path.Clean(filepath.ToSlash(arg)), "/")
	i := slices.IndexFunc(segments, func(s string) bool { return strings.ContainsAny(s, globMarks) })
	folder = strings.Join(segments[:i], "/")
	if i == 1 && segments[0] == "" {
		folder = "/"
	}
	pattern = slices.CompactFunc(segments[i:], func(a, b string) bool { return a == "**" && b == "**" })
	if pattern[len(pattern)-1] == "**" {
		pattern = append(pattern, "*") // every file below, not every folder
	}
	return filepath.FromSlash(folder), pattern
}

// extensions are those of suite files.
var extensions = []string{".yaml", ".yml", ".json"}

// search walks a folder for the suite files that match a pattern.
type search struct {
	root    string // as the caller named it
	real    string // the same without links
	pattern []string
	found   map[string]string // real path to the path below root
	links   map[string]string // the same, of links
}

func newSearch(root string, pattern []string) (*search, error) {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	return &search{root, resolved, pattern, map[string]string{}, map[string]string{}}, nil
}

func (s *search) walk() error {
	err := filepath.WalkDir(s.real, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.real, full)
		if err != nil || rel == "." {
			return err
		}
		names := strings.Split(filepath.ToSlash(rel), "/")
		if entry.IsDir() {
			if entry.Name() == "node_modules" || !matchNames(s.pattern, names, true) {
				return fs.SkipDir
			}
			return nil
		}
		if matchNames(s.pattern, names, false) || matchNames(append(slices.Clone(s.pattern), "**", "*"), names, false) {
			return s.file(full, rel, entry)
		}
		return nil
	})
	for target, link := range s.links { // a link to what was found anyway would be the same suite twice
		if _, ok := s.found[target]; !ok {
			s.found[target] = link
		}
	}
	return err
}

func (s *search) file(full, rel string, entry fs.DirEntry) error {
	if !slices.Contains(extensions, strings.ToLower(filepath.Ext(full))) || entry.Name() == ConfigName {
		return nil
	}
	into := s.found
	if entry.Type()&fs.ModeSymlink != 0 {
		target, err := filepath.EvalSymlinks(full)
		if err != nil || !below(s.real, target) {
			return nil //nolint:nilerr // a link that leads nowhere is as good as one that leads out
		}
		full, into = target, s.links
	}
	info, err := os.Stat(full)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || otherJSON(full, info.Size()) {
		return nil
	}
	if _, ok := into[full]; !ok {
		into[full] = filepath.Join(s.root, rel)
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

// matchNames matches the names of a path with a pattern; with prefix, it tells
// whether something below the path can match. Hidden names match only what
// starts with a dot itself.
func matchNames(pattern, names []string, prefix bool) bool {
	switch {
	case len(names) == 0:
		return prefix || len(pattern) == 0
	case len(pattern) == 0:
		return prefix && !strings.HasPrefix(names[len(names)-1], ".") // a folder that matches is searched whole
	case pattern[0] == "**":
		if matchNames(pattern[1:], names, prefix) {
			return true
		}
		return !strings.HasPrefix(names[0], ".") && matchNames(pattern, names[1:], prefix)
	}
	if strings.HasPrefix(names[0], ".") && !strings.HasPrefix(pattern[0], ".") {
		return false
	}
	ok, _ := path.Match(pattern[0], names[0])
	return ok && matchNames(pattern[1:], names[1:], prefix)
}
