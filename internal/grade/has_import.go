package grade

import (
	"context"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// hasImport passes when code in the answer imports a module.
type hasImport struct {
	Module  string `yaml:"module" json:"module" jsonschema:"module to be imported" check:"required,min=1"`
	Partial bool   `yaml:"partial" json:"partial,omitempty" jsonschema:"look for the text inside import statements instead of for the module" check:"default=false"`
}

var hasImportKind = kind.Kind[eval.Grader]{
	Name:    "has_import",
	NotMode: "unwanted import",
	Doc:     "Code in the answer imports a module.",
	Mode:    "missing import",
	Explain: `Reads the import statements of TypeScript and JavaScript (import, require), Rust (use), Go (grouped imports too),
Python and Solidity; statements over several lines count, and so do those that stand in the text outside a block. For Rust and Python, what is
inside the module counts as well: ` + "`anchor_lang`" + ` is imported by ` + "`use anchor_lang::prelude::*`" + `.

With ` + "`partial: true`" + ` it passes when an import statement has the text in it, case counting: part of a module's name, a name that
is imported, or a whole statement. This is what ` + "`expectedImports`" + ` stands for. The word alone in prose does not count.`,
	Example: `- type: has_import
  module: o1js
- type: has_import
  module: "import { Field"
  partial: true
`,
	New: func() eval.Grader { return new(hasImport) },
}

func (g *hasImport) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	var seen []string
	for _, i := range code.TextImports(a.Response.Text) {
		if g.meets(i) {
			return eval.PassIf(true, "%s at line %d", quote(i.Text), i.Line), nil
		}
		if !slices.Contains(seen, i.Path) {
			seen = append(seen, i.Path)
		}
	}
	what := "no import of " + quote(g.Module)
	if g.Partial {
		what = "no import statement with " + quote(g.Module)
	}
	if len(seen) == 0 {
		return eval.PassIf(false, "%s: the answer imports nothing", what), nil
	}
	return eval.PassIf(false, "%s; the answer imports %s", what, quoteAll(seen)), nil
}

func (g *hasImport) meets(i code.Import) bool {
	if g.Partial {
		return strings.Contains(i.Text, strings.TrimRight(g.Module, "; ")) // whether the end of a statement is part of it differs by language
	}
	return i.Matches(g.Module)
}
