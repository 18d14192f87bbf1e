package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// accuracy asks a judge whether what the answer says is right.
type accuracy struct {
	Criteria string `yaml:"criteria" json:"criteria" jsonschema:"what a right answer says" check:"required,min=1"`
	Context  *bool  `yaml:"context" json:"context,omitempty" jsonschema:"show the judge what the answer was to be taken from, such as the skill" check:"default=true"`
	rubric
}

var accuracyKind = kind.Kind[eval.Grader]{
	Name:   "accuracy",
	Graded: true,
	Doc:    "A judge finds the answer factually right.",
	Mode:   "inaccurate answer",
	Explain: "Scores whether what the answer says agrees with the criteria and, where the answer was to be taken from a text such as a skill, " +
		"with that text, which the judge is shown. `context: false` keeps it from the judge, which costs less. What the answer leaves out is for " +
		"`completeness`.\n\n" + scoreDoc + askedDoc,
	Example: `- type: accuracy
  criteria: Agents are made with createAgent, and tools are passed to it as a list.
  threshold: 0.7
`,
	New: func() eval.Grader { return new(accuracy) },
}

func (g *accuracy) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	return g.grade(ctx, a, "accuracy.md", judgedSections(a, g.Criteria, on(g.Context, true)))
}
