package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSchemasAreCurrent(t *testing.T) {
	for _, s := range schemas {
		want, err := render(s.schema())
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", s.file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date: run go generate ./schema (-want +got)\n%s", s.file, diff)
		}
	}
}
