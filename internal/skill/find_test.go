package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree makes files below a new folder.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("---\nname: x\ndescription: y\n---\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func findBelow(t *testing.T, root, below string) []string {
	t.Helper()
	found, err := Find(filepath.Join(root, below))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range found {
		rel, err := filepath.Rel(root, f)
		if err != nil {
			t.Fatal(err)
		}
		found[i] = filepath.ToSlash(rel)
	}
	return found
}

func TestFind(t *testing.T) {
	root := tree(t,
		"skills/a/SKILL.md", "skills/a/references/b/SKILL.md", "skills/b/js/SKILL.md", "skills/b/python/SKILL.md",
		"lower/skill.md", ".claude/skills/c/SKILL.md", ".agents/skills/d/SKILL.md", ".claude/projects/e/SKILL.md",
		".git/f/SKILL.md", "node_modules/g/SKILL.md", ".venv/h/SKILL.md", "1/2/3/4/5/6/SKILL.md", "1/2/3/4/5/6/7/SKILL.md",
		"1/2/3/4/5/x/y/SKILL.md")
	for _, c := range []struct {
		name, below string
		want        []string
	}{
		{"repository", ".", []string{
			".agents/skills/d/SKILL.md", ".claude/skills/c/SKILL.md", "1/2/3/4/5/6/SKILL.md", "lower/skill.md",
			"skills/a/SKILL.md", "skills/b/js/SKILL.md", "skills/b/python/SKILL.md",
		}},
		{"skill folder", "skills/a", []string{"skills/a/SKILL.md"}},
		{"language layout", "skills/b", []string{"skills/b/js/SKILL.md", "skills/b/python/SKILL.md"}},
		{"agent folder", ".claude", []string{".claude/skills/c/SKILL.md"}},
		{"hidden root", ".claude/skills", []string{".claude/skills/c/SKILL.md"}},
		{"file", "lower/skill.md", []string{"lower/skill.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findBelow(t, root, c.below)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestFindFS holds the file system to the same answers as the disk.
func TestFindFS(t *testing.T) {
	root := tree(t,
		"skills/a/SKILL.md", "skills/a/references/b/SKILL.md", "skills/b/js/SKILL.md", "skills/b/python/SKILL.md",
		"lower/skill.md", ".claude/skills/c/SKILL.md", ".agents/skills/d/SKILL.md", ".claude/projects/e/SKILL.md",
		".git/f/SKILL.md", "node_modules/g/SKILL.md", "1/2/3/4/5/6/SKILL.md", "1/2/3/4/5/x/y/SKILL.md")
	fsys := os.DirFS(root)
	got, err := FindFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(findBelow(t, root, "."), got); diff != "" {
		t.Errorf("(-disk +file system)\n%s", diff)
	}
	for _, path := range got {
		d, err := LoadFS(fsys, path)
		if err != nil {
			t.Fatal(err)
		}
		onDisk, err := Load(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if d.Path != path || d.Text != onDisk.Text || d.Folders[0] != onDisk.Folders[0] {
			t.Errorf("%s is read as %s in %q, from the disk in %q", path, d.Path, d.Folders, onDisk.Folders)
		}
	}
	if _, err := FindFS(fstest.MapFS{"a.md": {}}); !errors.Is(err, ErrNoSkills) {
		t.Errorf("got %v, want ErrNoSkills", err)
	}
}

func TestLoadFS(t *testing.T) {
	fsys := fstest.MapFS{
		"x/js/SKILL.md":        {Data: []byte("---\nname: x\n---\n")},
		"x/js/references/a.md": {Data: []byte("a")},
		"SKILL.md":             {Data: []byte("---\nname: top\n---\n")},
	}
	d, err := LoadFS(fsys, "x/js/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(d.Folder, "references/a.md"); err != nil || d.Name() != "x" || d.Folders != [2]string{"js", "x"} {
		t.Errorf("name %q, folders %q, reference: %v", d.Name(), d.Folders, err)
	}
	if top, err := LoadFS(fsys, "SKILL.md"); err != nil || top.Name() != "top" || top.Folders != [2]string{} {
		t.Errorf("at the top: %+v, %v", top, err)
	}
	for _, bad := range []string{"gone/SKILL.md", "x", "../SKILL.md"} {
		if _, err := LoadFS(fsys, bad); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, c := range []struct{ path, language, want string }{
		{"x/js/SKILL.md", "", "js"},
		{"x/python/SKILL.md", "", "python"},
		{"x/ts/SKILL.md", "", "js"},
		{"x/go/SKILL.md", "", ""},
		{"x/SKILL.md", "", ""},
		{"x/SKILL.md", "python", "python"},
		{"x/SKILL.md", "TypeScript", "js"},
		{"x/js/SKILL.md", "python", "python"},
		{"x/js/SKILL.md", "rust", ""},
	} {
		text := "---\nname: x\n---\n"
		if c.language != "" {
			text = "---\nname: x\nlanguage: " + c.language + "\n---\n"
		}
		if got := Parse(c.path, []byte(text)).Language(); got != c.want {
			t.Errorf("%s with language %q: got %q, want %q", c.path, c.language, got, c.want)
		}
	}
}

func TestFindSkillAtTheTopOfARepository(t *testing.T) {
	root := tree(t, "SKILL.md", "skills/a/SKILL.md", "templates/b/SKILL.md")
	if diff := cmp.Diff([]string{"SKILL.md", "skills/a/SKILL.md"}, findBelow(t, root, ".")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFindFollowsLinks: what an agent would load is listed, once, and what cannot be loaded too.
func TestFindFollowsLinks(t *testing.T) {
	outside := tree(t, "o/SKILL.md", "many/p/SKILL.md", "many/q/js/SKILL.md", "many/q/deep/er/SKILL.md", "file/SKILL.md")
	root := tree(t, "real/a/SKILL.md", "other/b/x.txt", "skills/c/SKILL.md", "torn/x.txt")
	for from, to := range map[string]string{
		"out":              filepath.Join(outside, "o"),
		".claude/skills":   filepath.Join(outside, "many"),
		"other/b/SKILL.md": filepath.Join(outside, "file", "SKILL.md"),
		"loop":             root,
		"again":            filepath.Join(root, "real", "a"),
		"dangling":         filepath.Join(root, "gone"),
		"skills/lost":      filepath.Join(root, "gone"),
		"torn/SKILL.md":    filepath.Join(root, "gone"),
	} {
		link := filepath.Join(root, filepath.FromSlash(from))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	want := []string{
		".claude/skills/p/SKILL.md", ".claude/skills/q/js/SKILL.md", "other/b/SKILL.md", "out/SKILL.md", "real/a/SKILL.md", "skills/c/SKILL.md",
		"skills/lost/SKILL.md", "torn/SKILL.md",
	}
	if diff := cmp.Diff(want, findBelow(t, root, ".")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFindNothing(t *testing.T) {
	if _, err := Find(t.TempDir()); !errors.Is(err, ErrNoSkills) {
		t.Errorf("got %v, want ErrNoSkills", err)
	}
	if _, err := Find(filepath.Join(t.TempDir(), "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

// TestFindTooMuch: what was not looked into is said, not passed over.
func TestFindTooMuch(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range 3000 {
		fsys[fmt.Sprintf("s%04d/SKILL.md", i)] = &fstest.MapFile{}
	}
	if found, err := FindFS(fsys); err != nil || len(found) != 3000 {
		t.Errorf("%d skills, %v", len(found), err)
	}
	f := finder{place: files{fsys}, seen: map[string]bool{}, left: 3000} // the top is one too
	if err := f.folder(".", ".", 0); !errors.Is(err, ErrManyFolders) {
		t.Errorf("%d skills, %v, want ErrManyFolders", len(f.found), err)
	}
}

func TestLoad(t *testing.T) {
	root := tree(t, "skills/a/SKILL.md", "skills/a/references/x.md")
	d, err := Load(filepath.Join(root, "skills", "a", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if d.Name() != "x" || d.Folders != [2]string{"a", "skills"} {
		t.Errorf("name %q, folders %q", d.Name(), d.Folders)
	}
	if _, err := d.Folder.Open("references/x.md"); err != nil {
		t.Error(err)
	}
	if _, err := Load(filepath.Join(root, "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
