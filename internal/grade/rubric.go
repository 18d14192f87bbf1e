package grade

import (
	"context"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
)

// judgeThreshold is where a score passes that its check says nothing of: above
// the half-right anchor of the scales, below the one for small flaws.
const judgeThreshold = 0.7

// scoreDoc is the part of an explanation that says what all scores of
// judges have in common.
const scoreDoc = "The score passes from `threshold` on, 0.7 if it is not given: half right, which the scales call 0.5, is not enough. An empty answer scores 0 without a call. " +
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
	Threshold *float64 `yaml:"threshold" json:"threshold,omitempty" jsonschema:"lowest score that passes" check:"min=0,max=1,default=0.7"`
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

// grade asks for a score from 0 to 1 with a prompt of the program.
func (g *rubric) grade(ctx context.Context, a *eval.Attempt, prompt string, sections judge.Sections, pairs ...string) (eval.Score, error) {
	return g.ask(ctx, a, judge.Continuous, sections, func(j *judge.Judge) string { return j.Prompt(prompt, pairs...) })
}

// ask asks the judge and compares what it says with the threshold.
func (g *rubric) ask(
	ctx context.Context, a *eval.Attempt, f judge.Form[judge.Grade], sections judge.Sections, task func(*judge.Judge) string,
) (eval.Score, error) {
	if s, empty := emptyAnswer(a.Response); empty {
		return s, nil
	}
	j, err := g.judge(a)
	if err != nil {
		return eval.Score{}, err
	}
	v, o, err := judge.Ask(ctx, j, judge.Question{Task: task(j), Sections: sections}, f)
	if err != nil {
		return o.Record(eval.Score{}), err
	}
	return o.Record(g.score(v)), nil
}

// emptyAnswer is the score of an answer that there is nothing to ask a judge
// about: it has no text, or only blocks without any.
func emptyAnswer(r *eval.Response) (s eval.Score, empty bool) {
	rest := r.Text
	if len(rest) < 200 { // of fences alone; longer ones say something
		for _, b := range code.Blocks(r.Text) {
			if trim(b.Text) == "" {
				rest = strings.ReplaceAll(rest, r.Text[b.Start:b.End], "")
			}
		}
	}
	return eval.PassIf(false, "the answer is empty"), trim(rest) == ""
}

// score compares a grade with the threshold.
func (g *rubric) score(v judge.Grade) eval.Score {
	threshold := g.threshold()
	s := judged(v.Value >= threshold, v.Said, bounds(&threshold, nil))
	if v.Said == "true" || v.Said == "false" {
		s.Reason = "the judge says " + v.Said
	}
	s.Value = v.Value
	return withReasoning(s, v.Reasoning)
}

// withReasoning adds the judge's words to a score: cut to a line in its reason,
// and all of them in its details.
func withReasoning(s eval.Score, reasoning string) eval.Score {
	if said := strings.TrimSuffix(oneLine(reasoning, 2*shown), "."); said != "" {
		s.Reason += ": " + said
	}
	return s.Detail("reasoning", reasoning)
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
func judgedSections(a *eval.Attempt, criteria string, context bool) judge.Sections {
	s := judge.Sections{}.WithAny(judge.QuestionSection, judge.CaseQuestion(a.Case))
	if context {
		s = s.WithAny(judge.ContextSection, a.Response.Context)
	}
	return s.WithAny(judge.CriteriaSection, criteria).With(judge.AnswerSection, a.Response.Text)
}
