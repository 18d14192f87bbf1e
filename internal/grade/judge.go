package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
)

// judgeCheck asks a judge about anything.
type judgeCheck struct {
	Criteria  string   `yaml:"criteria" json:"criteria" jsonschema:"what a good answer is like" check:"required,min=1"`
	Scale     string   `yaml:"scale" json:"scale,omitempty" jsonschema:"what the judge answers: a number from 0 to 1, true or false, or one of some words" check:"enum=continuous|boolean|choices,default=continuous"`
	Choices   []choice `yaml:"choices" json:"choices,omitempty" jsonschema:"the words of the scale, best or worst first, each with its value from 0 to 1" check:"max=20"`
	Reference string   `yaml:"reference" json:"reference,omitempty" jsonschema:"an answer known to be good, to compare with"`
	Context   *bool    `yaml:"context" json:"context,omitempty" jsonschema:"show the judge what the answer was to be taken from, such as the skill" check:"default=false"`
	Prompt    string   `yaml:"prompt" json:"prompt,omitempty" jsonschema:"file with the instructions to the judge, from the suite's folder, instead of the built-in ones"`
	rubric

	dir  string
	task string // what the prompt file says
	form judge.Form[judge.Grade]
}

const (
	booleanScale = "boolean"
	choiceScale  = "choices"
)

var judgeKind = kind.Kind[eval.Grader]{
	Name:   "judge",
	Graded: true,
	Doc:    "A judge finds that the answer meets the criteria.",
	Mode:   "criteria not met",
	Explain: "`scale` is what the judge answers. `continuous`: a score from 0 to 1. `boolean`: true, which passes with the value 1, or false. " +
		"`choices`: one of the words in `choices`, whose value is then the score.\n\n" + scoreDoc +
		"The judge sees the question, the criteria, the `reference` where there is one, and the answer; with `context: true` also what the answer " +
		"was to be taken from. `prompt` names a file with instructions of your own: they come before the material, and what keeps the judge to " +
		"its task and its form of reply is put around them in any case. Its digest is in the details.\n\n" + judgeDoc,
	Example: `- type: judge
  criteria: The tone is friendly, and the answer ends with a next step.
  scale: choices
  choices:
    - both: 1
    - one of the two: 0.5
    - neither: 0
`,
	New: func() eval.Grader { return new(judgeCheck) },
}

func (g *judgeCheck) place(dir string) { g.dir = dir }

// Check reads the prompt and makes the scale ready.
func (g *judgeCheck) Check() error {
	errs := []error{g.checkModel(), g.checkScale()}
	if g.Prompt != "" {
		data, err := suiteFile(g.dir, g.Prompt, judge.MaxPrompt)
		if err == nil {
			g.task, err = judge.ParsePrompt(data)
		}
		if err != nil {
			errs = append(errs, fieldErrorf("prompt", "%w", err))
		}
	}
	switch g.Scale {
	case booleanScale:
		g.form = judge.Boolean
	case choiceScale:
		g.form = judge.Choosing(choicesOf(g.Choices))
	default:
		g.form = judge.Continuous
	}
	return errors.Join(errs...)
}

func (g *judgeCheck) checkScale() error {
	var errs []error
	if g.Scale == booleanScale && g.Threshold != nil {
		errs = append(errs, fieldErrorf("threshold", "threshold has no meaning for scale: boolean, where true passes"))
	}
	switch {
	case g.Scale != choiceScale && len(g.Choices) > 0:
		errs = append(errs, fieldErrorf("choices", "choices have a meaning for scale: choices only"))
	case g.Scale == choiceScale && len(g.Choices) < 2:
		errs = append(errs, fieldErrorf("choices", "scale: choices wants two choices or more"))
	}
	for i, c := range g.Choices {
		if slices.ContainsFunc(g.Choices[:i], func(other choice) bool { return other.Name == c.Name }) {
			errs = append(errs, fieldErrorf(fmt.Sprintf("choices[%d]", i), "the choice %s stands twice", quote(c.Name)))
		}
	}
	return errors.Join(errs...)
}

func (g *judgeCheck) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	sections := judge.Sections{}.WithAny(judge.QuestionSection, judge.CaseQuestion(a.Case))
	if on(g.Context, false) {
		sections = sections.WithAny(judge.ContextSection, a.Response.Context)
	}
	sections = sections.With(judge.CriteriaSection, g.Criteria).WithAny(judge.ReferenceSection, g.Reference).With(judge.AnswerSection, a.Response.Text)
	s, err := g.ask(ctx, a, g.form, sections, func(j *judge.Judge) string {
		if g.task != "" {
			return g.task
		}
		return j.Prompt("judge.md")
	})
	if g.task != "" && s.Status != eval.Skip {
		s = s.Detail("prompt", judge.Digest(g.task))
	}
	return s, err
}

// choice is a word of a scale and its value: a mapping of one to the other.
type choice judge.Choice

func choicesOf(list []choice) []judge.Choice {
	out := make([]judge.Choice, len(list))
	for i, c := range list {
		out[i] = judge.Choice(c)
	}
	return out
}

// DecodeNode reads the mapping.
func (c *choice) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	list, ok := d.Members(n, "a choice")
	if !ok {
		return
	}
	if len(list) != 1 {
		d.Errorf(n, "a choice is one word and its value, such as good: 1; this has %d", len(list))
		return
	}
	before := len(d.Problems)
	c.Name = strings.Clone(list[0].Key.Value) // not the whole file with it
	d.Decode(list[0].Value, &c.Value, c.Name)
	switch {
	case len(d.Problems) > before:
	case c.Value < 0 || c.Value > 1:
		d.Errorf(list[0].Value, "the value of %s is %s, want 0 to 1", quote(c.Name), decimal(c.Value))
	case trim(c.Name) != c.Name || c.Name == "" || len(c.Name) > shown || strings.ContainsAny(c.Name, "\n\""):
		d.Errorf(list[0].Key, "%s is no choice: want a short text without quotes, line ends or spaces at its ends", quote(c.Name))
	}
}

// JSONSchema is that of the mapping.
func (choice) JSONSchema() kind.Schema {
	return kind.Schema{
		"type": "object", "minProperties": 1, "maxProperties": 1,
		"additionalProperties": kind.Schema{"type": "number", "minimum": 0, "maximum": 1},
	}
}

// MarshalJSON writes the mapping.
func (c choice) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]float64{c.Name: c.Value})
}
