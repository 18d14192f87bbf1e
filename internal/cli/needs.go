package cli

import (
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/term"
)

// narrow leaves out what a run that names no suites cannot do: what is not for
// a server when a server is to be asked, and what needs a model when there is
// none.
func (l *loaded) narrow(o *runOptions) {
	if !l.defaulted {
		return
	}
	var kept []*eval.Suite
	var withheld []string
	for _, s := range l.Suites {
		t := l.named(s.Cases[0].Target)
		_, asks := t.(target.ModelUser)
		switch {
		case o.elsewhere && !isMCP(t):
		case asks && o.Model == "":
			withheld = append(withheld, s.Name)
		default:
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return // let the run say what it is missing
	}
	l.Suites, l.withheld = kept, withheld
}

// tellWithheld says in a line each what was left out, and how to have it.
func (l *loaded) tellWithheld(w *World, ms *models) {
	if len(l.absent) > 0 {
		w.printf("%s\n", term.Sanitize("left out, since their skills are not in "+l.skills("").Where()+": "+strings.Join(l.absent, ", ")))
	}
	n := 0
	for _, s := range l.Suites {
		for _, c := range s.Cases {
			if ms.opts.Judge == "" && needsJudge(c) {
				n++
			}
		}
	}
	if n > 0 {
		w.printf("checks of %s were skipped for want of a judge: give --judge provider:model, or models.judge in mettle.yaml\n", count(n, "case"))
	}
	if len(l.withheld) > 0 {
		w.printf("%s\n", term.Sanitize("skipped for want of a model: "+strings.Join(l.withheld, ", ")+". "+howToGetAModel))
	}
}

const howToGetAModel = "Give --model and --judge, such as --model anthropic:claude-sonnet-5-5 --judge openai:gpt-6-sol " +
	"with their keys in ANTHROPIC_API_KEY and OPENAI_API_KEY, or a local one: --model ollama:qwen3 --judge ollama:gpt-oss. " +
	"mettle doctor tells what works."

// judged tells whether any check of a case asks a judge, the run's or its own.
func judged(c *eval.Case) bool {
	return slices.ContainsFunc(c.Checks, func(check *eval.Check) bool { return grade.JudgeCalls(check) > 0 })
}

// needsJudge tells whether any check of a case asks the run's judge.
func needsJudge(c *eval.Case) bool { return slices.ContainsFunc(c.Checks, grade.NeedsJudge) }
