package grade

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
)

// pairwise asks a judge which of two answers is better, in both orders.
type pairwise struct {
	Reference     string `yaml:"reference" json:"reference,omitempty" jsonschema:"the answer to compare with"`
	ReferenceFile string `yaml:"referenceFile" json:"referenceFile,omitempty" jsonschema:"file with the answer to compare with, from the suite's folder"`
	Criteria      string `yaml:"criteria" json:"criteria,omitempty" jsonschema:"what makes an answer better; what helps the asker if not given"`
	Want          string `yaml:"want" json:"want,omitempty" jsonschema:"whether the answer must win, or must only not lose" check:"enum=better|not_worse,default=not_worse"`
	Context       *bool  `yaml:"context" json:"context,omitempty" jsonschema:"show the judge what the answers were to be taken from, such as the skill" check:"default=false"`
	asking

	dir   string
	other string // the answer to compare with
}

// maxReference bounds the answer to compare with.
const maxReference = 1 << 20

const wantBetter = "better"

var pairwiseKind = kind.Kind[eval.Grader]{
	Name:   "pairwise",
	Graded: true,
	Doc:    "A judge finds the answer better than another one, or not worse.",
	Mode:   "worse than reference",
	Explain: "The other answer is `reference`, or the text of `referenceFile`. Judges lean to the place an answer stands in, so they are asked twice, " +
		"with the places swapped: the answer wins or loses only if both agree, and anything else is a tie, which the reason explains. The value is " +
		"1 for a win, 0.5 for a tie and 0 for a loss. `want: not_worse` passes with a tie, `want: better` does not. Two answers that are the same " +
		"are a tie without a call.\n\nWhen one of the two calls gives no verdict, the check is unscored.\n\n" + askedDoc,
	Example: `- type: pairwise
  reference: Make the agent with createAgent, and pass it a model and a list of tools.
  criteria: Shorter is better where both are right.
  want: not_worse
`,
	New: func() eval.Grader { return new(pairwise) },
}

func (g *pairwise) place(dir string) { g.dir = dir }

// Check reads the answer to compare with.
func (g *pairwise) Check() error {
	errs := []error{g.checkModel()}
	switch {
	case g.Reference != "" && g.ReferenceFile != "":
		errs = append(errs, fieldErrorf("referenceFile", "give reference or referenceFile, not both"))
	case g.ReferenceFile != "":
		data, err := suiteFile(g.dir, g.ReferenceFile, maxReference)
		if err != nil {
			errs = append(errs, fieldErrorf("referenceFile", "%w", err))
		} else if g.other = trim(string(data)); g.other == "" {
			errs = append(errs, fieldErrorf("referenceFile", "%s is empty", quote(g.ReferenceFile)))
		}
	case trim(g.Reference) == "":
		errs = append(errs, errors.New("give reference or referenceFile: the answer to compare with"))
	default:
		g.other = g.Reference
	}
	return errors.Join(errs...)
}

// calls: one for each order.
func (g *pairwise) calls() int { return 2 }

// How an answer did against another.
type duel string

const (
	won  duel = "better"
	lost duel = "worse"
	tied duel = "tie"
)

// half is one of the two calls.
type half struct {
	judge.Preference
	judge.Outcome
	err error
}

func (g *pairwise) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	j, err := g.judge(a)
	switch {
	case err != nil:
		return eval.Score{}, err
	case trim(a.Response.Text) == trim(g.other):
		return g.score(tied, "the answers are the same"), nil
	}
	var halves [2]half
	var wg sync.WaitGroup
	for i := range halves {
		wg.Go(func() { halves[i] = g.half(ctx, j, a, i == 1) })
	}
	wg.Wait()
	o := halves[0].Outcome
	o.Add(halves[1].Outcome)
	if err := errors.Join(halves[0].err, halves[1].err); err != nil {
		return o.Record(eval.Score{}), fmt.Errorf("one order of the answers has no verdict: %w", err)
	}
	return o.Record(g.settle(halves)), nil
}

// half asks in one order; swapped puts the answer second.
func (g *pairwise) half(ctx context.Context, j *judge.Judge, a *eval.Attempt, swapped bool) (h half) {
	sections := judge.Sections{}.WithAny(judge.QuestionSection, judge.CaseQuestion(a.Case))
	if on(g.Context, false) {
		sections = sections.WithAny(judge.ContextSection, a.Response.Context)
	}
	first, second, sample := a.Response.Text, g.other, 0
	if swapped {
		first, second, sample = second, first, 1
	}
	sections = sections.WithAny(judge.CriteriaSection, g.Criteria).With(judge.FirstAnswerSection, first).With(judge.SecondAnswerSection, second)
	q := judge.Question{Task: j.Prompt("pairwise.md"), Sections: sections, Sample: sample}
	h.Preference, h.Outcome, h.err = judge.Ask(ctx, j, q, judge.Comparing)
	return h
}

// outcome is how the answer did when it stood first, or second.
func (h half) outcome(swapped bool) duel {
	switch {
	case h.Verdict == judge.Tie:
		return tied
	case (h.Verdict == judge.First) != swapped:
		return won
	}
	return lost
}

// settle makes one outcome of the two.
func (g *pairwise) settle(halves [2]half) eval.Score {
	a, b := halves[0].outcome(false), halves[1].outcome(true)
	result, why := a, "in both orders"
	if a != b {
		result, why = tied, fmt.Sprintf("the judge does not hold to its verdict: %s when the answer stands first, %s when it stands second", a, b)
	}
	s := g.score(result, why)
	s = s.Detail("orders", []string{string(a), string(b)})
	return s.Detail("reasoning", fmt.Sprintf("Answer first: %s\nAnswer second: %s", halves[0].Reasoning, halves[1].Reasoning))
}

func (g *pairwise) score(result duel, why string) eval.Score {
	passes := result == won || result == tied && g.Want != wantBetter
	s := eval.PassIf(passes, "%s, %s", result, why)
	if !passes && result == tied {
		s.Reason, s.Mode = fmt.Sprintf("%s, want %s: %s", result, won, why), "no better than reference"
	}
	s.Value = map[duel]float64{won: 1, tied: 0.5, lost: 0}[result]
	return s
}
