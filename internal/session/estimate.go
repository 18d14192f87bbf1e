package session

import (
	"cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/target"
)

// What a verdict comes to when nothing better is known, in tokens.
const (
	typicalVerdict = 300
	rubric         = 700 // of a judge's prompt, without what it judges
)

// Estimate is what a run would ask, and about what it would cost.
type Estimate struct {
	Cases       []CaseEstimate
	Servers     int // calls of servers
	Answers     Calls
	Judges      Calls
	Concurrency int
}

// CaseEstimate is what one case would ask.
type CaseEstimate struct {
	Case   *eval.Case
	Target string
	Judged int // calls of judges for one answer
}

// Calls are calls of models, and what they are thought to consume.
type Calls struct {
	Model string
	N     int
	Usage eval.Usage
}

func (c *Calls) add(times int, u eval.Usage) {
	c.N += times
	for range times {
		c.Usage.Add(&u)
	}
}

// DryRun estimates the run. Nothing is asked.
func (p *Plan) DryRun() (*Estimate, error) {
	e := &Estimate{
		Concurrency: p.opts.Concurrency,
		Answers:     Calls{Model: p.opts.Model}, Judges: Calls{Model: cmp.Or(p.opts.Judge, "named by checks")},
	}
	judge, err := specOf(p.opts.Judge)
	if err != nil {
		return nil, err
	}
	ready := map[target.Target]bool{}
	for _, s := range p.loaded.Suites {
		for _, c := range s.Cases {
			trials := cmp.Or(c.Trials, p.opts.Trials)
			one := CaseEstimate{Case: c, Target: p.opts.targetName(c, p.loaded)}
			input := target.TypicalAnswer
			if t := p.loaded.named(one.Target); t != nil && t.Needs().Model {
				used, err := p.expected(t, s, c, ready)
				if err != nil {
					return nil, err
				}
				e.Answers.add(trials, used)
				input += used.Input
			} else {
				e.Servers += trials
			}
			for _, check := range c.Checks {
				one.Judged += grade.JudgeCalls(check)
			}
			if p.opts.Judge != "" || !needsJudge(c) {
				e.Judges.add(trials*one.Judged, p.models.priced(judge, llm.Tokens{Input: input + rubric, Output: typicalVerdict}))
			}
			e.Cases = append(e.Cases, one)
		}
	}
	return e, nil
}

// expected is what the answer to a case is thought to consume.
func (p *Plan) expected(t target.Target, s *eval.Suite, c *eval.Case, ready map[target.Target]bool) (eval.Usage, error) {
	if !ready[t] {
		ready[t] = true
		if err := t.Use(target.Supplies{Env: p.world.LookupEnv, Skills: p.loaded.skills(s.File).Library, Prompts: p.models.prompts}); err != nil {
			return eval.Usage{}, err
		}
	}
	tokens, err := t.Estimate(c)
	if err != nil {
		return eval.Usage{}, err
	}
	spec, err := specOf(cmp.Or(t.Needs().ModelName, p.opts.Model))
	if err != nil {
		return eval.Usage{}, err
	}
	return p.models.priced(spec, tokens), nil
}

func specOf(name string) (llm.Spec, error) {
	if name == "" {
		return llm.Spec{}, nil
	}
	return llm.ParseSpec(name)
}

// priced is what tokens of a model cost.
func (m *models) priced(spec llm.Spec, t llm.Tokens) eval.Usage {
	u := eval.Usage{Calls: 1, Input: t.Input, Output: t.Output, Unpriced: 1}
	if cost, ok := m.prices.Cost(spec, u); ok {
		u.Cost, u.Unpriced = cost, 0
	}
	return u
}
