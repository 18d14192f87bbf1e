package target

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/skill"
)

// Skill asks a model that has the skill as its only context.
type Skill struct {
	ModelName   string   `yaml:"model" json:"model,omitempty" jsonschema:"the model to ask, as provider:model; without it the run's (--model, or models.answer in mettle.yaml)"`
	Temperature *float64 `yaml:"temperature" json:"temperature,omitempty" jsonschema:"how freely the model chooses its words; without it the vendor's default" check:"min=0,max=2"`
	MaxTokens   int      `yaml:"maxTokens" json:"maxTokens,omitempty" jsonschema:"longest answer, in tokens; one that is cut off there is an error and no verdict" check:"min=1,default=8192"`

	given Supplies
}

const defaultMaxTokens = 8192

var skillKind = kind.Kind[Target]{
	Name: "skill",
	Doc:  "A model that has one skill as its only context.",
	Explain: "The case's `input` has `skill`, the path of a SKILL.md from the folder of skills (`--skills`, or `skills` in mettle.yaml), and " +
		"either `question` or `challenge`. The skill's text goes into the system prompt (`skill.md`), the question is the user's turn; a " +
		"challenge is wrapped by `challenge.md`, which asks for a complete program. Both prompts can be replaced: see `prompts` in mettle.yaml.\n\n" +
		"A refusal is an answer and is judged, whether the model or the filter of its vendor declined, and whatever the vendor calls it. An answer that was cut off or is empty is an error: it says nothing about the skill.",
	Example: "type: skill\nmodel: anthropic:claude-sonnet-5-5\n",
	New:     func() Target { return new(Skill) },
}

//go:embed prompts/*.md
var prompts embed.FS

// Prompts lists the digests of the prompts in use, by file name.
func Prompts(overrides fs.FS) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range []string{skillPrompt, challengePrompt} {
		text, err := promptText(overrides, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(text))
		out[name] = hex.EncodeToString(sum[:8])
	}
	return out, nil
}

const (
	skillPrompt     = "skill.md"
	challengePrompt = "challenge.md"
)

// promptText is a prompt, from the overrides if they have it.
func promptText(overrides fs.FS, name string) (string, error) {
	if overrides != nil {
		b, err := fs.ReadFile(overrides, name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return string(b), err
		}
	}
	b, err := fs.ReadFile(prompts, "prompts/"+name)
	return string(b), err
}

// Check wants the name of a model to be one.
func (t *Skill) Check() error {
	if t.ModelName == "" {
		return nil
	}
	if _, err := llm.ParseSpec(t.ModelName); err != nil {
		return &kind.FieldError{Field: "model", Err: err}
	}
	return nil
}

// Needs says that a model is asked about skills.
func (t *Skill) Needs() Needs { return Needs{Model: true, ModelName: t.ModelName, Skills: true} }

// Use takes the model, the skills and the prompts.
func (t *Skill) Use(s Supplies) error {
	t.given = s
	return nil
}

// Bounded says that the schedule of model calls bounds them: waiting for a turn
// is not being late.
func (t *Skill) Bounded() bool { return true }

// CheckCase wants a skill and something to ask about it.
func (t *Skill) CheckCase(c *eval.Case) error {
	in, err := skillInputOf(c)
	if err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	if (in.Question == "") == (in.Challenge == "") {
		return errors.New("the input needs either a question or a challenge")
	}
	return nil
}

// Prepare makes sure that the prompts can be read and take the skill.
func (t *Skill) Prepare(context.Context, *eval.Env, []*eval.Case) error {
	for name, part := range map[string]string{skillPrompt: "{{skill}}", challengePrompt: "{{challenge}}"} {
		text, err := promptText(t.given.Prompts, name)
		switch {
		case err != nil:
			return &eval.Missing{What: []string{fmt.Sprintf("prompt %s: %v", name, err)}}
		case !strings.Contains(text, part):
			return &eval.Missing{What: []string{fmt.Sprintf("prompt %s has no %s", name, part)}}
		}
	}
	return nil
}

// Estimate tells how much the model reads, and about how much it writes.
func (t *Skill) Estimate(c *eval.Case) (llm.Tokens, error) {
	req, _, err := t.prepared(c)
	if err != nil {
		return llm.Tokens{}, err
	}
	tokens := llm.Estimate(req)
	tokens.Output = min(TypicalAnswer, tokens.Output)
	return tokens, nil
}

func (t *Skill) prepared(c *eval.Case) (*llm.Request, *skill.Document, error) {
	in, err := skillInputOf(c)
	if err != nil {
		return nil, nil, err
	}
	d, err := in.open(t.given.Skills)
	if err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(d.Text) == "" { // the answer would be the model's own
		return nil, nil, &fault{fmt.Errorf("the skill %s is empty: an answer would say nothing about it", in.Skill), "skill"}
	}
	req, err := t.request(in, d)
	return req, d, err
}

// Respond asks the model.
func (t *Skill) Respond(ctx context.Context, a *eval.Attempt) (*eval.Response, error) {
	req, d, err := t.prepared(a.Case)
	if err != nil {
		return nil, err
	}
	reply, err := llm.Ask(ctx, a, eval.ModelEvent, t.given.ModelName, t.given.Model, req)
	if err != nil {
		return nil, modelFault(err)
	}
	if err := whole(reply, req.MaxTokens); err != nil {
		return nil, &paidFault{err, &reply.Usage}
	}
	meta := skillMeta(d)
	if declined(reply) {
		meta["finish"] = string(llm.Refusal)
	}
	r := &eval.Response{
		Text: replyText(reply), Context: d.Text, Meta: meta, Model: reply.Model, Usage: &reply.Usage, Latency: reply.Latency,
		Steps: []eval.Step{{ID: "1", Kind: eval.MessageStep, Name: t.given.ModelName, Start: reply.Start, Duration: reply.Latency, Usage: &reply.Usage}},
	}
	if reply.Tries > 1 {
		r.Attempts = reply.Tries
	}
	return r, nil
}

func (t *Skill) request(in skillInput, d *skill.Document) (*llm.Request, error) {
	system, err := promptText(t.given.Prompts, skillPrompt)
	if err != nil {
		return nil, err
	}
	user := in.Question
	if in.Challenge != "" {
		if user, err = promptText(t.given.Prompts, challengePrompt); err != nil {
			return nil, err
		}
	}
	fill := strings.NewReplacer("{{language}}", languageName(d.Language()), "{{challenge}}", in.Challenge, "{{skill}}", d.Text)
	req := &llm.Request{
		System: fill.Replace(system), CacheSystem: true, Temperature: t.Temperature, MaxTokens: t.MaxTokens,
		Messages: []llm.Message{{Role: llm.User, Text: user}},
	}
	if in.Challenge != "" {
		req.Messages[0].Text = fill.Replace(user)
	}
	if req.MaxTokens == 0 {
		req.MaxTokens = defaultMaxTokens
	}
	return req, nil
}

// languageName is a skill's language as a prompt says it.
func languageName(language string) string {
	switch language {
	case "js":
		return "TypeScript"
	case "python":
		return "Python"
	case "":
		return "the skill's language"
	}
	return language
}

// whole finds replies that say nothing about the skill.
func whole(reply *llm.Reply, maxTokens int) error {
	switch {
	case reply.Finish == llm.Truncated:
		return &fault{fmt.Errorf("the answer was cut off after %d tokens (maxTokens is %d): nothing can be said of it", reply.Usage.Output, maxTokens), "truncated"}
	case declined(reply):
		return nil
	case strings.TrimSpace(reply.Text) == "":
		return &fault{fmt.Errorf("the model gave an empty answer (finish: %s)", reply.Finish), "empty"}
	}
	return nil
}

// paidFault is a reply that says nothing and was paid for all the same.
type paidFault struct {
	error
	used *eval.Usage
}

func (f *paidFault) Unwrap() error { return f.error }

// Used tells the core what it cost.
func (f *paidFault) Used() *eval.Usage { return f.used }

// declined tells whether the model or its vendor would not answer. What one
// vendor calls a refusal another calls a content filter. Either way it is what a
// user gets: an answer, which is judged.
func declined(reply *llm.Reply) bool {
	return reply.Finish == llm.Refusal || reply.Finish == llm.Filtered
}

func replyText(reply *llm.Reply) string {
	if strings.TrimSpace(reply.Text) == "" && declined(reply) {
		return "(the model refused to answer" + strings.TrimSuffix(": "+reply.Refused, ": ") + ")"
	}
	return reply.Text
}

// modelFault tells the core the class of a model's error.
func modelFault(err error) error {
	if class := llm.ClassOf(err); class != "" {
		return &fault{err, string(class)}
	}
	return err
}

// Describe says what answers.
func (t *Skill) Describe() map[string]string {
	return map[string]string{"type": "skill", "model": t.given.ModelName, "skills": t.given.Skills.Where()}
}
