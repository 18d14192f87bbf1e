package code

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expectations under testdata")

// runArchives runs every archive testdata/<dir>/*.txtar. Its files come in pairs: NAME is the input of a subtest and
// NAME.want what render makes of it.
func runArchives(t *testing.T, dir string, render func(t *testing.T, archive, name, input string) string) {
	t.Helper()
	paths, err := archivePaths(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		archive := archiveName(path)
		t.Run(archive, func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			updated := runArchive(t, archive, a, render)
			if *update {
				if err := os.WriteFile(path, txtar.Format(updated), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// archivePaths lists the archives of a folder under testdata; there must be some.
func archivePaths(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("no archives in testdata/%s", dir)
	}
	return paths, err
}

func archiveName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".txtar")
}

func runArchive(t *testing.T, archive string, a *txtar.Archive, render func(t *testing.T, archive, name, input string) string) *txtar.Archive {
	t.Helper()
	want := map[string]string{}
	updated := &txtar.Archive{Comment: a.Comment}
	for _, f := range a.Files {
		if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
			want[name] = string(f.Data)
		}
	}
	for _, f := range a.Files {
		if strings.HasSuffix(f.Name, ".want") {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			got := render(t, archive, f.Name, string(f.Data))
			updated.Files = append(updated.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
			if diff := cmp.Diff(want[f.Name], got); diff != "" && !*update {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	return updated
}
