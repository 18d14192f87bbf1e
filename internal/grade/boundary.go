package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// boundary asks a judge whether the answer stays within what it was given.
type boundary struct {
	Criteria      string `yaml:"criteria" json:"criteria" jsonschema:"where the bounds are, and what the answer should do there" check:"required,min=1"`
	ExpectRefusal bool   `yaml:"expectRefusal" json:"expectRefusal" jsonschema:"whether the answer should say that the question is out of bounds, rather than answer it within them" check:"required"`
	Context       *bool  `yaml:"context" json:"context,omitempty" jsonschema:"show the judge what the answer was to be taken from, such as the skill" check:"default=true"`
	rubric
}

var boundaryKind = kind.Kind[eval.Grader]{
	Name:   "boundary",
	Graded: true,
	Doc:    "A judge finds that the answer stays within its bounds.",
	Mode:   "out of bounds",
	Explain: "With `expectRefusal: true` the question is beyond what the answer was to be taken from, and a good answer says so instead of making " +
		"something up. With `false` it can be answered, and a good answer does, with nothing beyond. The judge is shown the text the answer " +
		"was to be taken from, such as the skill, unless `context: false`.\n\n" + scoreDoc + askedDoc,
	Example: `- type: boundary
  criteria: Says that the skill does not cover TensorFlow.
  expectRefusal: true
`,
	New: func() eval.Grader { return new(boundary) },
}

func (g *boundary) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	prompt := "boundary_answer.md"
	if g.ExpectRefusal {
		prompt = "boundary_refusal.md"
	}
	return g.grade(ctx, a, prompt, judgedSections(a, g.Criteria, on(g.Context, true)))
}
