package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of a search, those the client guide of the specification suggests.
const (
	maxDepth   = 6    // folders below a root that holds skills
	maxFolders = 2000 // folders looked into altogether
	maxFile    = 16 << 20
)

// FileName is the name of the file that makes a folder a skill.
const FileName = "SKILL.md"

// ErrNoSkills is wrapped by the error of [Find] when a folder exists and holds no skill.
var ErrNoSkills = errors.New("no SKILL.md found")

// Find lists the skills at root, sorted: root itself if it is a file, the one in it if it is the folder of a skill, else
// every SKILL.md below it. That covers repositories (<skill>/SKILL.md, <skill>/<lang>/SKILL.md at any depth) and the
// folders .claude/skills and .agents/skills; of other hidden folders, and of .git and node_modules, nothing is listed.
//
// The search ends 6 levels down and after 2000 folders, as in the client guide. A symbolic link is followed when what it
// points to lies below root, and each file is listed once. A file whose name differs in case only (skill.md) is listed
// too, so that a rule can say what is wrong with it.
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
	f := finder{root: real, seen: map[string]bool{}}
	if err := f.folder(root, 0); err != nil {
		return nil, fmt.Errorf("look for skills in %s: %w", root, err)
	}
	if len(f.found) == 0 {
		return nil, fmt.Errorf("look for skills in %s: %w", root, ErrNoSkills)
	}
	slices.Sort(f.found)
	return f.found, nil
}

type finder struct {
	root    string          // with all links resolved
	seen    map[string]bool // resolved folders and files
	folders int
	found   []string
}

// folder looks into one folder. Only the root must be readable: a locked folder somewhere below is not the user's skill.
func (f *finder) folder(path string, depth int) error {
	real, ok := f.inside(path)
	if !ok || f.seen[real] || f.folders >= maxFolders {
		return nil
	}
	f.seen[real] = true
	f.folders++
	entries, err := os.ReadDir(path)
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
	isSkill := f.file(path, entries)
	// A skill's own sub-folders hold its material; another skill in there is bundled (a template), unless a repository
	// keeps one skill at its top.
	if depth >= maxDepth || isSkill && depth > 0 {
		return nil
	}
	for _, e := range entries {
		if !isFolder(path, e) || skipFolder(path, e.Name()) || isSkill && !mayHoldSkills(e.Name()) {
			continue
		}
		if err := f.folder(filepath.Join(path, e.Name()), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// file notes the skill file of a folder and reports whether there is one.
func (f *finder) file(folder string, entries []fs.DirEntry) bool {
	name := ""
	for _, e := range entries {
		if strings.EqualFold(e.Name(), FileName) && (name == "" || e.Name() == FileName) {
			name = e.Name()
		}
	}
	if name == "" {
		return false
	}
	path := filepath.Join(folder, name)
	real, ok := f.inside(path)
	if info, err := os.Stat(path); !ok || err != nil || info.IsDir() {
		return false
	}
	if !f.seen[real] {
		f.seen[real] = true
		f.found = append(f.found, path)
	}
	return true
}

// inside resolves a path and reports whether it lies in the root.
func (f *finder) inside(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(f.root, real)
	return real, err == nil && filepath.IsLocal(rel)
}

func isFolder(parent string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(parent, e.Name()))
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

// mayHoldSkills reports whether a folder beside a SKILL.md at the root can hold further skills.
func mayHoldSkills(name string) bool {
	switch name {
	case "skills", ".claude", ".agents", "plugins":
		return true
	}
	return isLanguageFolder(name)
}

// isLanguageFolder reports whether a folder is the language part of a <skill>/<lang>/SKILL.md layout.
func isLanguageFolder(name string) bool {
	switch strings.ToLower(name) {
	case "js", "javascript", "ts", "typescript", "py", "python", "go", "java", "rust", "ruby", "csharp", "php":
		return true
	}
	return false
}

// Load reads a skill file together with the folder around it.
func Load(path string) (*Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read skill %s: not a file", path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("read skill %s: %d MB is more than the %d MB a skill file may have", path, info.Size()>>20, maxFile>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read skill: %w", err)
	}
	d := Parse(filepath.ToSlash(path), data)
	d.Folder = os.DirFS(filepath.Dir(path))
	if abs, err := filepath.Abs(path); err == nil {
		d.folders = [2]string{filepath.Base(filepath.Dir(abs)), filepath.Base(filepath.Dir(filepath.Dir(abs)))}
	}
	return d, nil
}
