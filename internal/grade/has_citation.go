package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// hasCitation passes when the answer cites a source.
type hasCitation struct{}

var hasCitationKind = kind.Kind[eval.Grader]{
	Name:    "has_citation",
	NotMode: "unwanted citation",
	Doc:     "The answer cites a source, like [1] or [Source 1].",
	Mode:    "no citation",
	Explain: `Counts ` + "`[1]`" + `, ` + "`[Source 1]`" + `, ` + "`[Sources 1, 2]`" + `, footnote marks like ` + "`[^1]`" + ` and links like ` + "`[1](https://…)`" + ` in the answer proper.
Not counted are marks in code blocks and code spans (` + "`list[0]`" + `), the entries of the source list, and lines that explain a mark
(` + "`[1]: https://…`" + `).

Whether the numbers exist is for ` + "`citation_valid`" + ` to say.`,
	Example: `- type: has_citation
`,
	New: func() eval.Grader { return new(hasCitation) },
}

func (g *hasCitation) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	found, _ := citations(a.Response.Text)
	if len(found) == 0 {
		return eval.PassIf(false, "no citation such as [1] or [Source 1] in the answer"), nil
	}
	return eval.PassIf(true, "%s, the first %s", counted(len(found), "citation"), quote(found[0].text)).Detail("citations", len(found)), nil
}
