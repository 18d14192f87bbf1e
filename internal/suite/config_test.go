package suite

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/target"
)

func TestLoadConfig(t *testing.T) {
	archives(t, "testdata/config/*.txtar", func(_ *testing.T, files []File) string {
		c, err := LoadConfig(files[0])
		if err != nil {
			return err.Error()
		}
		return dumpConfig(c)
	})
}

func dumpConfig(c *Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "file %s target=%s concurrency=%d trials=%d maxErrors=%d\n", c.File, c.Target, c.Concurrency, c.Trials, c.MaxErrors)
	for _, name := range slices.Sorted(maps.Keys(c.Targets)) {
		m := c.Targets[name].(*target.MCP)
		fmt.Fprintf(&b, "target %s url=%s command=%s token=%s prefix=%s\n", name, m.URL, m.Command, m.Token, m.Tools.Prefix)
	}
	fmt.Fprintf(&b, "names %s\nsuites %q\n", c.TargetNames(), c.Suites)
	fmt.Fprintf(&b, "timeouts case=%s start=%s connect=%s call=%s\n", c.Timeouts.Case, c.Timeouts.Start, c.Timeouts.Connect, c.Timeouts.Call)
	for _, g := range c.Gates {
		fmt.Fprintf(&b, "gate %s at %s suite=%q\n", g.Text, g.Pos, g.Suite)
	}
	fmt.Fprintf(&b, "output %+v\n", c.Output)
	dumpLint(&b, c.Lint)
	return b.String()
}

func TestFindConfig(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b", "c")
	if err := os.MkdirAll(filepath.Join(root, "a", "b", ConfigName), 0o755); err != nil { // a folder of that name is none
		t.Fatal(err)
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	find := func(dir string) string {
		t.Helper()
		path, err := FindConfig(dir)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got := find(deep); got != "" && strings.HasPrefix(got, root) {
		t.Errorf("found %s where there is none", got)
	}
	write(t, root, ConfigName, "")
	if diff := cmp.Diff(filepath.Join(root, ConfigName), find(deep)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	write(t, root, "a/"+ConfigName, "")
	if diff := cmp.Diff(filepath.Join(root, "a", ConfigName), find(deep)); diff != "" {
		t.Errorf("the nearest comes first (-want +got)\n%s", diff)
	}
}
