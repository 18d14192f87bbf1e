package grade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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

	Prompts fs.FS  // files that stand in for the built-in prompts of the same name; may be nil
	Answer  string // the model under test: a check that is judged by it says so
}

// noJudge is why a judge check is skipped when there is nobody to ask.
const noJudge = "no judge is configured: give --judge provider:model or models.judge in mettle.yaml"

type benchKey struct{}

// bench is what a run's judge checks have in common: the judges, and the
// prompts as they were when the run began.
type bench struct {
	Judges
	texts  map[string]string
	err    error // what is wrong with the prompts
	sample int   // added to the sample of every request: which vote of a panel it is
}

// WithJudges gives judge checks their models and prompts. The prompts are read
// now: a file that changes during the run changes nothing.
func WithJudges(ctx context.Context, j *Judges) context.Context {
	b := &bench{}
	if j != nil {
		b.Judges = *j
	}
	b.texts, b.err = readPrompts(b.Prompts)
	return context.WithValue(ctx, benchKey{}, b)
}

func benchOf(ctx context.Context) *bench {
	b, _ := ctx.Value(benchKey{}).(*bench)
	return b
}

// with is the bench with another judge in the first one's place.
func (b *bench) with(m llm.Model, name string, sample int) *bench {
	other := *b
	other.Default, other.Name, other.sample = m, name, b.sample+sample
	return &other
}

// judge is a model with what it is asked with.
type judge struct {
	model llm.Model
	name  string
	*bench
}

// judgeOf finds whom to ask: the model a check names, else the run's judge. It
// gives nil when there is none.
func judgeOf(ctx context.Context, spec string) (*judge, error) {
	b := benchOf(ctx)
	switch {
	case b == nil, spec == "" && b.Default == nil, spec != "" && b.Named == nil:
		return nil, nil
	case b.err != nil:
		return nil, b.err
	case spec == "":
		return &judge{b.Default, b.Name, b}, nil
	}
	m, err := b.Named(spec)
	if err == nil && m == nil {
		err = errors.New("there is no such model")
	}
	if err != nil {
		return nil, fmt.Errorf("judge %s: %w", spec, err)
	}
	return &judge{m, spec, b}, nil
}

// asking is what all judge kinds have in common.
type asking struct {
	Model string `yaml:"model" json:"model,omitempty" jsonschema:"the judge to ask, as provider:model, instead of the run's" check:"min=3"`
}

// Dear: a judge costs money and seconds.
func (a *asking) Dear() bool { return true }

// Bounded: the schedule of model calls bounds them, and waiting for a turn is
// not being late.
func (a *asking) Bounded() bool { return true }

// named is the model the check asks for, "" for the run's judge.
func (a *asking) named() string { return a.Model }

// calls is how many calls of a judge one answer takes.
func (a *asking) calls() int { return 1 }

// Prepare finds a judge that cannot be asked before the first case.
func (a *asking) Prepare(ctx context.Context, _ eval.Env) error {
	if _, err := judgeOf(ctx, a.Model); err != nil {
		return &eval.Missing{What: []string{err.Error()}}
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
