package suite

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/target"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestLoad loads the suite files of each archive together. The archive's last
// file, want, holds what came of them: the problems, or the suites.
func TestLoad(t *testing.T) {
	archives(t, "testdata/load/*.txtar", func(_ *testing.T, files []File) string {
		set, err := Load(files)
		if err != nil {
			return err.Error()
		}
		return dump(set)
	})
}

// archives runs each archive that matches through a function and compares what
// comes out with the archive's want.
func archives(t *testing.T, glob string, run func(t *testing.T, files []File) string) {
	t.Helper()
	paths, err := filepath.Glob(glob)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files, want := inputs(t, a)
			got := strings.TrimRight(run(t, files), "\n") + "\n"
			if *update {
				a.Files = append(a.Files[:slices.IndexFunc(a.Files, isWant)], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func isWant(f txtar.File) bool { return f.Name == "want" }

// someSkills are what tests for each skill find.
func someSkills() *Skills {
	files := fstest.MapFS{}
	for _, p := range []string{"agents/js", "agents/python", "rag/js", "plain"} {
		files[p+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: n\ndescription: d\n---\n")}
	}
	return &Skills{Library: skill.NewLibrary(files, "the skills")}
}

// inputs are the files of an archive. Its mettle.yaml, if it is first, has the
// targets of the others.
func inputs(t testing.TB, a *txtar.Archive) (files []File, want string) {
	t.Helper()
	var named func(string) target.Target
	for i, f := range a.Files {
		switch {
		case f.Name == "want":
			return files, string(f.Data)
		case i == 0 && f.Name == ConfigName && len(a.Files) > 2:
			cfg, err := LoadConfig(File{Path: f.Name, Data: f.Data})
			if err != nil {
				t.Fatal(err)
			}
			named = func(name string) target.Target { return cfg.Targets[cmp.Or(name, cfg.Target)] }
			continue
		}
		files = append(files, File{Path: f.Name, Data: f.Data, Skills: someSkills(), Target: named})
	}
	return files, ""
}

// dump writes suites for comparison, a line for each thing.
func dump(set *Set) string {
	var b strings.Builder
	for _, s := range set.Suites {
		fmt.Fprintf(&b, "suite %q project=%s version=%s\n", s.Name, s.Project, s.Version)
		for _, g := range s.Gates {
			fmt.Fprintf(&b, "  gate %s (suite %q) at %s\n", g.Text, g.Suite, g.Pos)
		}
		for _, c := range s.Cases {
			fmt.Fprintf(&b, "  case %s %q at %s\n", c.ID, c.Name, c.Pos)
			for _, p := range [][2]string{
				{"description", c.Description},
				{"tool", c.Tool},
				{"project", c.Project},
				{"difficulty", string(c.Difficulty)},
				{"tags", strings.Join(c.Tags, " ")},
				{"target", c.Target},
				{"input", string(c.Input)},
			} {
				if p[1] != "" {
					fmt.Fprintf(&b, "    %s %s\n", p[0], p[1])
				}
			}
			if c.Trials > 0 {
				fmt.Fprintf(&b, "    trials %d\n", c.Trials)
			}
			for i, check := range c.Checks {
				fmt.Fprintf(&b, "    %s\n", dumpCheck(check, c.CheckPos(i)))
			}
		}
	}
	for name, t := range set.Targets {
		fmt.Fprintf(&b, "target %q %T\n", name, t)
	}
	return b.String()
}

func dumpCheck(c *eval.Check, at eval.Pos) string {
	s := fmt.Sprintf("check %s %s at %d:%d", c.Key, c.Rule(), at.Line, at.Col)
	if c.Weight != 1 {
		s += fmt.Sprintf(" weight=%v", c.Weight)
	}
	if c.Severity != eval.ErrorSeverity {
		s += " " + string(c.Severity)
	}
	if c.Implicit {
		s += " implicit"
	}
	return s
}

func TestCheckTargets(t *testing.T) {
	set, err := Load([]File{
		{Path: "a.yaml", Data: []byte("name: a\ntarget: staging\ntests:\n  - {id: a, tool: t, input: {}, target: stagin, expected: {expectedKeywords: [x]}}\n")},
		{Path: "b.yaml", Data: []byte("name: b\ntarget: {type: mcp, url: http://localhost}\ndefaults: {target: other}\ntests:\n  - {id: b, tool: t, input: {}, expected: {expectedKeywords: [x]}}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.CheckTargets([]string{"staging", "stagin", "other"}); err != nil {
		t.Errorf("all are known, but: %v", err)
	}
	for _, c := range []struct {
		known []string
		want  string
	}{
		{[]string{"staging", "prod"}, `a.yaml:4:41: no target is named "stagin" (did you mean "staging"?)
    4 |   - {id: a, tool: t, input: {}, target: stagin, expected: {expectedKeywords: [x]}}
      |                                         ^
b.yaml:3:20: no target is named "other", want one of staging, prod
    3 | defaults: {target: other}
      |                    ^`},
		{nil, `a.yaml:2:9: no target is named "staging": there is no mettle.yaml that names one
    2 | target: staging
      |         ^
a.yaml:4:41: no target is named "stagin": there is no mettle.yaml that names one
    4 |   - {id: a, tool: t, input: {}, target: stagin, expected: {expectedKeywords: [x]}}
      |                                         ^
b.yaml:3:20: no target is named "other": there is no mettle.yaml that names one
    3 | defaults: {target: other}
      |                    ^`},
	} {
		err := set.CheckTargets(c.known)
		if err == nil {
			t.Fatal("nothing found")
		}
		if diff := gocmp.Diff(c.want, err.Error()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestDigest(t *testing.T) {
	set, err := Load([]File{{Path: "a.yaml", Data: []byte("name: a\ntests: [{id: a, tool: t, input: {}, expected: {expectedKeywords: [x]}}]")}})
	if err != nil {
		t.Fatal(err)
	}
	s := set.Suites[0]
	if want := "03bb99"; !strings.HasPrefix(s.Digest, want) || len(s.Digest) != 64 || s.File != "a.yaml" {
		t.Errorf("digest %s of %s, want %s…", s.Digest, s.File, want)
	}
}

func TestLoadNothing(t *testing.T) {
	set, err := Load(nil)
	if err != nil || len(set.Suites) != 0 {
		t.Errorf("got %v, %v", set, err)
	}
}
