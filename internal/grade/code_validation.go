package grade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// codeValidation measures the program in an answer: whether it parses, imports
// what it must, and uses what it must and not what it must not.
type codeValidation struct {
	RequiredImports   []string `yaml:"requiredImports" json:"requiredImports,omitempty" jsonschema:"packages the code must import; anything inside a package counts for it"`
	RequiredPatterns  []string `yaml:"requiredPatterns" json:"requiredPatterns,omitempty" jsonschema:"what the code must have: a piece of code, call:name, re:expression or text:anywhere"`
	ForbiddenPatterns []string `yaml:"forbiddenPatterns" json:"forbiddenPatterns,omitempty" jsonschema:"what the code must not have, in the same forms"`
	Language          string   `yaml:"language" json:"language,omitempty" jsonschema:"language of the code; that of the skill if not given, TypeScript for js"`
	Threshold         *float64 `yaml:"threshold" json:"threshold,omitempty" jsonschema:"lowest score that passes, from 0 to 1, where not everything has to be met" check:"min=0,max=1"`

	required, forbidden []*code.Pattern
}

var codeValidationKind = kind.Kind[eval.Grader]{
	Name:   "code_validation",
	Graded: true,
	Doc:    "The program in the answer parses, imports and uses what it must, and nothing it must not.",
	Mode:   "invalid code",
	Explain: `The score is 0.3 × syntax + 0.3 × imports + 0.2 × required patterns + 0.2 × forbidden patterns. Syntax is 1 when every block
of the language parses and 0 otherwise; the others are the share of their list that is met, and 1 when the list is empty. Each is a
score of its own in reports: ` + "`syntax`, `required_imports`, `required_patterns`, `forbidden_patterns`" + `. An answer without code in the
language, because it has none, only an empty block, or code in another language, scores 0.

What is required is required: a block that does not parse, a missing import or pattern, or a forbidden pattern fails the check,
whatever the score. With ` + "`threshold`" + ` the score alone decides.

The code is what the answer's fenced blocks of the language hold; JavaScript counts as TypeScript. Blocks that name no language count when
they parse, an answer without any fence is read as code when it looks like code, and blocks of other languages, such as the
command that installs a package, are left alone.

A package is imported by itself and by anything inside it, case counting: ` + "`@langchain/core`" + ` by ` + "`import … from \"@langchain/core/tools\"`" + `,
require, dynamic imports and export … from; ` + "`langchain_core`" + ` by ` + "`from langchain_core.tools import tool`" + `.

A pattern is a piece of code such as ` + "`.invoke(`" + `, found whatever white space is inside it. ` + "`call:graph.compile`" + ` finds calls of that name and no
definitions, ` + "`re:`" + ` a JavaScript regular expression, case counting. Comments never count. What is in strings counts only for a pattern
that has a quote in it; any quote stands for all. ` + "`text:`" + ` finds text anywhere, comments and strings included.`,
	Example: `- type: code_validation
  language: typescript
  requiredImports: ["@langchain/core"]
  requiredPatterns: [".invoke(", "call:createAgent"]
  forbiddenPatterns: ['re:new\s+AgentExecutor']
`,
	New: func() eval.Grader { return new(codeValidation) },
}

// Check wants patterns that can be searched for, and a language that can be
// parsed.
func (g *codeValidation) Check() error {
	var errs []error
	for i, name := range g.RequiredImports {
		if strings.TrimSpace(name) == "" {
			errs = append(errs, fieldErrorf(fmt.Sprintf("requiredImports[%d]", i), "the import is empty"))
		}
	}
	var err error
	g.required, err = parsePatterns("requiredPatterns", g.RequiredPatterns)
	errs = append(errs, err)
	g.forbidden, err = parsePatterns("forbiddenPatterns", g.ForbiddenPatterns)
	errs = append(errs, err)
	if g.Language != "" {
		errs = append(errs, (&codeSyntax{Language: g.Language}).Check())
	}
	return errors.Join(errs...)
}

func parsePatterns(field string, texts []string) (out []*code.Pattern, err error) {
	var errs []error
	for i, text := range texts {
		p, err := code.ParsePattern(text)
		if err != nil {
			errs = append(errs, fieldErrorf(fmt.Sprintf("%s[%d]", field, i), "%w", err))
			continue
		}
		out = append(out, p)
	}
	return out, errors.Join(errs...)
}

// language is what the answer's code must be written in.
func (g *codeValidation) language(r *eval.Response) (string, error) {
	if g.Language != "" {
		return code.Canonical(g.Language), nil
	}
	meta, _ := r.Meta["language"].(string)
	switch lang := code.Canonical(meta); {
	case lang == "":
		return "", errors.New("it is not known which language the code is to be in: give language")
	case lang == "javascript":
		return "typescript", nil
	case !parsed(lang):
		return "", fmt.Errorf("there is no parser for the skill's language %q", meta)
	default:
		return lang, nil
	}
}

func (g *codeValidation) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	lang, err := g.language(a.Response)
	if err != nil {
		return eval.Score{}, err
	}
	answer := code.ReadAnswer(a.Response.Text, lang)
	if len(answer.Blocks) == 0 {
		return noCode(answer), nil
	}
	scores := []eval.Score{
		syntaxPart.score(syntaxScore(ctx, answer, a.Env)),
		importsPart.score(g.importScore(answer)),
		requiredPart.score(patternScore(answer, g.required, true)),
		forbiddenPart.score(patternScore(answer, g.forbidden, false)),
	}
	s, err := g.total(scores)
	s = s.Detail("language", lang)
	if len(answer.Notes) > 0 {
		s = s.Detail("notes", answer.Notes)
	}
	return s, err
}

// codePart is one of the four scores that make the whole.
type codePart struct {
	key    string
	weight float64
	mode   string
}

var (
	syntaxPart    = codePart{"syntax", 0.3, "invalid code"}
	importsPart   = codePart{"required_imports", 0.3, "missing import"}
	requiredPart  = codePart{"required_patterns", 0.2, "missing pattern"}
	forbiddenPart = codePart{"forbidden_patterns", 0.2, "forbidden pattern"}
)

func (p codePart) score(s eval.Score) eval.Score {
	s.Key, s.Kind, s.Weight, s.Severity = p.key, p.key, p.weight, eval.ErrorSeverity
	if s.Status != eval.Pass {
		s.Mode = p.mode
	}
	return s
}

// noCode is the score of an answer that does not have what is to be validated.
func noCode(a *code.Answer) eval.Score {
	reason := fmt.Sprintf("no %s code in the answer", a.Lang)
	if other := a.Foreign(); other != "" {
		reason = fmt.Sprintf("the answer's code is %s, want %s", other, a.Lang)
	}
	scores := make([]eval.Score, 0, 4)
	for _, p := range []codePart{syntaxPart, importsPart, requiredPart, forbiddenPart} {
		p.mode = missingCode
		scores = append(scores, p.score(eval.PassIf(false, "%s", reason)))
	}
	s := eval.PassIf(false, "%s", reason)
	s.Mode = missingCode
	return gather(s, scores).Detail("language", a.Lang)
}

// total weighs the parts. Without a threshold each of them must pass; with one
// the score alone decides. A part that could not be decided leaves the whole
// undecided where it could change the verdict.
func (g *codeValidation) total(scores []eval.Score) (eval.Score, error) {
	const tiny = 1e-9
	var sum, scored float64
	var failed, open []string
	for _, s := range scores {
		switch {
		case !s.Counts():
			open = append(open, s.Key+": "+s.Reason)
			continue
		case s.Status == eval.Fail:
			failed = append(failed, s.Key+": "+s.Reason)
		}
		sum += s.Weight * s.Value
		scored += s.Weight
	}
	passes, undecided := len(failed) == 0, len(failed) == 0 && len(open) > 0
	if g.Threshold != nil {
		passes = sum >= *g.Threshold-tiny
		undecided = len(open) > 0 && (scored < tiny || !passes && sum+1-scored >= *g.Threshold-tiny)
	}
	if undecided {
		return gather(eval.Score{}, scores), fmt.Errorf("the score is from %.2f to %.2f; %s", sum, sum+1-scored, some(open))
	}
	s := eval.PassIf(passes, "code validation %.2f", sum/scored)
	if g.Threshold != nil {
		s = judged(passes, s.Reason, bounds(g.Threshold, nil))
	}
	s.Value = min(sum/scored, 1)
	if len(failed) > 0 {
		s.Reason += "; " + some(failed)
	}
	return gather(s, scores), nil
}

// syntaxScore is full when every block parses.
func syntaxScore(ctx context.Context, a *code.Answer, env *eval.Env) eval.Score {
	var findings []eval.Finding
	bad, open := 0, 0
	checkers := map[string]bool{}
	for _, b := range a.Blocks {
		problems, v := checkBlock(ctx, env, b)
		switch {
		case !v.Checked:
			open++
		case len(v.Problems) > 0:
			bad++
		}
		findings = append(findings, problems...)
		checkers[v.Checker] = true
	}
	what := counted(len(a.Blocks), a.Lang+" block")
	var s eval.Score
	switch {
	case bad > 0:
		s = eval.PassIf(false, "%d of %s not valid: line %d: %s", bad, what, findings[0].Pos.Line, oneLine(findings[0].Message, 2*shown))
	case open > 0:
		s = eval.Score{Status: eval.Unscored, Reason: fmt.Sprintf("%d of %s could not be judged", open, what)}
	default:
		s = eval.PassIf(true, "%s, all valid", what)
	}
	s.Findings = findings
	return s.Detail("checker", strings.Join(slices.Sorted(maps.Keys(checkers)), ", "))
}

// importScore is the share of the required imports that the code has.
func (g *codeValidation) importScore(a *code.Answer) eval.Score {
	var imports []code.Import
	for _, b := range a.Blocks {
		imports = append(imports, code.Imports(b.Lang, b.Text)...)
	}
	var missing []string
	var findings []eval.Finding
	for _, want := range g.RequiredImports {
		met := false
		for _, i := range imports {
			met = met || i.Provides(want)
		}
		if !met {
			missing = append(missing, want)
			findings = append(findings, eval.Finding{Message: "no import of " + quote(want), Pos: eval.Pos{Line: a.Blocks[0].Line, Col: a.Blocks[0].Col}})
		}
	}
	s := share(len(g.RequiredImports)-len(missing), len(g.RequiredImports), "import")
	if len(missing) > 0 {
		s.Reason += "; missing: " + quoteAll(missing)
	}
	s.Findings = findings
	return s
}

// share is the score of a list, in part met; an empty one is met.
func share(met, of int, noun string) eval.Score {
	if of == 0 {
		return eval.PassIf(true, "no %s asked for", noun)
	}
	s := eval.PassIf(met == of, "%d of %s", met, counted(of, noun))
	s.Value = float64(met) / float64(of)
	return s
}

// patternScore is the share of the patterns that are found, or that are not
// when they must not be.
func patternScore(a *code.Answer, patterns []*code.Pattern, wanted bool) eval.Score {
	met := 0
	var wrong []string
	var findings []eval.Finding
	for _, p := range patterns {
		places, err := findPattern(a, p, code.FindOptions{})
		if err != nil {
			return eval.Score{Status: eval.Unscored, Reason: oneLine(err.Error(), 2*shown)}
		}
		if (len(places) > 0) == wanted {
			met++
			continue
		}
		wrong = append(wrong, p.String())
		if wanted {
			findings = append(findings, missingPattern(a, p))
		}
		for _, m := range places {
			findings = append(findings, eval.Finding{Message: "has " + quote(p.String()) + ": " + oneLine(m.Text, shown), Pos: m.Pos})
		}
	}
	s := share(met, len(patterns), "pattern")
	switch {
	case len(patterns) == 0:
	case !wanted:
		s.Reason += " absent"
		if len(wrong) > 0 {
			s.Reason += "; found: " + quoteAll(wrong)
		}
	case len(wrong) > 0:
		s.Reason += "; missing: " + quoteAll(wrong)
	}
	s.Findings = findings
	return s
}

// located is a match with its place in the answer.
type located struct {
	Text string
	Pos  eval.Pos
}

func findPattern(a *code.Answer, p *code.Pattern, o code.FindOptions) (out []located, err error) {
	for _, b := range a.Blocks {
		matches, err := p.Find(b.Lang, b.Text, o)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			line, col := b.Place(m.Line, m.Col)
			out = append(out, located{m.Text, eval.Pos{Line: line, Col: col}})
		}
	}
	return out, nil
}

// missingPattern says of a pattern that was not found whether it stands where it
// does not count.
func missingPattern(a *code.Answer, p *code.Pattern) eval.Finding {
	f := eval.Finding{Message: "no " + quote(p.String()), Pos: eval.Pos{Line: a.Blocks[0].Line, Col: a.Blocks[0].Col}}
	if places, err := findPattern(a, p, code.FindOptions{Everywhere: true}); err == nil && len(places) > 0 {
		f.Message += " but in a comment or a string, where it does not count"
		f.Pos = places[0].Pos
	}
	return f
}
