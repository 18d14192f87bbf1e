package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of a search. The depth is the one that the client guide of the specification suggests; its 2,000 folders are too
// few for public collections.
const (
	maxDepth   = 6       // folders below a root that holds skills
	maxOutside = 3       // of them, those behind a link that leads out of the root
	maxFolders = 200_000 // folders looked into altogether
	maxFile    = 16 << 20
)

// FileName is the name of the file that makes a folder a skill.
const FileName = "SKILL.md"

// ErrManyFolders is wrapped by the errors of [Find] and [FindFS] when there are more folders than are looked into, so
// that skills may be left that nobody has seen.
var ErrManyFolders = fmt.Errorf("more than %d folders: name those that hold the skills", maxFolders)

// ErrNoSkills is wrapped by the errors of [Find] and [FindFS] when a folder exists and holds no skill.
var ErrNoSkills = errors.New("no SKILL.md found")

// Find lists the skills at root, sorted: root itself if it is a file, the one in it if it is the folder of a skill, else
// every SKILL.md below it. That covers repositories (<skill>/SKILL.md, <skill>/<lang>/SKILL.md at any depth) and the
// folders .claude/skills and .agents/skills; of other hidden folders, and of .git and node_modules, nothing is listed.
//
// The search ends 6 levels down, and more than 200,000 folders are an error. Symbolic links are followed, three levels
// where they lead out of root, and each file is listed once. A SKILL.md that is a link to nothing is listed, and so is a
// link to nothing in a folder named skills: whoever reads them says so. A file whose name differs in case only (skill.md)
// is listed too, so that a rule can say what is wrong with it.
func Find(root string) ([]string, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("look for skills: %w", err)
	}
	if !info.IsDir() {
		return []string{root}, nil
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("look for skills: %w", err)
	}
	found, err := find(disk{real}, root)
	if err != nil {
		return nil, fmt.Errorf("look for skills in %s: %w", root, err)
	}
	return found, nil
}

// FindFS lists the skills of a file system as [Find] does those of a folder: sorted, by paths with slashes that
// [LoadFS] takes. Symbolic links are not followed, because a file system cannot say where they lead.
func FindFS(fsys fs.FS) ([]string, error) {
	found, err := find(files{fsys}, ".")
	if err != nil {
		return nil, fmt.Errorf("look for skills: %w", err)
	}
	return found, nil
}

func find(in place, root string) ([]string, error) {
	f := finder{place: in, seen: map[string]bool{}, left: maxFolders}
	real, _ := in.Resolve(root)
	if err := f.folder(root, real, 0); err != nil {
		return nil, err
	}
	if len(f.found) == 0 {
		return nil, ErrNoSkills
	}
	slices.Sort(f.found)
	return f.found, nil
}

// place is where skills are looked for.
type place interface {
	ReadDir(path string) ([]fs.DirEntry, error)
	Stat(path string) (fs.FileInfo, error)
	Join(folder, name string) string
	// Resolve follows the links of a path and reports whether it ends inside of the place. The result is empty when it ends
	// nowhere.
	Resolve(path string) (string, bool)
}

// disk is a folder on the disk, by its name with all links resolved.
type disk struct{ root string }

func (disk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }
func (disk) Stat(path string) (fs.FileInfo, error)      { return os.Stat(path) }
func (disk) Join(folder, name string) string            { return filepath.Join(folder, name) }

func (d disk) Resolve(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(d.root, real)
	return real, err == nil && filepath.IsLocal(rel)
}

// files is a file system, such as the one that is built into the program.
type files struct{ fs.FS }

func (f files) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, path)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }), err
}

func (f files) Stat(path string) (fs.FileInfo, error) { return fs.Stat(f.FS, path) }
func (files) Join(folder, name string) string         { return path.Join(folder, name) }
func (files) Resolve(path string) (string, bool)      { return path, true }

type finder struct {
	place
	seen  map[string]bool // resolved folders and files
	left  int             // folders that may still be looked into
	found []string
}

// folder looks into one folder. Only the root must be readable: a locked folder somewhere below is not the user's skill.
// Real is its path with all links resolved.
func (f *finder) folder(path, real string, depth int) error {
	if f.seen[real] {
		return nil
	}
	if f.left == 0 {
		return ErrManyFolders
	}
	f.seen[real] = true
	f.left--
	entries, err := f.ReadDir(path)
	if err != nil {
		if depth == 0 {
			return err
		}
		return nil
	}
	// What is reached both ways is listed under its own name, so links come last.
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		return int(a.Type()&fs.ModeSymlink>>20) - int(b.Type()&fs.ModeSymlink>>20)
	})
	isSkill := f.file(path, real, entries)
	if depth >= maxDepth {
		return nil
	}
	for _, e := range entries {
		// A skill's own sub-folders hold its material; another skill in there is bundled (a template), unless the folder is
		// one for skills.
		if skipFolder(path, e.Name()) || isSkill && !MayHoldSkills(e.Name()) {
			continue
		}
		if !f.isFolder(path, e) {
			f.dangling(path, e)
			continue
		}
		below, inside := f.resolve(path, real, e)
		next := depth + 1
		if !inside {
			next = max(next, maxDepth-maxOutside+1)
		}
		if err := f.folder(f.Join(path, e.Name()), below, next); err != nil {
			return err
		}
	}
	return nil
}

// dangling notes the skill that a link in a folder of skills should lead to.
func (f *finder) dangling(folder string, e fs.DirEntry) {
	if e.Type()&fs.ModeSymlink == 0 || filepath.Base(folder) != "skills" {
		return
	}
	path := f.Join(folder, e.Name())
	if real, _ := f.Resolve(path); real == "" {
		f.found = append(f.found, f.Join(path, FileName))
	}
}

// file notes the skill file of a folder and reports whether there is one.
func (f *finder) file(folder, real string, entries []fs.DirEntry) bool {
	var entry fs.DirEntry
	for _, e := range entries {
		if strings.EqualFold(e.Name(), FileName) && (entry == nil || e.Name() == FileName) {
			entry = e
		}
	}
	if entry == nil || f.isFolder(folder, entry) {
		return false
	}
	file, _ := f.resolve(folder, real, entry)
	if file == "" || !f.seen[file] {
		f.seen[file] = file != ""
		f.found = append(f.found, f.Join(folder, entry.Name()))
	}
	return true
}

// resolve gives the path of an entry of a folder with all links resolved, and reports whether it is in the place. Only
// that of a link has to be asked for.
func (f *finder) resolve(folder, real string, e fs.DirEntry) (string, bool) {
	if e.Type()&fs.ModeSymlink == 0 {
		return f.Join(real, e.Name()), true
	}
	return f.Resolve(f.Join(folder, e.Name()))
}

func (f *finder) isFolder(parent string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := f.Stat(f.Join(parent, e.Name()))
	return err == nil && info.IsDir()
}

// skipFolder reports whether a folder is passed over. Of the hidden folders only those with skills are looked into: an
// agent's folder holds transcripts and caches besides.
func skipFolder(parent, name string) bool {
	switch base := filepath.Base(parent); {
	case name == "node_modules":
		return true
	case base == ".claude" || base == ".agents":
		return name != "skills"
	case name == ".claude" || name == ".agents":
		return false
	}
	return len(name) > 1 && name[0] == '.'
}

// MayHoldSkills reports whether a folder beside a SKILL.md can hold further skills.
func MayHoldSkills(name string) bool {
	switch name {
	case "skills", ".claude", ".agents", "plugins":
		return true
	}
	return IsLanguageFolder(name)
}

// IsLanguageFolder reports whether a folder is the language part of a <skill>/<lang>/SKILL.md layout.
func IsLanguageFolder(name string) bool {
	switch strings.ToLower(name) {
	case "js", "javascript", "ts", "typescript", "py", "python", "go", "java", "rust", "ruby", "csharp", "php":
		return true
	}
	return false
}
