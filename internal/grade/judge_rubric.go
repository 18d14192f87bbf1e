package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
)

// judgeThreshold is where a score passes that its check says nothing of.
const judgeThreshold = 0.5

// scoreDoc is the part of an explanation that says what all scores of
// judges have in common.
const scoreDoc = "The score passes from `threshold` on, 0.5 if it is not given: below it, an answer is closer to wrong than to right. " +
	"The score itself is the value of the check, which composites and averages use.\n\n"

// askedDoc is the part of an explanation that all judge kinds share; judgeDoc
// is all of it, for the kind that the others refer to.
const (
	askedDoc = "Judges are asked, and their replies read, as `judge` explains: without a judge the check is skipped, and without a verdict it is unscored."
	judgeDoc = "The judge is the run's (`--judge`, or `models.judge` in mettle.yaml) or the check's own `model`. Without one the check is skipped, " +
		"visibly; it never passes. The judge reasons before it decides, and answers by a JSON schema at temperature 0. What it is shown stands between " +
		"delimiters that an answer cannot forge, and an answer that tells the judge what to say is judged like any other text. Of a text beyond " +
		"60,000 bytes it sees the beginning and the end.\n\n" +
		"A reply that is no verdict (not JSON, a score beyond 0 to 1, a word that is no choice, two verdicts, one quoted from the answer, cut off, empty) is shown to it once with " +
		"what was wrong; when the second is none either, the check is unscored. A refusal or a content filter leaves it unscored at once. The " +
		"whole reasoning, the judge's name and notes on what was unusual are in the details."
)

// rubric is what the kinds that score an answer from 0 to 1 have in common.
type rubric struct {
	Threshold *float64 `yaml:"threshold" json:"threshold,omitempty" jsonschema:"lowest score that passes" check:"min=0,max=1,default=0.5"`
	asking
}

// Check wants a model that can be one.
func (g *rubric) Check() error { return g.checkModel() }

func (g *rubric) threshold() float64 {
	if g.Threshold != nil {
		return *g.Threshold
	}
	return judgeThreshold
}

// graded is a judge's answer by a scale.
type graded struct {
	reasoning string
	value     float64
	said      string // the verdict in a word
}

// continuous asks for a number from 0 to 1.
var continuous = form[graded]{
	name:   "score",
	schema: `{"type":"object","properties":{"reasoning":{"type":"string"},"score":{"type":"number"}},"required":["reasoning","score"],"additionalProperties":false}`,
	words: `- "reasoning": string. What speaks for and against the answer, worked out before you settle on a number.
- "score": number from 0 to 1, after the reasoning.`,
	read: func(m members) (g graded, err error) {
		if g.reasoning, err = m.text("reasoning"); err != nil {
			return g, err
		}
		g.value, err = m.share("score")
		g.said = "score " + decimal(g.value)
		return g, err
	},
}

// grade asks for a score from 0 to 1 with a prompt of the program.
func (g *rubric) grade(ctx context.Context, a *eval.Attempt, prompt string, sections []section, pairs ...string) (eval.Score, error) {
	return g.put(ctx, a, continuous, sections, func(j *judge) string { return filled(j.texts[prompt], pairs...) })
}

// put asks the judge and holds what it says against the threshold.
func (g *rubric) put(ctx context.Context, a *eval.Attempt, f form[graded], sections []section, task func(*judge) string) (eval.Score, error) {
	j, err := judgeOf(a, g.Model)
	if err != nil {
		return eval.Score{}, err
	}
	v, h, err := ask(ctx, j, inquiry{task: task(j), sections: sections}, f)
	if err != nil {
		return h.on(eval.Score{}), err
	}
	return h.on(v.scored(g.threshold())), nil
}

// scored holds the value against a threshold.
func (v graded) scored(threshold float64) eval.Score {
	s := judged(v.value >= threshold, v.said, bounds(&threshold, nil))
	if v.said == "true" || v.said == "false" {
		s.Reason = "the judge says " + v.said
	}
	s.Value = v.value
	return opinion(s, v.reasoning)
}

// on tells whether something that can be turned off is on.
func on(given *bool, otherwise bool) bool {
	if given != nil {
		return *given
	}
	return otherwise
}

// judgedSections is what was asked, what it was to be answered from, by what it is
// judged, and the answer, which comes last so that what is said after the
// material follows it at once.
func judgedSections(a *eval.Attempt, criteria string, context bool) []section {
	list := withSection(nil, "question", question(a.Case))
	if context {
		list = withSection(list, "context", a.Response.Context)
	}
	list = withSection(list, "criteria", criteria)
	return append(list, section{"answer", a.Response.Text})
}
