package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
)

// completeness asks a judge whether the answer covers what it must.
type completeness struct {
	Criteria string `yaml:"criteria" json:"criteria" jsonschema:"what the answer must cover" check:"required,min=1"`
	Context  *bool  `yaml:"context" json:"context,omitempty" jsonschema:"show the judge what the answer was to be taken from, such as the skill" check:"default=false"`
	rubric
}

var completenessKind = kind.Kind[eval.Grader]{
	Name:   "completeness",
	Graded: true,
	Doc:    "A judge finds that the answer covers all key points.",
	Mode:   "incomplete answer",
	Explain: "The judge lists the points that the criteria ask for and says of each whether the answer covers it, covers it partly, or not at all. " +
		"The score is the share of the points, where one that is covered partly counts half. Whether the answer is right is for `accuracy`; where " +
		"the points themselves are fixed, use `facts`.\n\n" + scoreDoc + askedDoc,
	Example: `- type: completeness
  criteria: Explains tools, shows code that uses createAgent, and mentions streaming.
`,
	New: func() eval.Grader { return new(completeness) },
}

func (g *completeness) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	sections := judgedSections(a, g.Criteria, on(g.Context, false))
	return g.ask(ctx, a, judge.Coverage, sections, func(j *judge.Judge) string { return j.Prompt("completeness.md") })
}
