package suite

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// corpus is every file of the archives.
func corpus(f *testing.F, glob string) (files []File) {
	f.Helper()
	paths, err := filepath.Glob(glob)
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		in, _ := inputs(f, a)
		files = append(files, in...)
	}
	return files
}

func FuzzLoad(f *testing.F) {
	for _, file := range corpus(f, "testdata/load/*.txtar") {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := Load([]File{{Path: "f.yaml", Data: data, Skills: someSkills()}})
		if err != nil {
			if text := err.Error(); text == "" || strings.ContainsAny(text, "\x00\x1b") {
				t.Fatalf("message %q", text)
			}
			return
		}
		for _, s := range set.Suites {
			if len(s.Cases) == 0 || s.Name == "" {
				t.Fatal("an empty suite")
			}
			for _, c := range s.Cases {
				if name, _ := skillOf(c.Input); name == "" {
					checkCase(t, c.ID, c.Tool, c.Input)
				}
				keys := map[string]bool{}
				deciding := 0
				for _, check := range c.Checks {
					if check == nil || check.Grader == nil || keys[check.Key] {
						t.Fatalf("case %q: check %+v", c.ID, check)
					}
					keys[check.Key] = true
					if !check.Implicit {
						deciding++
					}
				}
				if deciding == 0 {
					t.Fatalf("case %q has no check", c.ID)
				}
			}
		}
	})
}

func checkCase(t *testing.T, id, tool string, input json.RawMessage) {
	t.Helper()
	var object map[string]any
	if id == "" || tool == "" || json.Unmarshal(input, &object) != nil || object == nil {
		t.Fatalf("case %q, tool %q, input %s", id, tool, input)
	}
}

func FuzzLoadConfig(f *testing.F) {
	for _, file := range corpus(f, "testdata/config/*.txtar") {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := LoadConfig(File{Path: "mettle.yaml", Data: data})
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
	})
}
