package grade

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
)

// panel asks several judges about one check.
type panel struct {
	Models    []string `yaml:"models" json:"models" jsonschema:"the judges, as provider:model; one that stands twice is asked twice" check:"required,min=2,max=20"`
	By        string   `yaml:"by" json:"by,omitempty" jsonschema:"how their verdicts become one" check:"enum=majority|mean,default=majority"`
	Threshold *float64 `yaml:"threshold" json:"threshold,omitempty" jsonschema:"lowest mean that passes, for by: mean" check:"min=0,max=1,default=0.7"`
	Inner     child    `yaml:"check" json:"check" jsonschema:"the judge check that is put to each" check:"required"`
}

const byMean = "mean"

var panelKind = kind.Kind[eval.Grader]{
	Name:   "panel",
	Graded: true,
	Doc:    "Several judges together find that the answer passes a judge check.",
	Mode:   "outvoted",
	Explain: "Each model is put the same check, side by side. `by: majority` passes when more than half of them pass it; the value is their share. " +
		"`by: mean` passes when the mean of their values is at least `threshold`, 0.7 if not given. Where they disagree, the reason says so, and " +
		"the details have the spread of the values. Each judge's own score is a check inside this one, with the key `judge:` and its name.\n\n" +
		"A judge without a verdict may have given any: when that could change the outcome, the panel is unscored. The check may not name a " +
		"`model` of its own.",
	Example: `- type: panel
  models: [anthropic:claude-sonnet-4-5, openai:gpt-5, ollama:qwen3]
  by: majority
  check:
    type: accuracy
    criteria: Agents are made with createAgent.
`,
	New: func() eval.Grader { return new(panel) },
}

// Check wants judges that can be ones, and a check that asks one.
func (g *panel) Check() error {
	var errs []error
	for i, spec := range g.Models {
		if _, err := llm.ParseSpec(spec); err != nil {
			errs = append(errs, fieldErrorf(fmt.Sprintf("models[%d]", i), "%w", err))
		}
	}
	if g.By != byMean && g.Threshold != nil {
		errs = append(errs, fieldErrorf("threshold", "threshold has a meaning for by: mean only"))
	}
	if g.Inner.check != nil {
		errs = append(errs, g.checkInner())
	}
	return errors.Join(errs...)
}

func (g *panel) checkInner() error {
	c := g.Inner.check
	judged, ok := c.Grader.(interface{ named() string })
	switch {
	case !ok:
		return fieldErrorf("check.type", "%s is no judge check that several models could be asked", c.Kind)
	case judged.named() != "":
		return fieldErrorf("check.model", "the panel's models are asked, so the check may not name one")
	case c.Weight != 1:
		return fieldErrorf("check.weight", "weight has a meaning inside weighted only")
	case c.Severity == eval.WarnSeverity:
		return fieldErrorf("check.severity", "the one check of a panel decides it")
	}
	return nil
}

// checks are the panel's check, one copy for each judge.
func (g *panel) checks() []*eval.Check {
	out := make([]*eval.Check, len(g.Models))
	for i, spec := range g.Models {
		out[i] = &eval.Check{}
		if g.Inner.check != nil {
			*out[i] = *g.Inner.check
		}
		out[i].Key = "judge:" + spec
	}
	uniqueKeys(out)
	return out
}

// calls: each judge makes those of the check.
func (g *panel) calls() int { return len(g.Models) * JudgeCalls(g.Inner.check) }

// Expensive: several judges cost more than one.
func (g *panel) Expensive() bool { return true }

// Bounded: as each of the judges is.
func (g *panel) Bounded() bool { return true }

// Prepare finds judges that cannot be asked before the first case.
func (g *panel) Prepare(_ context.Context, env *eval.Env, _ []*eval.Case) error {
	return envOf(env).Judges.Prepare(g.Models...)
}

func (g *panel) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	checks := g.checks()
	scores := make([]eval.Score, len(checks))
	asked := map[string]int{}
	var wg sync.WaitGroup
	for i, spec := range g.Models {
		sample := 2 * asked[spec] // a pairwise check uses two
		asked[spec]++
		wg.Go(func() { scores[i] = member(ctx, checks[i], a, spec, sample) })
	}
	wg.Wait()
	if g.By == byMean {
		return g.mean(scores)
	}
	return g.majority(scores)
}

// member is the score of one judge.
func member(ctx context.Context, check *eval.Check, a *eval.Attempt, spec string, sample int) eval.Score {
	j, err := envOf(a.Env).Judges.For(a, spec)
	if err != nil {
		check.Grader = eval.GraderFunc(func(context.Context, *eval.Attempt) (eval.Score, error) { return eval.Score{}, err })
		return check.Grade(ctx, a)
	}
	grading, env, own := *envOf(a.Env), *a.Env, *a
	grading.Judges = j.As(sample)
	env.Grading, own.Env = &grading, &env
	return check.Grade(ctx, &own)
}

// votes is what judges said.
type votes struct {
	passed, failed, open int
	low, high            float64
	against, undecided   []string
}

func count(scores []eval.Score) votes {
	v := votes{low: math.Inf(1), high: math.Inf(-1)}
	for _, s := range scores {
		switch s.Status {
		case eval.Pass:
			v.passed++
		case eval.Fail:
			v.failed++
			v.against = append(v.against, s.Key+": "+s.Reason)
		case eval.Unscored:
			v.open++
			v.undecided = append(v.undecided, s.Key+": "+s.Reason)
		}
		if s.Counts() {
			v.low, v.high = min(v.low, s.Value), max(v.high, s.Value)
		}
	}
	return v
}

// disagreement says how far the judges are apart, or nothing when they are not.
func (v votes) disagreement() string {
	if v.passed+v.failed == 0 || v.high-v.low < 0.005 {
		return ""
	}
	return fmt.Sprintf("; the judges disagree: values from %.2f to %.2f", v.low, v.high)
}

// on puts the votes into a score.
func (v votes) on(s eval.Score) eval.Score {
	s = s.Detail("votes", map[string]int{"pass": v.passed, "fail": v.failed, "unscored": v.open})
	if v.passed+v.failed > 0 {
		s = s.Detail("spread", math.Round((v.high-v.low)*1e6)/1e6)
	}
	return s
}

func (g *panel) majority(scores []eval.Score) (eval.Score, error) {
	v := count(scores)
	total := v.passed + v.failed + v.open
	if total == 0 {
		return gather(allSkipped(scores), scores), nil
	}
	need := total/2 + 1
	if v.passed < need && v.passed+v.open >= need {
		return v.on(gather(eval.Score{}, scores)), fmt.Errorf("%d of %s pass it, want %d, and %d gave no verdict; %s",
			v.passed, counted(total, "judge"), need, v.open, some(v.undecided))
	}
	s := eval.PassIf(v.passed >= need, "%d of %s pass it%s", v.passed, counted(total, "judge"), v.disagreement())
	s.Value = float64(v.passed) / float64(v.passed+v.failed)
	if s.Status == eval.Fail {
		s.Reason += "; " + some(v.against)
		s.Mode = panelKind.Mode
	}
	return v.on(gather(s, scores)), nil
}

func (g *panel) mean(scores []eval.Score) (eval.Score, error) {
	threshold := judgeThreshold
	if g.Threshold != nil {
		threshold = *g.Threshold
	}
	v := count(scores)
	s, err := meanOf("mean", threshold, scores)
	if err == nil && s.Status != eval.Skip {
		s.Reason += v.disagreement()
	}
	return v.on(s), err
}
