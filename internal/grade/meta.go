package grade

import (
	"context"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/kind"
)

// meta passes when a value of the answer's metadata compares as asked.
type meta struct {
	metadataOnly
	Path string `yaml:"path" json:"path" jsonschema:"name of the metadata value, with dots for nested ones" check:"required,min=1"`
	comparison

	steps jsondoc.Path
}

var metaKind = kind.Kind[eval.Grader]{
	Name:    "meta",
	NotMode: "unwanted metadata",
	Doc:     "A value of the answer's metadata compares as asked.",
	Mode:    "wrong metadata",
	Explain: `The metadata is what the envelope of the answer held: confidence, sourcesUsed and whatever else the server puts there. A
path is written as in ` + "`json_path`" + `: ` + "`model`" + `, ` + "`retrieval.score`" + `, ` + "`sources[0].url`" + `. A name that holds dots itself is found too.

` + compareDoc,
	Example: `- type: meta
  path: retrieval.score
  min: 0.5
- type: meta
  path: warning
  exists: false
`,
	New: func() eval.Grader { return new(meta) },
}

// Check parses the path and makes the comparison ready.
func (g *meta) Check() (err error) {
	if g.steps, err = jsondoc.Parse(g.Path); err != nil {
		return &kind.FieldError{Field: "path", Err: err}
	}
	return g.check()
}

func (g *meta) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	where := "the answer's metadata"
	switch {
	case a.Response.MetaBroken != "":
		return judged(false, cut(a.Response.MetaBroken), "metadata that can be read"), nil
	case len(a.Response.Meta) == 0:
		where += ", as there is none"
	case g.Exists == nil || *g.Exists:
		where += fmt.Sprintf(", which has %s", metaKeys(a.Response.Meta))
	}
	values := g.steps.From(a.Response.Meta)
	if v, ok := a.Response.Meta[g.Path]; ok {
		values = []any{v}
	}
	return g.judge(g.Path, where, values, false)
}
