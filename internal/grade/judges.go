package grade

import (
	"context"
	"slices"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/llm"
)

// NoJudge is why a judge check is skipped in a run that has no judge.
const NoJudge = judge.None

// asking is what all judge kinds have in common.
type asking struct {
	Model string `yaml:"model" json:"model,omitempty" jsonschema:"the judge to ask, as provider:model, instead of the run's" check:"min=3"`
}

// Expensive: a judge costs money and seconds.
func (a *asking) Expensive() bool { return true }

// Bounded: the schedule of model calls bounds them, and waiting for a turn is
// not being late.
func (a *asking) Bounded() bool { return true }

// named is the model the check asks for, "" for the run's judge.
func (a *asking) named() string { return a.Model }

// judge is whom the check asks about an attempt.
func (a *asking) judge(at *eval.Attempt) (*judge.Judge, error) {
	return envOf(at.Env).Judges.For(at, a.Model)
}

// calls is how many calls of a judge one answer takes.
func (a *asking) calls() int { return 1 }

// Prepare finds a judge that cannot be asked before the first case.
func (a *asking) Prepare(_ context.Context, env *eval.Env, _ []*eval.Case) error {
	return envOf(env).Judges.Prepare(a.Model)
}

func (a *asking) checkModel() error {
	if a.Model == "" {
		return nil
	}
	if _, err := llm.ParseSpec(a.Model); err != nil {
		return fieldErrorf("model", "%w", err)
	}
	return nil
}

// RunsProgram tells whether a check, or one inside it, runs a program that the
// suite names.
func RunsProgram(c *eval.Check) bool {
	switch g := c.Grader.(type) {
	case *execGrader:
		return true
	case interface{ checks() []*eval.Check }:
		return slices.ContainsFunc(g.checks(), RunsProgram)
	}
	return false
}

// NeedsJudge tells whether a check, or one inside it, asks the run's judge: one
// that names its own does not.
func NeedsJudge(c *eval.Check) bool {
	switch g := c.Grader.(type) {
	case interface {
		calls() int
		named() string
	}:
		return g.calls() > 0 && g.named() == ""
	case interface{ calls() int }:
		return false // a panel names its judges
	case interface{ checks() []*eval.Check }:
		return slices.ContainsFunc(g.checks(), NeedsJudge)
	}
	return false
}

// SkipJudged marks the checks, and those inside them, that ask the run's judge
// as skipped: the run has none. It returns how many of the given checks are
// skipped in whole or in part.
func SkipJudged(checks []*eval.Check, why string) (n int) {
	for _, c := range checks {
		if !NeedsJudge(c) {
			continue
		}
		n++
		switch g := c.Grader.(type) {
		case interface{ skipJudged(why string) }:
			g.skipJudged(why)
		case interface{ calls() int }:
			c.Skip = why
		case interface{ checks() []*eval.Check }:
			SkipJudged(g.checks(), why)
		}
	}
	return n
}

// JudgeCalls is how many calls of judges a check, and those inside it, make for
// one answer when each is answered at the first try.
func JudgeCalls(c *eval.Check) (n int) {
	if c == nil {
		return 0
	}
	switch g := c.Grader.(type) {
	case interface{ calls() int }:
		return g.calls()
	case interface{ checks() []*eval.Check }:
		for _, inner := range g.checks() {
			n += JudgeCalls(inner)
		}
	}
	return n
}

// NamedJudges lists the judges that checks, and those inside them, name, each
// once.
func NamedJudges(checks []*eval.Check) (names []string) {
	for _, c := range Flat(checks) {
		var named []string
		switch g := c.Grader.(type) {
		case *panel:
			named = g.Models
		case interface{ named() string }:
			named = []string{g.named()}
		}
		for _, name := range named {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
