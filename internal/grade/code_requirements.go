package grade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// codeRequirements looks for patterns in the answer's code, and asks a judge
// about its structure.
type codeRequirements struct {
	MustInclude       []string `yaml:"mustInclude" json:"mustInclude,omitempty" jsonschema:"what the code must have: text, re: and a regular expression, or call: and a function's name" check:"max=200"`
	MustNotInclude    []string `yaml:"mustNotInclude" json:"mustNotInclude,omitempty" jsonschema:"what the code must not have, in the same forms" check:"max=200"`
	ExpectedStructure string   `yaml:"expectedStructure" json:"expectedStructure,omitempty" jsonschema:"how the code is to be built, in words, for a judge"`
	In                string   `yaml:"in" json:"in,omitempty" jsonschema:"where text is looked for: in code alone, or in its comments and strings too" check:"enum=code|all,default=code"`
	rubric

	include, exclude []*codeMatcher
}

var codeRequirementsKind = kind.Kind[eval.Grader]{
	Name: "code_requirements",
	Doc:  "The answer's code has what it must, nothing it must not, and the expected structure.",
	Mode: "unmet code requirement",
	Explain: "`mustInclude` and `mustNotInclude` are looked for in the code of the answer, without a judge: as text that stands in it, case counting; " +
		"as a regular expression after `re:`; as a call of a function or method after `call:`. Comments and strings do not count unless " +
		"`in: all`. `expectedStructure` is put to the judge, who scores it from 0 to 1; it passes from `threshold` on, 0.5 if not given.\n\n" +
		"Each is a check of its own inside this one (`include:`, `exclude:`, `structure`), and all must pass; the value is the share that did. " +
		"Without a judge the structure is skipped, visibly, and the rest decides.\n\n" + judgeDoc,
	Example: `- type: code_requirements
  mustInclude: ["@method", "call:Provable.if"]
  mustNotInclude: ["re:\\bany\\b"]
  expectedStructure: One class that extends SmartContract, with its state declared before its methods.
`,
	New: func() eval.Grader { return new(codeRequirements) },
}

// Check wants something to look for, and patterns that compile.
func (g *codeRequirements) Check() error {
	errs := []error{g.checkModel(), checkTexts("mustInclude", g.MustInclude), checkTexts("mustNotInclude", g.MustNotInclude)}
	if len(g.MustInclude)+len(g.MustNotInclude) == 0 && trim(g.ExpectedStructure) == "" {
		errs = append(errs, errors.New("give mustInclude, mustNotInclude or expectedStructure"))
	}
	for i, p := range g.MustNotInclude {
		if slices.Contains(g.MustInclude, p) {
			errs = append(errs, fieldErrorf(fmt.Sprintf("mustNotInclude[%d]", i), "%s must stand in the code and must not", quote(p)))
		}
	}
	var err error
	g.include, err = compileMatchers("mustInclude", g.MustInclude)
	errs = append(errs, err)
	g.exclude, err = compileMatchers("mustNotInclude", g.MustNotInclude)
	return errors.Join(append(errs, err)...)
}

func compileMatchers(field string, patterns []string) (out []*codeMatcher, err error) {
	var errs []error
	for i, p := range patterns {
		m, err := compileMatcher(p)
		if err != nil {
			errs = append(errs, fieldErrorf(fmt.Sprintf("%s[%d]", field, i), "%w", err))
		}
		out = append(out, m)
	}
	return out, errors.Join(errs...)
}

// Dear tells whether a judge is asked.
func (g *codeRequirements) Dear() bool { return g.ExpectedStructure != "" }

func (g *codeRequirements) Grade(ctx context.Context, c *eval.Case, r *eval.Response) (eval.Score, error) {
	blocks := answerCode(r)
	var scores []eval.Score
	for i, m := range g.include {
		line, err := m.find(blocks)
		scores = append(scores, g.looked("include:", g.MustInclude[i], line, line > 0, err))
	}
	for i, m := range g.exclude {
		line, err := m.find(blocks)
		scores = append(scores, g.looked("exclude:", g.MustNotInclude[i], line, line == 0, err))
	}
	if trim(g.ExpectedStructure) != "" {
		scores = append(scores, g.structure(ctx, c, r, len(blocks) > 0))
	}
	distinctKeys(scores)
	s, err := atLeast(len(scores), scores)
	if err == nil {
		s.Value = passedShare(scores)
	}
	return s, err
}

// looked is the score of a pattern that was looked for.
func (g *codeRequirements) looked(prefix, text string, line int, ok bool, err error) eval.Score {
	s := eval.PassIf(ok, "not in the code")
	switch {
	case err != nil:
		s = eval.Score{Status: eval.Unscored, Reason: err.Error()}
	case line > 0:
		s.Reason = fmt.Sprintf("at line %d", line)
	}
	return partOf("code_pattern", prefix, text, codeRequirementsKind.Mode, s)
}

// structure asks the judge, if there is code to ask about.
func (g *codeRequirements) structure(ctx context.Context, c *eval.Case, r *eval.Response, hasCode bool) eval.Score {
	check := &eval.Check{
		Key: "structure", Kind: "code_structure", Weight: 1, Severity: eval.ErrorSeverity, Mode: codeRequirementsKind.Mode,
		Grader: eval.GraderFunc(func(ctx context.Context, c *eval.Case, r *eval.Response) (eval.Score, error) {
			sections := withSection(nil, "question", question(c))
			sections = append(sections, section{"structure", g.ExpectedStructure}, section{"answer", r.Text})
			return g.grade(ctx, "structure.md", sections)
		}),
	}
	if !hasCode {
		check.Grader = eval.GraderFunc(func(context.Context, *eval.Case, *eval.Response) (eval.Score, error) {
			return eval.PassIf(false, "no code in the answer"), nil
		})
	}
	return check.Grade(ctx, c, r)
}

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
