package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Library is a folder of skills, on disk or in the binary. A skill in it is named by the path of its SKILL.md, or of the
// folder that holds it.
type Library struct {
	fsys  fs.FS
	where string
	paths func() ([]string, error)
}

// NewLibrary makes a library of the skills below fsys; where is how messages name it.
func NewLibrary(fsys fs.FS, where string) *Library {
	return &Library{fsys, where, sync.OnceValues(func() ([]string, error) { return FindFS(fsys) })}
}

// Where is how messages name the library.
func (l *Library) Where() string { return l.where }

// Paths lists the skills, sorted.
func (l *Library) Paths() ([]string, error) {
	paths, err := l.paths()
	if err != nil {
		return nil, fmt.Errorf("find skills in %s: %w", l.where, err)
	}
	return paths, nil
}

// Resolve gives the path of the SKILL.md that a name means, and whether there is one.
func (l *Library) Resolve(name string) (string, bool) {
	clean := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if !fs.ValidPath(clean) {
		return "", false
	}
	for _, p := range []string{clean, path.Join(clean, FileName)} {
		if info, err := fs.Stat(l.fsys, p); err == nil && info.Mode().IsRegular() {
			return p, true
		}
	}
	return "", false
}

// Open reads the skill with a name.
func (l *Library) Open(name string) (*Document, error) {
	p, ok := l.Resolve(name)
	if !ok {
		return nil, fmt.Errorf("there is no skill %q in %s: %w", name, l.where, fs.ErrNotExist)
	}
	return LoadFS(l.fsys, p)
}

// Language is that of the skill at a path: what its folder is called, or else what its frontmatter says.
func (l *Library) Language(p string) (string, error) {
	if folder := path.Base(path.Dir(p)); folder == "js" || folder == "python" {
		return folder, nil
	}
	d, err := l.Open(p)
	if err != nil {
		return "", err
	}
	return d.Language(), nil
}

// Digest changes when the skill at a path does.
func (l *Library) Digest(p string) (string, error) {
	b, err := fs.ReadFile(l.fsys, p)
	if err != nil {
		return "", fmt.Errorf("read skill %s in %s: %w", p, l.where, err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
