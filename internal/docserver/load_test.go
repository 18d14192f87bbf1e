package docserver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestLoad reads a folder with everything that folders of pages have in them.
func TestLoad(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret.md"), []byte("# Secret\n\nPassword.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	write("good.md", "# Good\n\nA page.\n")
	write("sub/UPPER.MD", "# Upper\n\nA page.\n")
	write("sub/dots.x.markdown", "# Dots\n\nA page.\n")
	write("broken.md", "---\ntitle: [\n---\nText.\n")
	write("binary.md", "\x00\x01\x02")
	write("big.md", strings.Repeat("words and ", maxPage/10+1))
	write("image.png", "no page")
	write(".git/x.md", "# Hidden\n\nA page.\n")
	write("node_modules/a/README.md", "# Dependency\n\nA page.\n")
	write("folder.md/inside.md", "# Inside\n\nA page.\n")
	for link, to := range map[string]string{
		"link.md": filepath.Join(outside, "secret.md"), "up.md": "../secret.md", "linked": outside, "inner.md": "good.md", "loop": ".",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, fsys := range map[string]fs.FS{"os.Root": root.FS(), "os.DirFS": os.DirFS(dir)} {
		t.Run(name, func(t *testing.T) {
			ix, skipped, err := Load(context.Background(), fsys)
			if err != nil {
				t.Fatal(err)
			}
			defer ix.Close()
			var got []string
			for _, c := range ix.chunks {
				got = append(got, c.Path)
			}
			want := []string{"folder.md/inside.md", "good.md", "sub/UPPER.MD", "sub/dots.x.markdown"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("pages (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff([]string{
				"big.md: more than 2 MB, which no page for people has",
				"binary.md: not text in UTF-8",
				"broken.md: front matter: yaml: line 2: did not find expected node content",
				"inner.md: a symbolic link, which is not followed",
				"link.md: a symbolic link, which is not followed",
				"up.md: a symbolic link, which is not followed",
			}, skipped); diff != "" {
				t.Errorf("skipped (-want +got)\n%s", diff)
			}
		})
	}
}

// locked is a file system with a folder and a file that nobody may read.
type locked struct{ fstest.MapFS }

func (l locked) Open(name string) (fs.File, error) {
	if strings.Contains(name, "locked") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return l.MapFS.Open(name)
}

func (l locked) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.Contains(name, "locked") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return l.MapFS.ReadDir(name)
}

func TestLoadWhatCannotBeRead(t *testing.T) {
	good := &fstest.MapFile{Data: []byte("# Good\n\nA page.\n")}
	ix, skipped, err := Load(context.Background(), locked{fstest.MapFS{"locked/a.md": good, "b/locked.md": good, "c.md": good}})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	if diff := cmp.Diff([]string{"open b/locked.md: permission denied", "open locked: permission denied"}, skipped); diff != "" {
		t.Errorf("skipped (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]Project{{"docs", 1, 1}}, ix.Projects()); diff != "" {
		t.Errorf("projects (-want +got)\n%s", diff)
	}
	if _, _, err := Load(context.Background(), os.DirFS(filepath.Join(t.TempDir(), "nowhere"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Load(ctx, fstest.MapFS{"c.md": good}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
