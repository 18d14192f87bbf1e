package grade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
)

// facts asks a judge which facts the answer states.
type facts struct {
	ExpectedFacts        []string `yaml:"expectedFacts" json:"expectedFacts,omitempty" jsonschema:"what the answer must state, one fact an entry" check:"max=200"`
	ForbiddenClaims      []string `yaml:"forbiddenClaims" json:"forbiddenClaims,omitempty" jsonschema:"what the answer must not claim, one claim an entry" check:"max=200"`
	AcceptableVariations []string `yaml:"acceptableVariations" json:"acceptableVariations,omitempty" jsonschema:"other wordings and values that count as the same" check:"max=200"`
	Threshold            *float64 `yaml:"threshold" json:"threshold,omitempty" jsonschema:"lowest share of facts stated and claims avoided that passes" check:"min=0,max=1,default=1"`
	asking
}

const (
	missingFact    = "missing fact"
	forbiddenClaim = "forbidden claim"
)

var factsKind = kind.Kind[eval.Grader]{
	Name:   "facts",
	Graded: true,
	Doc:    "A judge finds every expected fact in the answer, and no forbidden claim.",
	Mode:   missingFact,
	Explain: "One call gives a verdict on each fact and each claim: the answer states it, denies it, or leaves it out. The judge is not told which " +
		"are wanted. Each is a check of its own inside this one, with the key `fact:` or `forbidden:` and its text, so that a report says which " +
		"fact is missing; a claim that the answer denies does not stand. The value is the share that is as wanted. All must be, unless " +
		"`threshold` says how many are enough.\n\n" +
		"A reply that leaves out a fact, or has one that was not asked about, is no verdict.\n\n" + askedDoc,
	Example: `- type: facts
  expectedFacts:
    - Block time is about three minutes.
    - A zkApp account holds eight field elements of state.
  forbiddenClaims:
    - Mina has a fixed gas price.
  acceptableVariations:
    - 180 seconds
`,
	New: func() eval.Grader { return new(facts) },
}

// Check wants something to look for, and nothing both wanted and forbidden.
func (g *facts) Check() error {
	errs := []error{g.checkModel()}
	if len(g.ExpectedFacts)+len(g.ForbiddenClaims) == 0 {
		errs = append(errs, errors.New("give expectedFacts, forbiddenClaims or both"))
	}
	for _, list := range []struct {
		name  string
		texts []string
	}{{"expectedFacts", g.ExpectedFacts}, {"forbiddenClaims", g.ForbiddenClaims}, {"acceptableVariations", g.AcceptableVariations}} {
		errs = append(errs, checkTexts(list.name, list.texts))
	}
	for i, claim := range g.ForbiddenClaims {
		if slices.Contains(g.ExpectedFacts, claim) {
			errs = append(errs, fieldErrorf(fmt.Sprintf("forbiddenClaims[%d]", i), "%s is expected and forbidden", quote(claim)))
		}
	}
	return errors.Join(errs...)
}

// checkTexts wants texts that say something, each once.
func checkTexts(name string, texts []string) error {
	var errs []error
	for i, t := range texts {
		field := fmt.Sprintf("%s[%d]", name, i)
		if trim(t) == "" {
			errs = append(errs, fieldErrorf(field, "%s is empty", field))
		}
	}
	return errors.Join(append(errs, checkRepeats(name, texts))...)
}

// checkRepeats wants each text once.
func checkRepeats(name string, texts []string) error {
	var errs []error
	for i, t := range texts {
		if slices.Contains(texts[:i], t) {
			errs = append(errs, fieldErrorf(fmt.Sprintf("%s[%d]", name, i), "%s stands twice in %s", quote(t), name))
		}
	}
	return errors.Join(errs...)
}

func (g *facts) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	if s, empty := emptyAnswer(a.Response); empty {
		return s, nil
	}
	j, err := g.judge(a)
	if err != nil {
		return eval.Score{}, err
	}
	statements := g.statements()
	sections := judge.Sections{}.
		WithAny(judge.QuestionSection, judge.CaseQuestion(a.Case)).
		With(judge.StatementsSection, numbered(statements)).
		WithAny(judge.VariationsSection, listed(g.AcceptableVariations)).
		With(judge.AnswerSection, a.Response.Text)
	q := judge.Question{Task: j.Prompt("facts.md"), Sections: sections, Tokens: 1024 + 160*len(statements)}
	verdicts, o, err := judge.Ask(ctx, j, q, judge.Statements(len(statements)))
	if err != nil {
		return o.Record(eval.Score{}), err
	}
	return o.Record(g.score(verdicts)), nil
}

// statements are what is judged: the facts, then the claims.
func (g *facts) statements() []string { return slices.Concat(g.ExpectedFacts, g.ForbiddenClaims) }

// checks are the parts of the check, one for each statement.
func (g *facts) checks() []*eval.Check {
	out := make([]*eval.Check, 0, len(g.ExpectedFacts)+len(g.ForbiddenClaims))
	for _, text := range g.ExpectedFacts {
		out = append(out, partCheck("fact", "fact:", text, missingFact))
	}
	for _, text := range g.ForbiddenClaims {
		out = append(out, partCheck("forbidden_claim", "forbidden:", text, forbiddenClaim))
	}
	uniqueKeys(out)
	return out
}

// score makes a score of each verdict, and one of all of them.
func (g *facts) score(verdicts []judge.Statement) eval.Score {
	scores := make([]eval.Score, len(verdicts))
	wrong := map[string][]string{} // statements by what is wrong with them
	met := 0
	var reasoning []string
	statements := g.statements()
	for i, part := range g.checks() {
		v := verdicts[i]
		wanted := i < len(g.ExpectedFacts)
		scores[i] = withReasoning(scoreOf(part, eval.PassIf((v.Verdict == judge.Stated) == wanted, "%s", v.Verdict)), v.Reasoning)
		if scores[i].Status == eval.Pass {
			met++
		} else {
			wrong[v.Verdict] = append(wrong[v.Verdict], statements[i])
		}
		reasoning = append(reasoning, fmt.Sprintf("%d. %s: %s", i+1, v.Verdict, v.Reasoning))
	}
	share := float64(met) / float64(len(verdicts))
	passes := met == len(verdicts)
	if g.Threshold != nil {
		passes = share >= *g.Threshold
	}
	s := eval.PassIf(passes, "%s", g.reason(met, len(verdicts), wrong))
	s.Value, s.Checks = share, scores
	if !passes && len(wrong[judge.Absent])+len(wrong[judge.Denied]) == 0 {
		s.Mode = forbiddenClaim
	}
	return s.Detail("reasoning", strings.Join(reasoning, "\n"))
}

func (g *facts) reason(met, total int, wrong map[string][]string) string {
	reason := fmt.Sprintf("%d of %s as wanted", met, counted(total, "statement"))
	if g.Threshold != nil {
		reason += fmt.Sprintf(" (%s)", bounds(g.Threshold, nil))
	}
	for _, w := range []struct{ verdict, said string }{{judge.Absent, "missing"}, {judge.Denied, "denied"}, {judge.Stated, "claimed"}} {
		if len(wrong[w.verdict]) > 0 {
			reason += "; " + w.said + ": " + quoteAll(wrong[w.verdict])
		}
	}
	return reason
}

// partCheck is a part of a check, under a key made of its text. It has no
// grader: the check it is part of grades it.
func partCheck(kind, prefix, text, mode string) *eval.Check {
	return &eval.Check{Key: prefix + oneLine(text, shown), Kind: kind, Weight: 1, Severity: eval.ErrorSeverity, Mode: mode}
}

// scoreOf gives a part its score.
func scoreOf(part *eval.Check, s eval.Score) eval.Score {
	s.Key, s.Kind, s.Weight, s.Severity = part.Key, part.Kind, part.Weight, part.Severity
	if s.Status != eval.Pass {
		s.Mode = part.Mode
	}
	return s
}

// numbered lists texts, one a line, from 1.
func numbered(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.Join(strings.Fields(t), " "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// listed lists texts, one a line.
func listed(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(t), " "))
	}
	return strings.TrimRight(b.String(), "\n")
}
