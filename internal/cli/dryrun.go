package cli

import (
	"cmp"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/term"
)

// What an answer and a verdict come to when nothing better is known, in
// tokens.
const (
	typicalAnswer  = 900 // of a model
	typicalVerdict = 300
	rubric         = 700 // of a judge's prompt, without what it judges
)

// dryRun shows what a run would ask, and about what it would cost.
func dryRun(w *World, o *runOptions, l *loaded, ms *models) error {
	var servers, answers, judges estimate
	judge, err := specOf(o.Judge)
	if err != nil {
		return err
	}
	for _, s := range l.Suites {
		for _, c := range s.Cases {
			trials := cmp.Or(c.Trials, o.Trials)
			input := typicalAnswer
			user, asks := l.named(o.targetName(c, l)).(target.ModelUser)
			if asks {
				used, err := ms.expected(l, s, c, user)
				if err != nil {
					return err
				}
				answers.add(trials, used)
				input += used.Input
			} else {
				servers.calls += trials
			}
			calls := 0
			for _, check := range c.Checks {
				calls += grade.JudgeCalls(check)
			}
			if o.Judge != "" || !needsJudge(c) {
				judges.add(trials*calls, ms.priced(judge, llm.Tokens{Input: input + rubric, Output: typicalVerdict}))
			}
			fmt.Fprintln(w.Stdout, term.Sanitize(dryLine(c, o.targetName(c, l), calls)))
		}
	}
	w.printf("%s would be made, %d at a time; nothing was asked\n", count(servers.calls+answers.calls+judges.calls, "call"), o.Concurrency)
	answers.print(w, "answers", o.Model)
	judges.print(w, "judge", cmp.Or(o.Judge, "named by checks"))
	return nil
}

func specOf(name string) (llm.Spec, error) {
	if name == "" {
		return llm.Spec{}, nil
	}
	return llm.ParseSpec(name)
}

func dryLine(c *eval.Case, target string, judged int) string {
	s := fmt.Sprintf("%s  %s -> %s  (%s", c.ID, cmp.Or(c.Tool+" ", "")+string(c.Input), target, count(len(c.Checks), "check"))
	if judged > 0 {
		s += ", " + count(judged, "call") + " of a judge"
	}
	return s + ")"
}

// estimate adds up what calls are thought to come to.
type estimate struct {
	calls int
	usage eval.Usage
}

func (e *estimate) add(times int, u eval.Usage) {
	e.calls += times
	for range times {
		e.usage.Add(&u)
	}
}

func (e *estimate) print(w *World, what, model string) {
	if e.calls == 0 {
		return
	}
	cost := "of unknown cost: give prices in mettle.yaml"
	if e.usage.Unpriced == 0 {
		cost = "about " + e.usage.Cost.String()
	}
	w.printf("%s, %s: %s, about %d tokens in and %d out, %s\n", what, term.Sanitize(model), count(e.calls, "call"), e.usage.Input, e.usage.Output, cost)
}

// expected is what the answer to a case is thought to consume.
func (m *models) expected(l *loaded, s *eval.Suite, c *eval.Case, user target.ModelUser) (eval.Usage, error) {
	if r, ok := user.(target.SkillReader); ok {
		r.UseSkills(l.skills(s.File).Library)
	}
	user.UsePrompts(m.prompts)
	req, err := user.Request(c)
	if err != nil {
		return eval.Usage{}, err
	}
	spec, err := specOf(cmp.Or(user.Model(), m.opts.Model))
	if err != nil {
		return eval.Usage{}, err
	}
	tokens := llm.Estimate(req)
	tokens.Output = typicalAnswer
	return m.priced(spec, tokens), nil
}

// priced is what tokens of a model cost.
func (m *models) priced(spec llm.Spec, t llm.Tokens) eval.Usage {
	u := eval.Usage{Calls: 1, Input: t.Input, Output: t.Output, Unpriced: 1}
	if cost, ok := m.prices.Cost(spec, u); ok {
		u.Cost, u.Unpriced = cost, 0
	}
	return u
}
