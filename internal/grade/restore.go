package grade

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Restore gives the checks of a case that was read from a stored run their
// graders, made from the rules that the run has of them. Files that a check
// names are looked for in the folder of its suite, as when the suite was loaded.
// Checks that ask the run's judge are marked as skipped when env has none, as
// the plan of a run does.
func Restore(env *Env, c *eval.Case) error {
	var errs []error
	for _, check := range c.Checks {
		if err := restore(c, check); err != nil {
			errs = append(errs, fmt.Errorf("case %s, check %s: %w", c.ID, check.Key, err))
		}
	}
	if env == nil || env.Judges == nil || env.Judges.Default == nil {
		SkipJudged(c.Checks, NoJudge)
	}
	return errors.Join(errs...)
}

func restore(c *eval.Case, check *eval.Check) error {
	d := &kind.Decoder{File: cmp.Or(check.Pos.File, c.Pos.File)} // a check of many cases has no place of its own
	rule, err := kind.FromJSON(check.Rule(), check.Pos.Line, check.Pos.Col)
	if err != nil {
		return fmt.Errorf("read its rule: %w", err)
	}
	made := DecodeCheck(d, rule)
	if made == nil {
		return d.Problems
	}
	if made.Kind != check.Kind {
		return fmt.Errorf("its rule is of the kind %s, want %s", made.Kind, check.Kind)
	}
	check.Grader = made.Grader
	return nil
}
