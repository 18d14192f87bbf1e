package grade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// weighted passes when the weighted mean of the checks inside it is high
// enough.
type weighted struct {
	Threshold float64  `yaml:"threshold" json:"threshold" jsonschema:"lowest weighted mean that passes, from 0 to 1" check:"required,min=0,max=1"`
	Must      []string `yaml:"must" json:"must,omitempty" jsonschema:"keys of checks inside that must pass, whatever the mean" check:"max=100"`
	children
}

var weightedKind = kind.Kind[eval.Grader]{
	Name:   "weighted",
	Graded: true,
	Doc:    "The weighted mean of several checks is at least threshold.",
	Mode:   lowScore,
	Explain: `Each check inside has a value from 0 to 1 (1 for a pass and 0 for a fail, unless its kind says otherwise) and a
` + "`weight`" + `, 1 if not given. The mean is the value of this check. There is no default threshold: how good is good enough is for
the suite to say; 0 only measures. One of ` + "`severity: warn`" + ` is shown and does not count. Checks whose keys are in ` + "`must`" + ` have to
pass by themselves as well: one that fails fails this check, whatever the mean.

A check that is unscored may turn out anything from 0 to 1, so the mean is not known and this check is unscored too, unless
it would fail even then. One that was skipped because it does not apply to the answer is left out. One that was skipped
because what it needs is not configured, such as a judge, makes this check skipped too.`,
	Example: `- type: weighted
  threshold: 0.7
  checks:
    - type: has_code_block
      weight: 2
    - type: has_citation
    - type: min_length
      chars: 300
`,
	New: func() eval.Grader { return new(weighted) },
}

// Check wants weights that add up to something.
func (g *weighted) Check() error {
	err := g.arrange(true)
	if g.deciding() > 0 && g.weight() == 0 {
		err = errors.Join(err, fieldErrorf("checks", "the weights add up to 0"))
	}
	for i, key := range g.Must {
		if !slices.ContainsFunc(g.checks(), func(c *eval.Check) bool { return c.Key == key && c.Severity != eval.WarnSeverity }) {
			err = errors.Join(err, fieldErrorf(fmt.Sprintf("must[%d]", i), "no deciding check inside has the key %q", key))
		}
	}
	return err
}

func (g *weighted) weight() (sum float64) {
	for _, check := range g.checks() {
		if check.Severity != eval.WarnSeverity {
			sum += check.Weight
		}
	}
	return sum
}

func (g *weighted) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	scores := g.scores(ctx, a)
	s, err := meanOf("weighted mean", g.Threshold, scores)
	for _, part := range scores {
		switch {
		case !slices.Contains(g.Must, part.Key):
		case part.Status == eval.Fail && s.Status != eval.Fail:
			return mustFail(part, scores), nil
		case part.Status == eval.Unscored && err == nil && s.Status == eval.Pass:
			err = fmt.Errorf("%s must pass and could not be scored: %s", part.Key, part.Reason)
		}
	}
	return s, err
}

// mustFail is the score when a check failed that must pass: certain, whatever
// the others are. Its value is the mean of what was scored.
func mustFail(part eval.Score, scores []eval.Score) eval.Score {
	var sum, scored float64
	for _, s := range scores {
		if s.Counts() && s.Severity != eval.WarnSeverity {
			sum += s.Value * s.Weight
			scored += s.Weight
		}
	}
	mean := 0.0
	if scored > 0 {
		mean = sum / scored
	}
	s := eval.PassIf(false, "weighted mean %.2f, and %s must pass: %s", mean, part.Key, part.Reason)
	s.Value, s.Mode = mean, part.Mode
	return gather(s, scores)
}

// meanOf holds the weighted mean of scores against a threshold. What is
// unscored may be anything from 0 to 1, and with it the mean, which gates and
// averages use: a judge that broke must neither raise nor lower it. Only a fail
// that nothing could avert is a verdict, with the mean of what was scored.
func meanOf(what string, threshold float64, scores []eval.Score) (eval.Score, error) {
	const tiny = 1e-9 // means are quotients: 0.7 must meet 0.7
	var sum, scored, total float64
	var failed, open []string
	for _, s := range scores {
		if s.Severity == eval.WarnSeverity {
			continue
		}
		if s.Status == eval.Skip {
			if s.Missing { // without it, the mean would be of something else
				return gather(allSkipped(scores), scores), nil
			}
			continue
		}
		total += s.Weight
		switch s.Status {
		case eval.Unscored:
			open = append(open, s.Key+": "+s.Reason)
			continue
		case eval.Fail:
			failed = append(failed, s.Key+": "+s.Reason)
		}
		sum += s.Value * s.Weight
		scored += s.Weight
	}
	if total == 0 {
		return gather(allSkipped(scores), scores), nil
	}
	lowest, highest := sum/total, (sum+total-scored)/total
	passes := highest >= threshold-tiny
	if scored == 0 || passes && scored < total {
		return gather(eval.Score{}, scores), fmt.Errorf("the %s is from %.2f to %.2f, want at least %s, and %s could not be scored; %s",
			what, lowest, highest, decimal(threshold), counted(len(open), "check"), some(open))
	}
	said := fmt.Sprintf("%s %.2f", what, highest)
	if scored < total {
		said = fmt.Sprintf("%s of what was scored %.2f, at most %.2f in all", what, sum/scored, highest)
	}
	s := judged(passes, said, bounds(&threshold, nil))
	s.Value = sum / scored
	s.Reason += leftOut(scores)
	if !passes {
		if len(failed) > 0 { // none is, where low scores pass
			s.Reason += "; " + some(failed)
		}
		s.Mode = lowScore // the sum is the cause, not the first of its parts
	}
	return gather(s, scores), nil
}
