package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/skill"
)

// SkillFile answers a case with the skill file it names, as it stands: what the
// structural checks look at.
type SkillFile struct {
	skills *skill.Library
}

var skillFileKind = kind.Kind[Target]{
	Name: "skillfile",
	Doc:  "The skill file itself, for checks of its form; no model is asked.",
	Explain: "The case's `input` names the skill: `skill`, the path of its SKILL.md from the folder of skills, which is `--skills`, " +
		"or `skills` in mettle.yaml. The answer is the file's text.",
	Example: "type: skillfile\n",
	New:     func() Target { return new(SkillFile) },
}

// Needs says that skills are read.
func (t *SkillFile) Needs() Needs { return Needs{Skills: true} }

// Use takes the skills.
func (t *SkillFile) Use(s Supplies) error {
	t.skills = s.Skills
	return nil
}

// Estimate is zero: no model is asked.
func (t *SkillFile) Estimate(*eval.Case) (llm.Tokens, error) { return llm.Tokens{}, nil }

// CheckCase wants a skill.
func (t *SkillFile) CheckCase(c *eval.Case) error {
	in, err := skillInputOf(c)
	if err != nil {
		return err
	}
	return in.check()
}

// Respond reads the file.
func (t *SkillFile) Respond(_ context.Context, a *eval.Attempt) (*eval.Response, error) {
	in, err := skillInputOf(a.Case)
	if err != nil {
		return nil, err
	}
	d, err := in.open(t.skills)
	if err != nil {
		return nil, err
	}
	return &eval.Response{Text: d.Text, Meta: skillMeta(d)}, nil
}

// Describe says where the skills are from.
func (t *SkillFile) Describe() map[string]string {
	return map[string]string{"type": "skillfile", "skills": t.skills.Where()}
}

// skillInput is the input of a case about a skill.
type skillInput struct {
	Skill     string `json:"skill"`
	Question  string `json:"question"`
	Challenge string `json:"challenge"`
}

func skillInputOf(c *eval.Case) (in skillInput, err error) {
	if c.Input == nil {
		return in, nil
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return in, fmt.Errorf("read the case's input: %w", err)
	}
	return in, nil
}

func (in *skillInput) check() error {
	if in.Skill == "" {
		return errors.New("the input names no skill: write skill: <path of a SKILL.md>, or eachSkill beside the input")
	}
	return nil
}

func (in *skillInput) open(l *skill.Library) (*skill.Document, error) {
	if l == nil {
		return nil, errors.New("no folder of skills is known: give --skills")
	}
	d, err := l.Open(in.Skill)
	if err != nil {
		return nil, &fault{err, "skill"}
	}
	return d, nil
}

// skillMeta is what graders are told of the skill.
func skillMeta(d *skill.Document) map[string]any {
	meta := map[string]any{"skill": d.Name()}
	if lang := d.Language(); lang != "" {
		meta["language"] = lang
	}
	return meta
}
