package lint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/skill"
)

// writeSkill writes a skill and gives its path.
func writeSkill(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name, skill.FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSearch: a file has one name for people, and one for suppressions and
// baselines that does not depend on where one stands.
func TestSearch(t *testing.T) {
	root := t.TempDir()
	path := writeSkill(t, filepath.Join(root, "repo", "skills"), "a", "")
	for _, c := range []struct{ dir, arg, id, shown string }{
		{"repo", ".", "skills/a/SKILL.md", "skills/a/SKILL.md"},
		{"repo", "skills", "skills/a/SKILL.md", "skills/a/SKILL.md"},
		{"repo/skills", "a", "skills/a/SKILL.md", "a/SKILL.md"},
		{"repo/skills/a", "SKILL.md", "skills/a/SKILL.md", "SKILL.md"},
		{"repo/skills/a", "../..", "skills/a/SKILL.md", "SKILL.md"},
		{"repo", path, "skills/a/SKILL.md", "skills/a/SKILL.md"},
		{"elsewhere", path, "skills/a/SKILL.md", filepath.ToSlash(path)},
		{"elsewhere", "../repo", "skills/a/SKILL.md", "../repo/skills/a/SKILL.md"},
	} {
		s := Search{Dir: filepath.Join(root, filepath.FromSlash(c.dir)), Root: filepath.Join(root, "repo")}
		files, err := s.Files([]string{c.arg, c.arg})
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 1 || files[0].ID != c.id || files[0].Shown != c.shown {
			t.Errorf("%s in %s is %+v, want %s, %s", c.arg, c.dir, files, c.id, c.shown)
		}
	}
}

func TestRewrite(t *testing.T) {
	path := writeSkill(t, t.TempDir(), "a", "old")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(path), "link.md")
	if err := os.Symlink(skill.FileName, link); err != nil {
		t.Skip(err)
	}
	if err := rewrite(link, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("the file is %v, %v, want the permissions it had", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is no longer one: %v", err)
	}
	if err := rewrite(path, []byte("old"), []byte("newer")); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a file that has changed was written: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("the file holds %q", text)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".mettle-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestInOrder(t *testing.T) {
	var got []int
	err := inOrder(t.Context(), 500, 4, func(i int) int { return i * i }, func(n int) error {
		got = append(got, n)
		return nil
	})
	if err != nil || len(got) != 500 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i, n := range got {
		if n != i*i {
			t.Fatalf("result %d is %d", i, n)
		}
	}
	var done atomic.Int32
	stop := errors.New("enough")
	err = inOrder(t.Context(), 1000, 4, func(i int) int { done.Add(1); return i }, func(n int) error {
		if n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || done.Load() > 50 {
		t.Errorf("%v after %d", err, done.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = inOrder(ctx, 1000, 2, func(i int) int { return i }, func(n int) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if err := inOrder(t.Context(), 0, 0, func(i int) int { return i }, func(int) error { return stop }); err != nil {
		t.Error(err)
	}
}

// TestGroups: every file is in one group, in order; the first is alone, and so is what is not a file.
func TestGroups(t *testing.T) {
	for _, workers := range []int{1, 2, 16} {
		for n := range 70 {
			j := &Job{Files: make([]File, n)}
			for i := range j.Files {
				j.Files[i].ID = strconv.Itoa(i)
				if i%20 == 13 {
					j.Files[i].Input = strings.NewReader("")
				}
			}
			next := 0
			for i, group := range j.groups(workers) {
				if len(group) == 0 || len(group) > maxGroup || i == 0 && len(group) != 1 {
					t.Fatalf("%d files, %d workers: group %d has %d files", n, workers, i, len(group))
				}
				for _, f := range group {
					if f.ID != strconv.Itoa(next) || f.Input != nil && len(group) > 1 {
						t.Fatalf("%d files, %d workers: file %s in the place of %d, with %d others", n, workers, f.ID, next, len(group)-1)
					}
					next++
				}
			}
			if next != n {
				t.Fatalf("%d of %d files", next, n)
			}
		}
	}
}

// TestGroupAgreesWithFiles: what is found in files that are checked together is what is found in each alone, also when
// one has more examples than are read together and one cannot be read.
func TestGroupAgreesWithFiles(t *testing.T) {
	dir := t.TempDir()
	block := "```ts\nconst a = 1;\n```\n"
	for name, text := range map[string]string{
		"a": "```ts\nconst c = ;\n```\n" + block, "b": block + block, "c": strings.Repeat(block, maxTogether+3) + "```ts\nlet = = 1;\n```\n",
		"d": block + "```ts\nfunction {\n```\n", "e": "```python\ndef f(:\n```\n" + block, "f": strings.Repeat("words of prose ", maxGroupBytes/15),
	} {
		writeSkill(t, dir, name, "---\nname: "+name+"\ndescription: Does "+name+". Use when asked.\n---\n# A\n\n"+text)
	}
	files, err := Search{Dir: dir, Root: dir}.Files([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	files = slices.Insert(files, 3, File{Path: filepath.Join(dir, "gone", skill.FileName), ID: "gone", Shown: "gone"})
	j, err := NewJob(Options{})
	if err != nil {
		t.Fatal(err)
	}
	together := j.group(files)
	for i, f := range files {
		alone := j.group([]File{f})[0]
		if diff := cmp.Diff(alone.Findings, together[i].Findings); diff != "" || (alone.Err == nil) != (together[i].Err == nil) {
			t.Errorf("%s: %v, %v (-alone +together)\n%s", f.Shown, alone.Err, together[i].Err, diff)
		}
	}
	if n := len(together); n != 7 || together[3].Err == nil || len(together[0].Findings) == 0 || len(together[2].Findings) == 0 {
		t.Errorf("%d results: %+v", n, together)
	}
}
