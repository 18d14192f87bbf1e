package suite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write puts a file into a folder, with the folders on the way.
func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, root, name, target string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	if err := os.Symlink(target, filepath.Join(root, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"mettle.yaml", "s/a.yaml", "s/b.yml", "s/C.YAML", "s/readme.md", "s/mettle.yaml", "s/.hidden.yaml", "s/.git/x.yaml",
		"s/mina/basic.yaml", "s/mina/advanced.yaml", "s/mina/deep/er/one.yaml", "s/solana/basic.yaml",
		"s/node_modules/x/y.yaml", "[odd]/a*.yaml", "empty/readme.md", "one.txt",
	} {
		write(t, root, name, "x")
	}
	write(t, root, "s/suite.json", `{"tests": []}`)
	write(t, root, "s/report.json", `{"summary": {"tests": 1}}`)
	write(t, root, "s/list.json", `[1]`)
	write(t, root, "s/broken.json", `{"tests": `)
	return root
}

func TestFind(t *testing.T) {
	root := tree(t)
	all := "s/C.YAML s/a.yaml s/b.yml s/broken.json s/mina/advanced.yaml s/mina/basic.yaml s/mina/deep/er/one.yaml s/solana/basic.yaml s/suite.json"
	for _, c := range []struct{ name, arg, want string }{
		{"file", "s/a.yaml", "s/a.yaml"},
		{"file of any kind, when named", "one.txt", "one.txt"},
		{"hidden file, when named", "s/.hidden.yaml", "s/.hidden.yaml"},
		{"folder", "s", all},
		{"folder with a slash", "s/", all},
		{"folder by way of itself", "./s/../s", all},
		{"hidden folder, when named", "s/.git", "s/.git/x.yaml"},
		{"star", "s/*.yaml", "s/a.yaml"},
		{"star matches folders too", "s/m*", "s/mina/advanced.yaml s/mina/basic.yaml s/mina/deep/er/one.yaml"},
		{"star in the middle", "s/*/basic.yaml", "s/mina/basic.yaml s/solana/basic.yaml"},
		{"two stars", "s/**/basic.yaml", "s/mina/basic.yaml s/solana/basic.yaml"},
		{"two stars are also no folder", "s/**/a.yaml", "s/a.yaml"},
		{"two stars at the end", "s/mina/**", "s/mina/advanced.yaml s/mina/basic.yaml s/mina/deep/er/one.yaml"},
		{"two stars twice", "**/**/deep/**/*.yaml", "s/mina/deep/er/one.yaml"},
		{"question mark and class", "s/mina/?a[r-t]ic.yaml", "s/mina/basic.yaml"},
		{"either of two", "s/{mina,solana}/b*.yaml", "s/mina/basic.yaml s/solana/basic.yaml"},
		{"hidden folder below two stars, when named", "**/.git/*.yaml", "s/.git/x.yaml"},
		{"hidden folder in a glob, when named", "s/.g*/*.yaml", "s/.git/x.yaml"},
		{"name with marks is a name first", "[odd]/a*.yaml", "[odd]/a*.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Find(root, filepath.FromSlash(c.arg))
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range got {
				rel, err := filepath.Rel(root, p)
				if err != nil || !filepath.IsAbs(p) {
					t.Fatalf("%s: %v", p, err)
				}
				got[i] = filepath.ToSlash(rel)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("absolute", func(t *testing.T) {
		for _, arg := range []string{"s/a.yaml", "s/a.*"} {
			got, err := Find(t.TempDir(), filepath.Join(root, filepath.FromSlash(arg)))
			if diff := cmp.Diff([]string{filepath.Join(root, "s", "a.yaml")}, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		}
	})
}

func TestFindNothing(t *testing.T) {
	root := tree(t)
	for _, c := range []struct {
		name, arg, want string
		notExist        bool
	}{
		{"file", "s/z.yaml", "find suite s/z.yaml:", true},
		{"glob", "s/*.toml", "nothing matches s/*.toml:", true},
		{"glob into modules of npm", "s/*/x/y.yaml", "nothing matches s/*/x/y.yaml:", true},
		{"glob below modules of npm", "s/**/y.yaml", "nothing matches s/**/y.yaml:", true},
		{"glob in no folder", "z/*.yaml", "nothing matches z/*.yaml:", true},
		{"folder without suites", "empty", "the folder empty has no suite files (.yaml, .yml, .json)", false},
		{"glob that is none", "s/[a.yaml", `the glob "s/[a.yaml" cannot be read: a [ or { is not closed, or a \ stands last`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Find(root, c.arg)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || errors.Is(err, fs.ErrNotExist) != c.notExist {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}
}

func TestFindLinks(t *testing.T) {
	root := t.TempDir()
	write(t, root, "outside/secret.yaml", "x")
	write(t, root, "s/real.yaml", "x")
	write(t, root, "s/.kept/odd.yaml", "x")
	link(t, root, "s/again.yaml", "real.yaml")
	link(t, root, "s/odd.yaml", ".kept/odd.yaml")
	link(t, root, "s/out.yaml", "../outside/secret.yaml")
	link(t, root, "s/outdir", "../outside")
	link(t, root, "s/loop", ".")
	link(t, root, "s/dangling.yaml", "nowhere.yaml")
	link(t, root, "linked", "s")
	for arg, want := range map[string]string{
		"s": "s/odd.yaml s/real.yaml", "s/**/*.yaml": "s/odd.yaml s/real.yaml",
		"linked": "linked/odd.yaml linked/real.yaml", "linked/*.yaml": "linked/odd.yaml linked/real.yaml",
		"s/*/../**/*.yaml": "s/odd.yaml s/real.yaml", "s/{*/secret,real}.yaml": "s/real.yaml",
		"s/out.yaml": "s/out.yaml", // named, so meant
	} {
		got, err := Find(root, arg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i], _ = filepath.Rel(root, got[i])
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", arg, diff)
		}
	}
}
