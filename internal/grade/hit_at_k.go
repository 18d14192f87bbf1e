package grade

import (
	"context"
	"errors"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/retrieval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// hitAtK passes when a relevant document is among the first K.
type hitAtK struct {
	retrieval.Relevance
	cutoff
	retrieval.Origin
}

var hitAtKKind = kind.Kind[eval.Grader]{
	Name:    "hit_at_k",
	Graded:  true,
	Section: eval.RetrievalSection,
	Order:   3,
	NotMode: unwantedResult,
	Doc:     "A relevant document is among the first k of a search.",
	Mode:    missingResult,
	Explain: `The value is 1 when at least one label is among the first k documents, and 0 when none is. With ` + "`not: true`" + ` the labels
are documents that must not come up; its value is 1 minus the metric then, and is not in the mean of all hit_at_k checks.

` + originDoc,
	Example: `- type: hit_at_k
  k: 3
  relevant: [https://docs.minaprotocol.com/zkapps/o1js/merkle-tree]
- type: hit_at_k
  key: no outdated page
  not: true
  relevant: [snarkyjs.md]
`,
	New: func() eval.Grader { return new(hitAtK) },
}

// Check makes labels and path ready.
func (g *hitAtK) Check() error { return errors.Join(g.CheckLabels(), g.CheckOrigin()) }

func (g *hitAtK) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	ranked, err := retrieval.Rank(&g.Origin, &g.Relevance, a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	at, label := ranked.First()
	hit := at > 0 && at <= g.k()
	seen := fmt.Sprintf("no labelled document in the first %d", g.k())
	switch {
	case hit:
		seen = fmt.Sprintf("%s at %d (in the first %d)", quote(label), at, g.k())
	case ranked.Documents() == 0:
		seen = "no labelled document, as " + ranked.None()
	}
	return ranked.Explain(eval.PassIf(hit, "%s", seen), g.k()), nil
}
