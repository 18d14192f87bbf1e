package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// children are the checks inside a check. Each has its own not and of; one of
// warn severity is graded and shown, and does not decide.
type children struct {
	Checks []child `yaml:"checks" json:"checks" jsonschema:"the checks inside this one" check:"required,min=1"`
}

// child is a check inside a check, as YAML has it.
type child struct{ check *eval.Check }

// DecodeNode reads the check.
func (c *child) DecodeNode(d *kind.Decoder, n *yaml.Node) { c.check = DecodeCheck(d, n) }

// JSONSchema refers to the schema of all checks.
func (child) JSONSchema() kind.Schema { return kind.Schema{"$ref": "#/$defs/check"} }

// MarshalJSON writes the check as it can be read again.
func (c child) MarshalJSON() ([]byte, error) {
	common := struct {
		Key      string        `json:"key,omitempty"`
		Weight   *float64      `json:"weight,omitempty"`
		Severity eval.Severity `json:"severity,omitempty"`
	}{}
	if c.check.Key != c.check.Kind {
		common.Key = c.check.Key
	}
	if c.check.Weight != 1 {
		common.Weight = &c.check.Weight
	}
	if c.check.Severity != eval.ErrorSeverity {
		common.Severity = c.check.Severity
	}
	extra, err := json.Marshal(common)
	if err != nil || len(extra) == len("{}") {
		return c.check.Rule(), err
	}
	rule := c.check.Rule()
	return []byte(string(rule[:len(rule)-1]) + "," + string(extra[1:])), nil
}

// checks lists the children that decoded.
func (c *children) checks() []*eval.Check {
	out := make([]*eval.Check, 0, len(c.Checks))
	for _, ch := range c.Checks {
		if ch.check != nil {
			out = append(out, ch.check)
		}
	}
	return out
}

// Held lists the checks inside a check, for those who look for a kind of check
// in a case.
func (c *children) Held() []*eval.Check { return c.checks() }

// deciding counts the children that are not of warn severity.
func (c *children) deciding() (n int) {
	for _, check := range c.checks() {
		if check.Severity != eval.WarnSeverity {
			n++
		}
	}
	return n
}

// arrange makes the children's keys unique and finds what has no meaning in a
// composition.
func (c *children) arrange(weighted bool) error {
	checks := c.checks()
	var errs []error
	for _, i := range uniqueKeys(checks) {
		errs = append(errs, fieldErrorf(fmt.Sprintf("checks[%d].key", i), "the key %q stands twice", checks[i].Key))
	}
	for i, check := range checks {
		if !weighted && check.Weight != 1 {
			errs = append(errs, fieldErrorf(fmt.Sprintf("checks[%d].weight", i), "weight has a meaning inside weighted only"))
		}
	}
	if c.deciding() == 0 {
		errs = append(errs, fieldErrorf("checks", "every check is of warn severity, so none decides"))
	}
	return errors.Join(errs...)
}

func fieldErrorf(field, format string, args ...any) error {
	return &kind.FieldError{Field: field, Err: fmt.Errorf(format, args...)}
}

// Prepare asks the children for what they are missing.
func (c *children) Prepare(ctx context.Context, env *eval.Env, cases []*eval.Case) error {
	var errs []error
	for _, check := range c.checks() {
		if p, ok := check.Grader.(eval.Preparer); ok {
			errs = append(errs, p.Prepare(ctx, env, cases))
		}
	}
	return errors.Join(errs...)
}

// Expensive tells whether a child is.
func (c *children) Expensive() bool {
	return slices.ContainsFunc(c.checks(), func(check *eval.Check) bool { return eval.IsExpensive(check.Grader) })
}

// Bounded tells whether a child bounds its own time, as judges do. The others
// are quick, or have a limit of their own.
func (c *children) Bounded() bool {
	return slices.ContainsFunc(c.checks(), func(check *eval.Check) bool {
		b, ok := check.Grader.(eval.Bounded)
		return ok && b.Bounded()
	})
}

// scores grades the children, the cheap ones in order and the expensive ones
// side by side.
func (c *children) scores(ctx context.Context, a *eval.Attempt) []eval.Score {
	checks := c.checks()
	out := make([]eval.Score, len(checks))
	var wg sync.WaitGroup
	for i, check := range checks {
		if eval.IsExpensive(check.Grader) {
			wg.Go(func() { out[i] = check.Grade(ctx, a) })
		}
	}
	for i, check := range checks {
		if !eval.IsExpensive(check.Grader) {
			out[i] = check.Grade(ctx, a)
		}
	}
	wg.Wait()
	return out
}

// gather puts what the children found and cost into the score above them.
func gather(s eval.Score, scores []eval.Score) eval.Score {
	s.Checks = scores
	for _, child := range scores {
		s.Findings = append(s.Findings, child.Findings...)
		if child.Usage != nil {
			if s.Usage == nil {
				s.Usage = new(eval.Usage)
			}
			s.Usage.Add(child.Usage)
		}
		s.Missing = s.Missing || s.Status == eval.Skip && child.Missing && child.Severity != eval.WarnSeverity
		if s.Mode == "" && s.Status == eval.Fail && child.Status == eval.Fail && child.Severity != eval.WarnSeverity {
			s.Mode = child.Mode
		}
	}
	return s
}

// decidedDoc is the truth table of the kinds that count passes.
const decidedDoc = `Checks that are unscored or skipped are undecided: they may turn out either way. "Enough" is all of them for ` + "`all`" + `, one for
` + "`any`" + `, and ` + "`count`" + ` for ` + "`at_least`" + `.

| deciding checks that passed | outcome |
|---|---|
| enough, whatever the undecided ones turn out to be | pass |
| not enough, even if all undecided ones passed | fail |
| in between, and one of the undecided is unscored | unscored |
| in between, and all of the undecided were skipped | skipped |`

// atLeast passes when enough of the deciding scores passed. It decides as soon
// as what is unscored or skipped cannot change the outcome; until then it is
// unscored, or skipped when nothing is unscored.
func atLeast(need int, scores []eval.Score) (eval.Score, error) {
	var passed, unscored, skipped, total int
	var failed, open []string
	for _, s := range scores {
		if s.Severity == eval.WarnSeverity {
			continue
		}
		total++
		switch s.Status {
		case eval.Pass:
			passed++
		case eval.Fail:
			failed = append(failed, s.Key+": "+s.Reason)
		case eval.Skip:
			skipped++
		default:
			unscored++
			open = append(open, s.Key+": "+s.Reason)
		}
	}
	wanted := fmt.Sprintf("want %d", need)
	if need == total {
		wanted = "want all"
	}
	switch {
	case skipped == total:
		return gather(allSkipped(scores), scores), nil
	case passed >= need:
		return gather(eval.PassIf(true, "%d of %d checks passed%s", passed, total, leftOut(scores)), scores), nil
	case passed+unscored+skipped < need:
		return gather(eval.PassIf(false, "%d of %d checks passed, %s; %s", passed, total, wanted, some(failed)), scores), nil
	case unscored == 0:
		return gather(eval.Skipped("%d of %d checks passed, %s%s", passed, total, wanted, leftOut(scores)), scores), nil
	}
	return gather(eval.Score{}, scores), fmt.Errorf("%d of %d checks passed, %s, and %d could not be scored; %s", passed, total, wanted, unscored, some(open))
}

// allSkipped is the score of a composition none of whose deciding checks apply.
func allSkipped(scores []eval.Score) eval.Score {
	for _, s := range scores {
		if s.Status == eval.Skip && s.Severity != eval.WarnSeverity {
			return eval.Skipped("%s: %s", s.Key, s.Reason)
		}
	}
	return eval.Skipped("no check applies")
}

// leftOut names the deciding checks that were skipped, so that the
// verdict does not look complete.
func leftOut(scores []eval.Score) string {
	var skipped []string
	for _, s := range scores {
		if s.Status == eval.Skip && s.Severity != eval.WarnSeverity {
			skipped = append(skipped, s.Key+": "+s.Reason)
		}
	}
	if len(skipped) == 0 {
		return ""
	}
	return "; without " + some(skipped)
}

// some shows the first few reasons.
func some(reasons []string) string {
	const most = 3
	text := strings.Join(reasons[:min(len(reasons), most)], "; ")
	if len(reasons) > most {
		text += fmt.Sprintf("; and %d more", len(reasons)-most)
	}
	return text
}
