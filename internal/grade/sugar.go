package grade

import (
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// ExpectedKeyword is the check behind an entry of expectedKeywords.
func ExpectedKeyword(word string, pos eval.Pos) *eval.Check {
	return expanded(containsKind, "keyword:"+word, missingKeyword, &contains{Value: word}, pos)
}

// ForbiddenKeyword is the check behind an entry of forbiddenKeywords.
func ForbiddenKeyword(word string, pos eval.Pos) *eval.Check {
	c := expanded(containsKind, "forbidden:"+word, contamination, &contains{Value: word}, pos)
	c.Not = true
	return c
}

// ExpectedImport is the check behind an entry of expectedImports: a module, or
// part of an import statement.
func ExpectedImport(module string, pos eval.Pos) *eval.Check {
	return expanded(hasImportKind, "import:"+module, hasImportKind.Mode, &hasImport{Module: module, Partial: true}, pos)
}

// NotError is the check a case has without asking for it.
func NotError(pos eval.Pos) *eval.Check {
	c := expanded(notErrorKind, notErrorKind.Name, errorAnswer, new(notError), pos)
	c.Implicit = true
	return c
}

func expanded(k kind.Kind[eval.Grader], key, mode string, g eval.Grader, pos eval.Pos) *eval.Check {
	if checker, ok := g.(kind.Checker); ok {
		_ = checker.Check() // these kinds only make themselves ready
	}
	return &eval.Check{Key: key, Kind: k.Name, Weight: 1, Severity: eval.ErrorSeverity, Mode: mode, Grader: g, Pos: pos}
}
