package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
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

// What an answer does with a statement.
const (
	stated = "stated"
	denied = "denied"
	absent = "absent"
)

// standing is a judge's verdict on one statement.
type standing struct{ reasoning, verdict string }

func (g *facts) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	j, err := judgeOf(a, g.Model)
	if err != nil {
		return eval.Score{}, err
	}
	statements := g.statements()
	sections := withSection(nil, "question", question(a.Case))
	sections = append(sections, section{"statements", numbered(statements)})
	sections = withSection(sections, "variations", listed(g.AcceptableVariations))
	sections = append(sections, section{"answer", a.Response.Text})
	q := inquiry{task: j.texts["facts.md"], sections: sections, tokens: 1024 + 160*len(statements)}
	verdicts, h, err := ask(ctx, j, q, standings(len(statements)))
	if err != nil {
		return h.on(eval.Score{}), err
	}
	return h.on(g.score(verdicts)), nil
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
func (g *facts) score(verdicts []standing) eval.Score {
	scores := make([]eval.Score, len(verdicts))
	wrong := map[string][]string{} // statements by what is wrong with them
	met := 0
	var reasoning []string
	statements := g.statements()
	for i, part := range g.checks() {
		v := verdicts[i]
		wanted := i < len(g.ExpectedFacts)
		scores[i] = opinion(scoreOf(part, eval.PassIf((v.verdict == stated) == wanted, "%s", v.verdict)), v.reasoning)
		if scores[i].Status == eval.Pass {
			met++
		} else {
			wrong[v.verdict] = append(wrong[v.verdict], statements[i])
		}
		reasoning = append(reasoning, fmt.Sprintf("%d. %s: %s", i+1, v.verdict, v.reasoning))
	}
	share := float64(met) / float64(len(verdicts))
	passes := met == len(verdicts)
	if g.Threshold != nil {
		passes = share >= *g.Threshold
	}
	s := eval.PassIf(passes, "%s", g.reason(met, len(verdicts), wrong))
	s.Value, s.Checks = share, scores
	if !passes && len(wrong[absent])+len(wrong[denied]) == 0 {
		s.Mode = forbiddenClaim
	}
	return s.Detail("reasoning", strings.Join(reasoning, "\n"))
}

func (g *facts) reason(met, total int, wrong map[string][]string) string {
	reason := fmt.Sprintf("%d of %s as wanted", met, counted(total, "statement"))
	if g.Threshold != nil {
		reason += fmt.Sprintf(" (%s)", bounds(g.Threshold, nil))
	}
	for _, w := range []struct{ verdict, said string }{{absent, "missing"}, {denied, "denied"}, {stated, "claimed"}} {
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

// standings asks for a verdict on each of n statements.
func standings(n int) form[[]standing] {
	return form[[]standing]{
		name: "verdicts",
		schema: `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object","properties":{` +
			`"index":{"type":"integer"},"reasoning":{"type":"string"},"verdict":{"type":"string","enum":["stated","denied","absent"]}},` +
			`"required":["index","reasoning","verdict"],"additionalProperties":false}}},"required":["verdicts"],"additionalProperties":false}`,
		words: fmt.Sprintf(`- "verdicts": list of %d objects, one for each statement, in order, each with these members in this order:
  - "index": the statement's number.
  - "reasoning": string. Where the answer speaks of it, in a sentence, before you decide.
  - "verdict": "stated", "denied" or "absent".`, n),
		read: func(m members) ([]standing, error) { return readStandings(m, n) },
	}
}

// readStandings wants each statement judged once, and no other.
func readStandings(m members, n int) ([]standing, error) {
	var list []json.RawMessage
	if err := m.value("verdicts", '[', "a list", &list); err != nil {
		return nil, err
	}
	out := make([]standing, n)
	for _, raw := range list {
		if raw[0] != '{' {
			return nil, fmt.Errorf("the judge's verdicts hold %s, want objects", typeOf(raw))
		}
		one, err := readMembers(string(raw))
		if err != nil {
			return nil, err
		}
		index, err := one.whole("index")
		switch {
		case err != nil:
			return nil, err
		case index < 1 || index > n:
			return nil, fmt.Errorf("the judge's reply has a verdict on statement %d, and there are %d", index, n)
		case out[index-1].verdict != "":
			return nil, fmt.Errorf("the judge's reply has two verdicts on statement %d", index)
		}
		s := &out[index-1]
		if s.reasoning, err = one.text("reasoning"); err != nil {
			return nil, err
		}
		if s.verdict, err = one.oneOf("verdict", []string{stated, denied, absent}); err != nil {
			return nil, err
		}
	}
	if i := slices.IndexFunc(out, func(s standing) bool { return s.verdict == "" }); i >= 0 {
		return nil, fmt.Errorf("the judge's reply has no verdict on statement %d", i+1)
	}
	return out, nil
}
