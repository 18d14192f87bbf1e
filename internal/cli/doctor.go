package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/openai"
	"github.com/mettle-eval/mettle/internal/term"
)

type doctorOptions struct {
	modelOptions
	config  string
	timeout time.Duration
}

func newDoctorCmd(w *World) *cobra.Command {
	o := new(doctorOptions)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell which models can be asked, and what will work",
		Long: "Looks for keys and endpoints, asks the vendors whether they take the key and know\n" +
			"the model, and has the judge answer one small question by a schema. Prints what\n" +
			"will work and what is missing. Costs a few tokens of the judge.",
		Example: "  mettle doctor\n" +
			"  mettle doctor --model anthropic:claude-sonnet-5-5 --judge openai:gpt-6-sol\n" +
			"  mettle doctor --model ollama:qwen3 --judge ollama:gpt-oss",
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.StringVar(&o.Model, "model", "", "model that answers, as provider:model (default: models.answer in mettle.yaml)")
	f.StringVar(&o.Judge, "judge", "", "model that judges, as provider:model (default: models.judge in mettle.yaml)")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "limit of each question to a vendor")
	withEnvironment(w, cmd, func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), w, o) })
	return cmd
}

// examination prints findings and remembers whether something that was asked
// for does not work.
type examination struct {
	w      *World
	broken int
}

func (x *examination) say(ok bool, what, detail string) {
	mark, color := "✓", term.Paint.Green
	if !ok {
		mark, color = "✗", term.Paint.Red
		x.broken++
	}
	fmt.Fprintf(x.w.Stdout, "  %s %-36s %s\n", color(term.Paint(x.w.color(x.w.OutTTY)), mark), what, term.Sanitize(detail))
}

func (x *examination) note(what, detail string) {
	fmt.Fprintf(x.w.Stdout, "  %s %-36s %s\n", term.Paint(x.w.color(x.w.OutTTY)).Dim("-"), what, term.Sanitize(detail))
}

func (x *examination) heading(text string) {
	fmt.Fprintf(x.w.Stdout, "%s\n", term.Paint(x.w.color(x.w.OutTTY)).Bold(text))
}

func runDoctor(ctx context.Context, w *World, o *doctorOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.timeout < 0 {
		return usagef("--timeout is %s, want more than 0", o.timeout)
	}
	cfg, err := loadConfig(w, o.config)
	if err != nil {
		return err
	}
	m, err := newModels(w, &o.modelOptions, cfg, o.timeout)
	if err != nil {
		return err
	}
	x := &examination{w: w}
	x.heading("Configuration")
	if cfg.File == "" {
		x.note("mettle.yaml", "none here or above; defaults hold")
	} else {
		x.say(true, "mettle.yaml", cfg.File)
	}
	x.heading("Keys")
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"} {
		if strings.TrimSpace(w.Getenv(name)) != "" {
			x.say(true, name, "set")
		} else {
			x.note(name, "not set")
		}
	}
	x.heading("Models")
	answers := x.model(ctx, m, "answer", o.Model)
	judges := x.model(ctx, m, "judge", o.Judge)
	if judges {
		judges = x.schema(ctx, m, o.Judge, o.timeout)
	}
	if o.Model != "" && o.Model == o.Judge {
		x.note("judge", "is the model under test: models tend to favour their own answers")
	}
	x.local(ctx, o.timeout)
	x.works(answers, judges)
	if x.broken > 0 {
		return &verdictError{ExitIncomplete}
	}
	return nil
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
			err = m.knock(ctx, client)
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
	x.heading("What will work")
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
