package grade

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// codeSyntax passes when the code in the answer parses.
type codeSyntax struct {
	Language string `yaml:"language" json:"language,omitempty" jsonschema:"look at blocks of this language only, of which there must be one"`
}

var codeSyntaxKind = kind.Kind[eval.Grader]{
	Name: "code_syntax",
	Doc:  "The code blocks of the answer parse.",
	Mode: "invalid code",
	Explain: `Every fenced block is given to a real parser of its language; the problems are findings with their place in the answer. A
fence that is never closed is a problem too. Only syntax is checked, no types and no names.

With ` + "`language`" + `, only its blocks are looked at, dialects included, and an answer without one fails. Without it, blocks in languages
there is no parser for, and blocks that name no language, are not counted, and an answer without any other passes: add
` + "`has_code_block`" + ` where there must be code. A block the parser could not judge leaves the check unscored.

There are parsers for ` + strings.Join(code.Languages(), ", ") + `. All other languages, SQL and JSON5 among them, are not
checked. Programs on the machine are used only when ` + "`checkers`" + ` in mettle.yaml names them: ` + strings.Join(code.CheckerNames(), ", ") + `.`,
	Example: `- type: code_syntax
  language: typescript
`,
	New: func() eval.Grader { return new(codeSyntax) },
}

// Check wants a language there is a parser for.
func (g *codeSyntax) Check() error {
	if g.Language == "" || parsed(g.Language) {
		return nil
	}
	hint := ""
	if near := kind.Near(g.Language, code.Languages()); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fieldErrorf("language", "there is no parser for %q%s, want one of %s", g.Language, hint, strings.Join(code.Languages(), ", "))
}

func parsed(language string) bool {
	return slices.Contains(code.Languages(), code.Canonical(language))
}

func (g *codeSyntax) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	var findings []eval.Finding
	var good, bad, open int // open: blocks the parser could not judge
	for _, b := range code.Blocks(a.Response.Text) {
		if !parsed(b.Lang) || g.Language != "" && !code.SameLanguage(g.Language, b.Lang) {
			continue
		}
		problems, judged := blockProblems(ctx, a.Env, b)
		switch {
		case !judged:
			open++
		case len(problems) > 0:
			bad++
			findings = append(findings, problems...)
		default:
			good++
		}
	}
	what := strings.TrimSpace(g.Language + " block")
	switch {
	case bad > 0:
		s := eval.PassIf(false, "%d of %s not valid: line %d: %s", bad, counted(good+bad+open, what), findings[0].Pos.Line, oneLine(findings[0].Message, 2*shown))
		s.Findings = findings
		return s, nil
	case open > 0:
		return eval.Score{}, fmt.Errorf("%d of %s could not be judged", open, counted(good+open, what))
	case good == 0 && g.Language != "":
		s := eval.PassIf(false, "no %s", what)
		s.Mode = missingCode
		return s, nil
	case good == 0:
		return eval.PassIf(true, "no block of a language that can be checked"), nil
	}
	return eval.PassIf(true, "%s, all valid", counted(good, what)), nil
}

// blockProblems is what is wrong with a block, placed in the answer.
func blockProblems(ctx context.Context, env *eval.Env, b code.Block) (out []eval.Finding, judged bool) {
	if !b.Closed {
		return []eval.Finding{{Message: "the block is never closed", Pos: eval.Pos{Line: b.Line, Col: b.Col}}}, true
	}
	out, v := checkBlock(ctx, env, b)
	return out, v.Checked
}

// checkBlock gives the verdict on a block's syntax, and its problems placed in the answer. All checks of syntax use it,
// so that they agree.
func checkBlock(ctx context.Context, env *eval.Env, b code.Block) (out []eval.Finding, v code.Verdict) {
	v = envOf(env).Checkers.Check(ctx, b.Lang, b.Text)
	for _, p := range v.Problems {
		line, col := b.Place(p.Line, p.Col)
		out = append(out, eval.Finding{Message: p.Message, Pos: eval.Pos{Line: line, Col: col}})
	}
	return out, v
}
