package python

import (
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzCheck runs the parser alone: package code would catch its panics.
func FuzzCheck(f *testing.F) {
	a, err := txtar.ParseFile("../testdata/syntax/python.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range a.Files {
		f.Add(string(file.Data))
	}
	f.Fuzz(func(t *testing.T, src string) {
		problems, checked := Check(src)
		for _, p := range problems {
			if !checked || p.Line < 1 || p.Col < 1 || p.Message == "" {
				t.Fatalf("odd problem %+v, checked %t", p, checked)
			}
		}
	})
}
