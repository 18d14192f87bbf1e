package mettle_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mettle-eval/mettle/"

// layout says which of our own packages each package may import. A package
// that is not in it, or an import that is not, is a decision to be made here
// and in docs/architecture.md, not by accident.
var layout = map[string][]string{
	"cmd/mettle":               {"internal/cli"},
	"internal/cli":             {"*"},
	"internal/eval":            {},
	"internal/kind":            {},
	"internal/code":            {},
	"internal/mcpclient":       {},
	"internal/version":         {},
	"builtin":                  {},
	"schema":                   {},
	"schema/gen":               {"internal/suite", "internal/kind"},
	"docs/gen":                 {"*"}, // it describes all of it
	"bench":                    {"internal/llm/llmtest"},
	"internal/docserver":       {"internal/code"},
	"internal/probe":           {"internal/mcpclient"},
	"internal/skill":           {"internal/code"},
	"internal/skill/lint":      {"internal/code", "internal/skill"},
	"internal/skill/skilltest": {},
	"internal/llm":             {"internal/eval"}, // what a call consumed, and what stops a run

	// A vendor's client is linked into the program by cli alone. llmtest holds
	// servers that speak the vendors' protocols, for tests.
	"internal/llm/anthropic": {"internal/eval", "internal/llm", "internal/llm/wire"},
	"internal/llm/openai":    {"internal/eval", "internal/llm", "internal/llm/wire"},
	"internal/llm/wire":      {"internal/llm"}, // the HTTP that the vendors' clients share
	"internal/llm/llmtest":   {},

	// The conformance suite's driver stands on the client alone.
	"internal/tools/mcpconf": {"internal/mcpclient"},

	"internal/store":       {"internal/eval"},
	"internal/report":      {"internal/eval"},
	"internal/report/lint": {"internal/report", "internal/skill/lint"},
	"internal/grade":       {"internal/eval", "internal/kind", "internal/code", "internal/llm", "internal/skill"},
	"internal/target":      {"internal/eval", "internal/kind", "internal/mcpclient", "internal/code", "internal/llm", "internal/skill"},
	"internal/suite":       {"internal/eval", "internal/kind", "internal/grade", "internal/target", "internal/skill", "internal/skill/lint", "internal/llm"},
}

// coreOnly are packages that import the standard library and nothing else.
var coreOnly = []string{"internal/eval", "builtin", "schema"}

func TestImportsFollowTheLayout(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pkg := path.Dir(filepath.ToSlash(file))
		seen[pkg] = true
		checkImports(t, pkg, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range layout {
		if _, err := os.Stat(filepath.FromSlash(pkg)); err == nil && !seen[pkg] {
			t.Errorf("%s is in the layout but holds no Go file", pkg)
		}
	}
}

func checkImports(t *testing.T, pkg, file string) {
	t.Helper()
	allowed, known := layout[pkg]
	if !known {
		t.Errorf("package %s is not in the layout", pkg)
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		ours, isOurs := strings.CutPrefix(p, module)
		switch {
		case isOurs && !slices.Contains(allowed, ours) && !slices.Contains(allowed, "*"):
			t.Errorf("%s imports %s, which the layout does not allow", file, ours)
		case !isOurs && strings.Contains(strings.SplitN(p, "/", 2)[0], ".") && slices.Contains(coreOnly, pkg):
			t.Errorf("%s imports %s; %s stands on the standard library alone", file, p, pkg)
		}
	}
}
