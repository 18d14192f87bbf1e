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
	"internal/mcpclient":       {"internal/process", "internal/secret", "internal/term"},
	"internal/fsx":             {},
	"internal/process":         {},
	"internal/secret":          {},
	"internal/term":            {},
	"internal/version":         {},
	"builtin":                  {},
	"schema":                   {},
	"schema/gen":               {"internal/suite", "internal/kind"},
	"docs/gen":                 {"*"}, // it describes all of it
	"bench":                    {"internal/llm/llmtest"},
	"internal/docserver":       {"internal/code"},
	"internal/probe":           {"internal/mcpclient", "internal/term"},
	"internal/skill":           {"internal/code"},
	"internal/skill/lint":      {"internal/code", "internal/fsx", "internal/skill"},
	"internal/skill/skilltest": {},
	"internal/llm":             {"internal/eval"}, // what a call consumed, and what stops a run

	// A language is a package that code puts into its table. What the languages
	// share is below them, and none of them knows code.
	"internal/code": {
		"internal/code/source", "internal/code/scan", "internal/code/program", "internal/code/golang", "internal/code/javascript",
		"internal/code/python", "internal/code/rust", "internal/code/shell", "internal/code/solidity",
	},
	"internal/code/source":     {},
	"internal/code/scan":       {"internal/code/source"},
	"internal/code/descent":    {"internal/code/source"},
	"internal/code/program":    {"internal/code/source"},
	"internal/code/golang":     {"internal/code/source", "internal/code/scan"},
	"internal/code/javascript": {"internal/code/source", "internal/code/scan"},
	"internal/code/python":     {"internal/code/source", "internal/code/scan", "internal/code/program"},
	"internal/code/rust":       {"internal/code/source", "internal/code/scan", "internal/code/descent", "internal/code/program"},
	"internal/code/shell":      {"internal/code/source", "internal/code/scan"},
	"internal/code/solidity":   {"internal/code/source", "internal/code/scan", "internal/code/descent", "internal/code/program"},

	// A vendor's client is linked into the program by cli alone. llmtest holds
	// servers that speak the vendors' protocols, for tests.
	"internal/llm/anthropic": {"internal/eval", "internal/llm", "internal/llm/wire"},
	"internal/llm/openai":    {"internal/eval", "internal/llm", "internal/llm/wire"},
	"internal/llm/wire":      {"internal/eval", "internal/llm"}, // the HTTP that the vendors' clients share
	"internal/llm/llmtest":   {},
	"internal/llm/tape":      {"internal/eval", "internal/fsx", "internal/llm", "internal/secret"}, // recordings of models and servers

	// The conformance suite's driver stands on the client alone.
	"internal/tools/mcpconf": {"internal/mcpclient"},

	"internal/store":       {"internal/eval", "internal/fsx"},
	"internal/report":      {"internal/eval", "internal/term"},
	"internal/report/lint": {"internal/report", "internal/skill/lint", "internal/term"},
	"internal/grade": {
		"internal/eval", "internal/kind", "internal/code", "internal/llm", "internal/process", "internal/skill",
		"internal/grade/judge", "internal/grade/retrieval", "internal/grade/jsondoc", "internal/grade/reason", "internal/jsonschema",
	},
	"internal/grade/judge":     {"internal/eval", "internal/kind", "internal/llm", "internal/grade/jsondoc", "internal/grade/reason"},
	"internal/grade/retrieval": {"internal/eval", "internal/kind", "internal/code", "internal/grade/jsondoc", "internal/grade/reason"},
	"internal/grade/jsondoc":   {"internal/eval", "internal/code", "internal/grade/reason"}, // the JSON of an answer, and paths into it
	"internal/grade/reason":    {},                                                          // the words of reasons

	// A run puts everything together; only cli imports it.
	"internal/session": {
		"builtin", "internal/code", "internal/docserver", "internal/eval", "internal/grade", "internal/grade/judge", "internal/kind",
		"internal/llm", "internal/llm/anthropic", "internal/llm/openai", "internal/llm/tape", "internal/process", "internal/secret",
		"internal/skill", "internal/store", "internal/suite", "internal/target", "internal/term", "internal/version",
	},

	"internal/jsonschema": {"internal/kind", "internal/grade/reason"}, // schemas of suites and servers

	"internal/target": {"internal/eval", "internal/jsonschema", "internal/kind", "internal/mcpclient", "internal/code", "internal/llm", "internal/llm/tape", "internal/process", "internal/secret", "internal/skill"},
	"internal/suite":  {"internal/code", "internal/eval", "internal/kind", "internal/grade", "internal/target", "internal/skill", "internal/skill/lint", "internal/llm"},
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
