package lint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

// File is a file to lint, by its three names.
type File struct {
	Path  string // to open it; empty when only its text is known
	ID    string // from the configuration's folder, which suppressions and baselines mean paths from
	Shown string // for people, from where they stand

	Input io.Reader // read in the place of the file; nil to read the file
}

// Search says how paths are meant.
type Search struct {
	Dir       string    // the folder that they are relative to
	Root      string    // the configuration's folder
	Stdin     io.Reader // what - means
	StdinName string    // the path that it is taken to be the file of
	Fix       bool      // the files are to be changed, which standard input cannot be
}

// Files lists the skills that paths name, each once. The error has every path that names none.
func (s Search) Files(paths []string) ([]File, error) {
	var files []File
	var errs []error
	seen := map[string]bool{}
	for _, path := range paths {
		found, err := s.files(path)
		if err != nil {
			errs = append(errs, err)
		}
		for _, f := range found {
			if !seen[f.Path] {
				seen[f.Path] = true
				files = append(files, f)
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return files, nil
}

func (s Search) files(arg string) ([]File, error) {
	switch {
	case arg == "":
		return nil, errors.New("a path is empty")
	case arg == "-" && s.Fix:
		return nil, errors.New("--fix has no file to change when it is standard input; --diff shows the change")
	case arg == "-":
		f := File{ID: skill.FileName, Shown: "<stdin>"}
		if s.StdinName != "" {
			f = s.file(s.StdinName, s.abs(s.StdinName))
		}
		f.Input = s.Stdin
		return []File{f}, nil
	}
	found, err := skill.Find(s.abs(arg))
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
	files := make([]File, len(found))
	for i, name := range found {
		files[i] = s.file(arg, name)
	}
	return files, nil
}

func (s Search) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// file names a file that was found by way of an argument.
func (s Search) file(arg, path string) File {
	f := File{Path: path, ID: path, Shown: path}
	if rel, err := filepath.Rel(s.Root, path); err == nil {
		f.ID = rel
	}
	if rel, err := filepath.Rel(s.Dir, path); err == nil && (!filepath.IsAbs(arg) || filepath.IsLocal(rel)) {
		f.Shown = rel
	}
	f.ID, f.Shown = filepath.ToSlash(f.ID), filepath.ToSlash(f.Shown)
	return f
}

// maxInput is the most that is read of standard input, as much as a skill file may have.
const maxInput = 16 << 20

// load reads a skill.
func (f *File) load() (*skill.Document, error) {
	if f.Input == nil {
		d, err := skill.Load(f.Path)
		if err != nil {
			return nil, err
		}
		d.Path = f.ID
		return d, nil
	}
	data, err := io.ReadAll(io.LimitReader(f.Input, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("read standard input: it is more than the %d MB a skill file may have", maxInput>>20)
	}
	return f.parse(data), nil
}

// parse makes a document of a text in the place of the file's.
func (f *File) parse(data []byte) *skill.Document {
	if f.Path == "" {
		return skill.Parse(f.ID, data)
	}
	d := skill.Parse(filepath.ToSlash(f.Path), data)
	d.Path = f.ID
	folder := filepath.Dir(f.Path)
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		d.Folder = os.DirFS(folder)
	}
	return d
}

// shown is an error in which the file has the name that people know it by.
func (f *File) shown(err error) error {
	if f.Path == "" {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), f.Path, f.Shown))
}

// result gives findings the names that people know their files by.
func (f *File) result(found []Finding) Result {
	for i := range found {
		found[i].File = rebase(found[i].File, f.ID, f.Shown)
	}
	return Result{Path: f.Shown, Findings: found}
}

// rebase gives a file of a skill the name it has when the skill's is another one. What is bundled with a skill that has no
// folder keeps its own.
func rebase(file, from, to string) string {
	if file == from {
		return to
	}
	rel, err := filepath.Rel(path.Dir(from), file)
	if err != nil || !filepath.IsLocal(rel) {
		return file
	}
	return path.Join(path.Dir(to), filepath.ToSlash(rel))
}
