package grade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
)

// codeRequirements looks for patterns in the answer's code, and asks a judge
// about its structure.
type codeRequirements struct {
	MustInclude       []string `yaml:"mustInclude" json:"mustInclude,omitempty" jsonschema:"what the code must have: a piece of code, call:name, re:expression or text:anywhere" check:"max=200"`
	MustNotInclude    []string `yaml:"mustNotInclude" json:"mustNotInclude,omitempty" jsonschema:"what the code must not have, in the same forms" check:"max=200"`
	ExpectedStructure string   `yaml:"expectedStructure" json:"expectedStructure,omitempty" jsonschema:"how the code is to be built, in words, for a judge"`
	In                string   `yaml:"in" json:"in,omitempty" jsonschema:"where text is looked for: in code alone, or in its comments and strings too" check:"enum=code|all,default=code"`
	rubric

	include, exclude []*code.Pattern
	skip             string // why the structure is not judged
}

var codeRequirementsKind = kind.Kind[eval.Grader]{
	Name:   "code_requirements",
	Graded: true,
	Doc:    "The answer's code has what it must, nothing it must not, and the expected structure.",
	Mode:   "unmet code requirement",
	Explain: "`mustInclude` and `mustNotInclude` are looked for in the code of the answer, without a judge, in the forms that `code_validation` " +
		"has: a piece of code, `call:` and the name of a function, `re:` and a regular expression, `text:` anywhere. Comments and what strings say " +
		"do not count unless `in: all`. All blocks of the answer count, and an answer without any that looks like code. `expectedStructure` is shown to the judge, who scores it from 0 to 1; it passes from `threshold` on, 0.7 if not given.\n\n" +
		"Each is a check of its own inside this one (`include:`, `exclude:`, `structure`), and all must pass; the value is the share that did. " +
		"Without a judge the structure is skipped, visibly, and the rest decides.\n\n" + askedDoc,
	Example: `- type: code_requirements
  mustInclude: ["@method", "call:Provable.if"]
  mustNotInclude: ["re:\\bany\\b"]
  expectedStructure: One class that extends SmartContract, with its state declared before its methods.
`,
	New: func() eval.Grader { return new(codeRequirements) },
}

// Check wants something to look for, and patterns that compile.
func (g *codeRequirements) Check() error {
	errs := []error{g.checkModel(), checkRepeats("mustInclude", g.MustInclude), checkRepeats("mustNotInclude", g.MustNotInclude)}
	if len(g.MustInclude)+len(g.MustNotInclude) == 0 && trim(g.ExpectedStructure) == "" {
		errs = append(errs, errors.New("give mustInclude, mustNotInclude or expectedStructure"))
	}
	for i, p := range g.MustNotInclude {
		if slices.Contains(g.MustInclude, p) {
			errs = append(errs, fieldErrorf(fmt.Sprintf("mustNotInclude[%d]", i), "%s must stand in the code and must not", quote(p)))
		}
	}
	var err error
	g.include, err = parsePatterns("mustInclude", g.MustInclude)
	errs = append(errs, err)
	g.exclude, err = parsePatterns("mustNotInclude", g.MustNotInclude)
	return errors.Join(append(errs, err)...)
}

// Expensive tells whether a judge is asked.
func (g *codeRequirements) Expensive() bool { return trim(g.ExpectedStructure) != "" }

// Bounded tells the same: what is looked for without a judge is soon found.
func (g *codeRequirements) Bounded() bool { return g.Expensive() }

// calls: one, about the structure.
func (g *codeRequirements) calls() int {
	if g.Expensive() {
		return 1
	}
	return 0
}

// checks lists what is looked for, and the structure.
func (g *codeRequirements) checks() []*eval.Check {
	var out []*eval.Check
	for _, text := range g.MustInclude {
		out = append(out, partCheck("code_pattern", "include:", text, "missing pattern"))
	}
	for _, text := range g.MustNotInclude {
		out = append(out, partCheck("code_pattern", "exclude:", text, "forbidden pattern"))
	}
	if g.Expensive() {
		out = append(out, partCheck("code_structure", "structure", "", codeRequirementsKind.Mode))
	}
	uniqueKeys(out)
	return out
}

func (g *codeRequirements) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	answer := &code.Answer{Blocks: answerCode(a.Response)}
	var scores []eval.Score
	for i, part := range g.checks() {
		switch {
		case i < len(g.include):
			scores = append(scores, g.looked(part, g.include[i], answer, true))
		case i < len(g.include)+len(g.exclude):
			scores = append(scores, g.looked(part, g.exclude[i-len(g.include)], answer, false))
		default:
			scores = append(scores, g.structure(ctx, part, a, len(answer.Blocks) > 0))
		}
	}
	s, err := atLeast(len(scores), scores)
	if err == nil && s.Status != eval.Skip {
		s.Value = passedShare(scores)
	}
	return s, err
}

// looked is the score of a pattern that was looked for.
func (g *codeRequirements) looked(part *eval.Check, p *code.Pattern, a *code.Answer, wanted bool) eval.Score {
	places, err := findPattern(a, p, code.FindOptions{Everywhere: g.In == "all"})
	if err != nil {
		return scoreOf(part, eval.Score{Status: eval.Unscored, Reason: oneLine(err.Error(), 2*shown)})
	}
	s := eval.PassIf(len(places) > 0 == wanted, "not in the code")
	switch {
	case len(places) > 0:
		s.Reason = fmt.Sprintf("at line %d: %s", places[0].Pos.Line, oneLine(places[0].Text, shown))
	case len(a.Blocks) == 0:
		s.Reason = noCodeReason
	}
	if s.Status == eval.Pass {
		return scoreOf(part, s)
	}
	for _, m := range places {
		s.Findings = append(s.Findings, eval.Finding{Message: "has " + quote(p.String()) + ": " + oneLine(m.Text, shown), Pos: m.Pos})
	}
	if wanted && len(a.Blocks) > 0 {
		f := missingPattern(a, p)
		s.Reason, s.Findings = f.Message, []eval.Finding{f}
	}
	return scoreOf(part, s)
}

const noCodeReason = "no code in the answer"

// structure asks the judge, if there is code to ask about.
func (g *codeRequirements) structure(ctx context.Context, part *eval.Check, a *eval.Attempt, hasCode bool) eval.Score {
	part.Skip = g.skip
	part.Grader = eval.GraderFunc(func(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
		if !hasCode {
			return eval.PassIf(false, noCodeReason), nil
		}
		sections := judge.Sections{}.WithAny(judge.QuestionSection, judge.CaseQuestion(a.Case)).
			With(judge.StructureSection, g.ExpectedStructure).With(judge.AnswerSection, a.Response.Text)
		return g.grade(ctx, a, "structure.md", sections)
	})
	return part.Grade(ctx, a)
}

// skipJudged leaves the structure out: the run has no judge.
func (g *codeRequirements) skipJudged(why string) { g.skip = why }

// passedShare is the share of passes among scores with a verdict.
func passedShare(scores []eval.Score) float64 {
	var passed, total float64
	for _, s := range scores {
		if s.Counts() {
			total++
		}
		if s.Status == eval.Pass {
			passed++
		}
	}
	if total == 0 {
		return 0
	}
	return passed / total
}
