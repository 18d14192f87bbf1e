package suite

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
)

// judgedFields are the parts of expected that are wholly or partly judged by a
// model.
type judgedFields struct {
	Criteria          prose            `yaml:"criteria" jsonschema:"what a good answer says and does, for the judge; of a test about a skill it makes composite_quality, of a challenge coding_composite"`
	ExpectRefusal     *bool            `yaml:"expectRefusal" jsonschema:"the question is out of the skill's bounds (true), or in them (false): makes boundary_adherence of the criteria"`
	RequiredImports   []keyword        `yaml:"requiredImports" jsonschema:"packages that the answer's program must import" check:"max=1000"`
	RequiredPatterns  []keyword        `yaml:"requiredPatterns" jsonschema:"what the program must have: a text, re:… for a regular expression, call:… for a call" check:"max=1000"`
	ForbiddenPatterns []keyword        `yaml:"forbiddenPatterns" jsonschema:"what the program must not have, written as in requiredPatterns" check:"max=1000"`
	GroundTruth       groundTruth      `yaml:"groundTruth" jsonschema:"facts that the answer must state, and claims it must not make"`
	CodeRequirements  codeRequirements `yaml:"codeRequirements" jsonschema:"what the answer's code must and must not have"`
	UseLLMJudge       *bool            `yaml:"useLLMJudge" jsonschema:"false leaves out what a judge would be asked for; true wants there to be something"`
	Compat            string           `yaml:"compat" jsonschema:"score as another tool does, its mistakes included" check:"enum=langchain-1.0"`
}

type groundTruth struct {
	ExpectedFacts        []keyword `yaml:"expectedFacts" jsonschema:"facts that the answer must state" check:"max=100"`
	ForbiddenClaims      []keyword `yaml:"forbiddenClaims" jsonschema:"claims that the answer must not make" check:"max=100"`
	AcceptableVariations []keyword `yaml:"acceptableVariations" jsonschema:"other ways of saying the facts that count as well" check:"max=100"`
}

type codeRequirements struct {
	MustInclude       []keyword `yaml:"mustInclude" jsonschema:"what the code must have: a text, re:… for a regular expression, call:… for a call" check:"max=1000"`
	MustNotInclude    []keyword `yaml:"mustNotInclude" jsonschema:"what the code must not have, written as in mustInclude" check:"max=1000"`
	ExpectedStructure prose     `yaml:"expectedStructure" jsonschema:"how the code must be built, for the judge"`
}

// prose is text for a judge.
type prose struct{ text }

// DecodeNode reads the text.
func (p *prose) DecodeNode(d *kind.Decoder, n *yaml.Node) { p.decode(d, n, "the text") }

// words are the texts of a list.
func words(list []keyword) (out []string) {
	for _, k := range list {
		out = append(out, k.Value)
	}
	return out
}

// judged adds the checks that the judged parts of expected stand for.
func (l *loader) judged(n *yaml.Node, e *expected, input json.RawMessage, each bool, list *checklist) {
	add := func(c *eval.Check) {
		grade.Verify(l.d, n, c)
		l.share(list, checkID{c.Key, string(c.Rule())}, c.Pos, func(eval.Pos) *eval.Check { return c })
	}
	judge := e.UseLLMJudge == nil || *e.UseLLMJudge
	before := len(list.checks)
	if judge {
		l.criteria(n, e, input, each, add)
	}
	if coded(e) && !composed(list.checks[before:]) {
		add(grade.CodeValidation(words(e.RequiredImports), words(e.RequiredPatterns), words(e.ForbiddenPatterns), e.Compat, l.pos(n)))
	}
	g := &e.GroundTruth
	if facts := len(g.ExpectedFacts) + len(g.ForbiddenClaims); facts > 0 && judge {
		add(grade.Facts(words(g.ExpectedFacts), words(g.ForbiddenClaims), words(g.AcceptableVariations), l.pos(n)))
	} else if facts == 0 && len(g.AcceptableVariations) > 0 {
		l.d.Errorf(n, "acceptableVariations without expectedFacts or forbiddenClaims says nothing")
	}
	c := &e.CodeRequirements
	structure := c.ExpectedStructure.Value
	if !judge {
		structure = ""
	}
	if len(c.MustInclude)+len(c.MustNotInclude) > 0 || structure != "" {
		add(grade.CodeRequirements(words(c.MustInclude), words(c.MustNotInclude), structure, l.pos(n)))
	}
	if e.UseLLMJudge != nil && *e.UseLLMJudge && len(list.checks) == before {
		l.d.Errorf(n, "useLLMJudge is true, and there is nothing for a judge: give criteria, groundTruth or codeRequirements")
	}
}

// coded tells whether something is asked of the answer's code that needs no
// judge.
func coded(e *expected) bool {
	return len(e.RequiredImports)+len(e.RequiredPatterns)+len(e.ForbiddenPatterns) > 0
}

// composed tells whether it is part of a composite already.
func composed(checks []*eval.Check) bool {
	return slices.ContainsFunc(checks, func(c *eval.Check) bool { return grade.Mentions(c, "code_validation") })
}

// criteria adds the check that criteria stand for: what it is depends on what
// is asked.
func (l *loader) criteria(n *yaml.Node, e *expected, input json.RawMessage, each bool, add func(*eval.Check)) {
	name, challenge := skillOf(input)
	text := e.Criteria.Value
	switch {
	case e.ExpectRefusal != nil && text == "":
		l.d.Errorf(n, "expectRefusal needs criteria: what the judge is to look for")
	case e.ExpectRefusal != nil:
		add(grade.Boundary(text, *e.ExpectRefusal, l.pos(n)))
	case challenge && text != "":
		add(grade.Coding(text, words(e.RequiredImports), words(e.RequiredPatterns), words(e.ForbiddenPatterns), e.Compat, l.pos(n)))
	case text != "" && (name != "" || each):
		add(grade.Quality(text, e.Compat, l.pos(n)))
	case text != "":
		add(grade.Criteria(text, l.pos(n)))
	}
}
