package grade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

// Judges are the models that judge checks ask.
type Judges struct {
	Default llm.Model // asked by checks that name no model; nil when the run has no judge
	Name    string    // of Default, as provider:model

	// Named gives the model that a check or a panel names. It is called for
	// every answer, from many goroutines, and so keeps what it made.
	Named func(spec string) (llm.Model, error)

	Prompts fs.FS  // files that replace the built-in prompts of the same name; may be nil
	Answer  string // the model under test: a check that is judged by it says so

	read   sync.Once
	texts  map[string]string // the prompts as they were when first needed
	err    error             // what is wrong with them
	sample int               // added to the sample of every request: which vote of a panel it is
}

// NoJudge is why a judge check is skipped in a run that has no judge.
const NoJudge = "no judge is configured: give --judge provider:model or models.judge in mettle.yaml"

// prompts reads the prompts once: a file that changes during the run changes
// nothing.
func (j *Judges) prompts() error {
	j.read.Do(func() { j.texts, j.err = readPrompts(j.Prompts) })
	return j.err
}

// with is the judges with another one in the default's place.
func (j *Judges) with(m llm.Model, name string, sample int) *Judges {
	other := &Judges{Default: m, Name: name, Named: j.Named, Prompts: j.Prompts, Answer: j.Answer, sample: j.sample + sample}
	other.read.Do(func() { other.texts, other.err = j.texts, j.err })
	return other
}

// judge is a model with what it is asked with, for an attempt.
type judge struct {
	model   llm.Model
	name    string
	attempt *eval.Attempt
	*Judges
}

// judgeOf finds whom to ask: the model a check names, else the run's judge.
func judgeOf(a *eval.Attempt, spec string) (*judge, error) {
	m, name, err := envOf(a.Env).Judges.find(spec)
	if err != nil {
		return nil, err
	}
	return &judge{m, name, a, envOf(a.Env).Judges}, nil
}

// find is the model that a check names, or the default, with its name.
func (j *Judges) find(spec string) (m llm.Model, name string, err error) {
	switch {
	case spec == "" && (j == nil || j.Default == nil):
		return nil, "", errors.New(NoJudge)
	case spec != "" && (j == nil || j.Named == nil):
		return nil, "", fmt.Errorf("judge %s: models of checks cannot be asked here", spec)
	case j.prompts() != nil:
		return nil, "", j.err
	case spec == "":
		return j.Default, j.Name, nil
	}
	if m, err = j.Named(spec); err == nil && m == nil {
		err = errors.New("there is no such model")
	}
	if err != nil {
		return nil, "", fmt.Errorf("judge %s: %w", spec, err)
	}
	return m, spec, nil
}

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

// calls is how many calls of a judge one answer takes.
func (a *asking) calls() int { return 1 }

// Prepare finds a judge that cannot be asked before the first case.
func (a *asking) Prepare(_ context.Context, env *eval.Env, _ []*eval.Case) error {
	return prepareJudges(env, a.Model)
}

// prepareJudges finds judges that cannot be asked. The run's own may be absent:
// then the checks that ask it are skipped.
func prepareJudges(env *eval.Env, specs ...string) error {
	judges := envOf(env).Judges
	missing := new(eval.Missing)
	for _, spec := range specs {
		if spec == "" && (judges == nil || judges.Default == nil) {
			continue
		}
		if _, _, err := judges.find(spec); err != nil {
			missing.What = append(missing.What, err.Error())
		}
	}
	if len(missing.What) > 0 {
		return missing
	}
	return nil
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
