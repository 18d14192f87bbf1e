package grade

import (
	"context"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// hasCodeBlock passes when the answer has a fenced code block, of a language
// if one is given.
type hasCodeBlock struct {
	Language string `yaml:"language" json:"language,omitempty" jsonschema:"language of the block; any if not given"`
}

var hasCodeBlockKind = kind.Kind[eval.Grader]{
	Name:    "has_code_block",
	NotMode: "unwanted code",
	Doc:     "The answer has a fenced code block, of the given language if there is one.",
	Mode:    missingCode,
	Explain: `Fences of backticks or tildes count, in lists and quotes too. The language is the first word after the fence; other names
of it count (` + "`ts`" + ` is ` + "`typescript`" + `), dialects count as what they extend (` + "`tsx`" + ` is ` + "`typescript`" + `, not the other way round), and attributes after
it do not matter.

A fence that is never closed is no block: the answer was cut off. Inline code and indented code are none either, and the
JSON fence inside the metadata is not part of the answer.`,
	Example: `- type: has_code_block
  language: typescript
`,
	New: func() eval.Grader { return new(hasCodeBlock) },
}

// Check wants a language that can stand after a fence.
func (g *hasCodeBlock) Check() error {
	if strings.TrimSpace(g.Language) != g.Language || strings.ContainsAny(g.Language, " \t\n`") {
		return fieldErrorf("language", "language is %q, want one word", g.Language)
	}
	return nil
}

func (g *hasCodeBlock) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	what := "code block"
	if g.Language != "" {
		what = g.Language + " block"
	}
	var seen []string
	open := 0 // line of a fence that would do, were it closed
	for _, b := range code.Blocks(a.Response.Text) {
		switch fits := g.Language == "" || code.SameLanguage(g.Language, b.Lang); {
		case fits && b.Closed:
			return eval.PassIf(true, "%s at line %d", what, b.Line), nil
		case fits:
			open = b.Line
		}
		if name := blockName(b); !slices.Contains(seen, name) {
			seen = append(seen, name)
		}
	}
	switch {
	case open > 0:
		return eval.PassIf(false, "the %s at line %d is never closed", what, open), nil
	case len(seen) > 0:
		return eval.PassIf(false, "no %s; the answer's blocks are %s", what, quoteAll(seen)), nil
	}
	return eval.PassIf(false, "no %s in the answer", what), nil
}

func blockName(b code.Block) string {
	if b.Lang == "" {
		return "without language"
	}
	return b.Lang
}
