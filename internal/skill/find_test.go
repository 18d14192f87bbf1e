package skill

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

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

func TestFindSkillAtTheTopOfARepository(t *testing.T) {
	root := tree(t, "SKILL.md", "skills/a/SKILL.md", "templates/b/SKILL.md")
	if diff := cmp.Diff([]string{"SKILL.md", "skills/a/SKILL.md"}, findBelow(t, root, ".")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFindFollowsLinksOnlyInside(t *testing.T) {
	outside := tree(t, "o/SKILL.md")
	root := tree(t, "real/a/SKILL.md", "other/b/x.txt")
	for from, to := range map[string]string{
		"out":              filepath.Join(outside, "o"),
		"other/b/SKILL.md": filepath.Join(outside, "o", "SKILL.md"),
		"loop":             root,
		"again":            filepath.Join(root, "real", "a"),
		"dangling":         filepath.Join(root, "gone"),
	} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(from))); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	if diff := cmp.Diff([]string{"real/a/SKILL.md"}, findBelow(t, root, ".")); diff != "" {
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

func TestLoad(t *testing.T) {
	root := tree(t, "skills/a/SKILL.md", "skills/a/references/x.md")
	d, err := Load(filepath.Join(root, "skills", "a", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if d.Name() != "x" || d.folders != [2]string{"a", "skills"} {
		t.Errorf("name %q, folders %q", d.Name(), d.folders)
	}
	if _, err := d.Folder.Open("references/x.md"); err != nil {
		t.Error(err)
	}
	if _, err := Load(filepath.Join(root, "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
