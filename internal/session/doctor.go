package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/openai"
	"github.com/mettle-eval/mettle/internal/term"
)

// DoctorOptions says which models are examined.
type DoctorOptions struct {
	Models
	Config  string
	Timeout time.Duration // of each question to a vendor
}

// Diagnosis is what [Doctor] found, section by section.
type Diagnosis struct {
	Findings []DoctorFinding
	Broken   int // what was asked for and does not work
}

// DoctorFinding is one line of a [Diagnosis].
type DoctorFinding struct {
	Section string
	Mark    DoctorMark
	What    string
	Detail  string
}

// DoctorMark says whether something works.
type DoctorMark int

// What was looked at works, does not, or was not asked for.
const (
	Works DoctorMark = iota
	Fails
	Unset
)

// examination collects findings.
type examination struct {
	Diagnosis
	w       *World
	section string
}

func (x *examination) say(ok bool, what, detail string) {
	mark := Works
	if !ok {
		mark = Fails
		x.Broken++
	}
	x.Findings = append(x.Findings, DoctorFinding{x.section, mark, what, detail})
}

func (x *examination) note(what, detail string) {
	x.Findings = append(x.Findings, DoctorFinding{x.section, Unset, what, detail})
}

// Doctor looks for keys and endpoints, asks the vendors whether they accept the
// key and know the model, and has the judge answer one small question.
func Doctor(ctx context.Context, w *World, o DoctorOptions) (*Diagnosis, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Timeout < 0 {
		return nil, usagef("--timeout is %s, want more than 0", o.Timeout)
	}
	cfg, err := LoadConfig(w, o.Config)
	if err != nil {
		return nil, err
	}
	m, err := newModels(w, &o.Models, cfg, o.Timeout)
	if err != nil {
		return nil, err
	}
	x := &examination{w: w, section: "Configuration"}
	if cfg.File == "" {
		x.note("mettle.yaml", "not found; using defaults")
	} else {
		x.say(true, "mettle.yaml", cfg.File)
	}
	x.section = "Keys"
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"} {
		if strings.TrimSpace(w.Getenv(name)) != "" {
			x.say(true, name, "set")
		} else {
			x.note(name, "not set")
		}
	}
	x.section = "Models"
	answers := x.model(ctx, m, eval.AnswerRole, o.Model)
	judges := x.model(ctx, m, eval.JudgeRole, o.Judge)
	if judges {
		judges = x.schema(ctx, m, o.Judge, o.Timeout)
	}
	if o.Model != "" && o.Model == o.Judge {
		x.note("judge", "is the model under test: models tend to favour their own answers")
	}
	x.local(ctx, o.Timeout)
	x.works(answers, judges)
	return &x.Diagnosis, nil
}

// model checks a model that a role names.
func (x *examination) model(ctx context.Context, m *models, role, name string) bool {
	if name == "" {
		x.note(role, "no model is named: give --"+map[string]string{"answer": "model", "judge": "judge"}[role]+", or models."+role+" in mettle.yaml")
		return false
	}
	spec, err := llm.ParseSpec(name)
	if err == nil {
		var client vendorModel
		if client, err = m.client(spec); err == nil {
			err = m.check(ctx, client)
		}
	}
	if err != nil {
		x.say(false, role, strings.TrimSuffix(err.Error()+": "+m.hint(name, llm.ClassOf(err)), ": "))
		return false
	}
	price := "price unknown: give prices in mettle.yaml for --budget in dollars"
	if p, ok := m.prices.Of(spec); ok && p.Local {
		price = "costs nothing"
	} else if ok {
		price = fmt.Sprintf("$%g in, $%g out per million tokens (%s)", p.Input, p.Output, p.Date)
	}
	x.say(true, role, name+": reachable; "+price)
	return true
}

// schema has the judge answer by a schema, as judging does.
func (x *examination) schema(ctx context.Context, m *models, name string, limit time.Duration) bool {
	model, err := m.model(name)
	if err == nil {
		own, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		err = answersBySchema(own, model)
	}
	if err != nil {
		x.say(false, "judge answers by schema", err.Error())
		return false
	}
	x.say(true, "judge answers by schema", name)
	return true
}

const doctorSchema = `{"type":"object","properties":{"reasoning":{"type":"string"},"score":{"type":"number"}},"required":["reasoning","score"],"additionalProperties":false}`

func answersBySchema(ctx context.Context, m llm.Model) error {
	reply, err := m.Generate(ctx, &llm.Request{
		System:   "You judge answers. Reply with one JSON object that has reasoning, a short text, and score, a number from 0 to 1.",
		Messages: []llm.Message{{Role: llm.User, Text: "Question: what is two and two? Answer to judge: four."}},
		Schema:   &llm.Schema{Name: "verdict", Schema: json.RawMessage(doctorSchema)}, MaxTokens: 1024,
	})
	if err != nil {
		return err
	}
	var verdict struct {
		Score *float64 `json:"score"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(reply.Text)), &verdict); err != nil || verdict.Score == nil {
		return fmt.Errorf("it gave no verdict but %q (finish: %s)", term.Sanitize(reply.Text[:min(len(reply.Text), 80)]), reply.Finish)
	}
	if *verdict.Score < 0 || *verdict.Score > 1 {
		return fmt.Errorf("its score is %v, want 0 to 1", *verdict.Score)
	}
	return nil
}

// local looks for a model that needs no key.
func (x *examination) local(ctx context.Context, limit time.Duration) {
	own, cancel := context.WithTimeout(ctx, min(limit, 3*time.Second))
	defer cancel()
	client, err := openai.New(openai.Config{Provider: openai.Ollama, BaseURL: ollamaURL(x.w.Getenv("OLLAMA_HOST")), Model: "any"})
	var names []string
	if err == nil {
		names, err = client.Models(own)
	}
	switch {
	case err != nil:
		x.note("ollama", "not running; for models without a key, install it and: ollama pull qwen3")
	case len(names) == 0:
		x.note("ollama", "running, without a model: ollama pull qwen3")
	default:
		slices.Sort(names)
		x.say(true, "ollama", fmt.Sprintf("running, with %s: ollama:%s", count(len(names), "model"), strings.Join(names, ", ollama:")))
	}
}

// works says what can be run.
func (x *examination) works(answers, judges bool) {
	x.section = "What will work"
	x.say(true, "mettle lint, mettle run structural", "needs no model")
	x.say(true, "mettle run mina, solana, cosmos", "needs no model; checks by a judge are "+map[bool]string{true: "judged", false: "skipped"}[judges])
	const suites = "mettle run quality, coding, …"
	switch {
	case answers && judges:
		x.say(true, suites, "quality, coding, negative, python")
	case answers:
		x.note(suites, "needs a judge: --judge, or models.judge in mettle.yaml")
	case judges:
		x.note(suites, "needs a model: --model, or models.answer in mettle.yaml")
	default:
		x.note(suites, "needs a model and a judge: --model and --judge")
	}
}
