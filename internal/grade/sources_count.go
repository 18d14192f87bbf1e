package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// sourcesCount passes when the answer states that it used enough sources.
type sourcesCount struct {
	metadataOnly
	Min *int `yaml:"min" json:"min,omitempty" jsonschema:"fewest sources" check:"min=0"`
	Max *int `yaml:"max" json:"max,omitempty" jsonschema:"most sources" check:"min=0"`
}

var sourcesCountKind = kind.Kind[eval.Grader]{
	Name:    "sources_count",
	NotMode: unwantedCount,
	Doc:     "The answer's metadata states that at least min and at most max sources were used.",
	Mode:    "wrong number of sources",
	Explain: `The number is ` + "`sourcesUsed`" + ` of the parsed metadata. An answer that states none counts as 0. The source list under the
answer is not counted: ` + "`citation_valid`" + ` looks at that. One of min and max is required.`,
	Example: `- type: sources_count
  min: 2
`,
	New: func() eval.Grader { return new(sourcesCount) },
}

// Check wants at least one bound, and the bounds in order.
func (g *sourcesCount) Check() error { return checkRange(g.Min, g.Max) }

func (g *sourcesCount) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	v, why := metaNumber(a.Response, "sourcesUsed")
	ok := (g.Min == nil || v >= float64(*g.Min)) && (g.Max == nil || v <= float64(*g.Max))
	if a.Response.MetaBroken != "" {
		return judged(false, why, bounds(g.Min, g.Max)), nil // not even that there are none
	}
	if why != "" {
		return judged(ok, why, bounds(g.Min, g.Max)), nil
	}
	return judged(ok, "sourcesUsed "+decimal(v), bounds(g.Min, g.Max)).Detail("sourcesUsed", v), nil
}
