package grade

import (
	"context"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// hasCitation passes when the answer cites a source.
type hasCitation struct{ citing }

var hasCitationKind = kind.Kind[eval.Grader]{
	Name:    "has_citation",
	NotMode: "unwanted citation",
	Doc:     "The answer cites a source, like [1], [Source 1] or a link.",
	Mode:    "no citation",
	Explain: citationsExplained + `

Whether the numbers exist is for ` + "`citation_valid`" + ` to say.`,
	Example: `- type: has_citation
  forms: [number, source]
`,
	New: func() eval.Grader { return new(hasCitation) },
}

func (g *hasCitation) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	found := g.citations(a.Response).found
	switch {
	case len(found) == 0 && len(g.Forms) > 0:
		return eval.PassIf(false, "no citation of the form %s in the answer", strings.Join(g.Forms, " or ")), nil
	case len(found) == 0:
		return eval.PassIf(false, "no citation such as [1], [Source 1] or a link in the answer"), nil
	}
	return eval.PassIf(true, "%s, the first %s", counted(len(found), "citation"), quote(found[0].text)).Detail("citations", len(found)), nil
}
