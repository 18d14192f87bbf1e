package session

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/anthropic"
	"github.com/mettle-eval/mettle/internal/llm/openai"
	"github.com/mettle-eval/mettle/internal/llm/tape"
	"github.com/mettle-eval/mettle/internal/secret"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
)

// models makes the models that a run asks, each once. All models of a key
// share its schedule.
type models struct {
	w       *World
	cfg     *suite.Config
	opts    *Models
	try     time.Duration // limit of one try; 0 for the default
	prices  llm.Prices
	budget  *llm.Budget      // nil for none
	tape    *tape.Tape       // nil for none
	replay  *manifest        // of the recording that is replayed
	prompts fs.FS            // replace our own; nil for none
	secrets *secret.Redactor // of the environment, and of the settings of targets and models

	mu      sync.Mutex
	keys    map[string]*llm.Scheduler
	made    map[string]llm.Model
	clients map[string]vendorModel  // of those that are made, without what is around them
	named   map[string]func() error // whether judges that checks name can be asked
	once    sync.Once
	unready error // what was found at the first call
}

// newModels makes ready what a run may need of models. Nothing is asked.
func newModels(w *World, o *Models, cfg *suite.Config, try time.Duration) (m *models, err error) {
	m = &models{
		w: w, cfg: cfg, opts: o, try: try, secrets: secret.FromEnviron(w.Environ), keys: map[string]*llm.Scheduler{}, made: map[string]llm.Model{},
		clients: map[string]vendorModel{}, named: map[string]func() error{},
	}
	if err := m.openTape(); err != nil {
		return nil, &UsageError{err}
	}
	o.settle(cfg)
	m.prices = m.knownPrices()
	if m.prompts, err = promptFolder(cfg); err != nil {
		return nil, err
	}
	if o.Budget != "" {
		if m.budget, err = llm.ParseBudget(o.Budget); err != nil {
			return nil, usagef("--budget: %w", err)
		}
	}
	return m, nil
}

// knownPrices are those of mettle.yaml before those the program knows. The
// answers of an endpoint that is one's own cost nothing.
func (m *models) knownPrices() llm.Prices {
	local := llm.Prices{"ollama:*": {Local: true}}
	for name, e := range m.cfg.Endpoints {
		if e.Local {
			local[llm.Spec{Provider: llm.Compatible, Model: "*", Endpoint: name}.String()] = llm.Price{Local: true}
		}
	}
	return llm.DefaultPrices().With(local).With(m.cfg.Prices)
}

func (m *models) openTape() (err error) {
	o := m.opts
	switch {
	case o.Record != "":
		m.tape, err = tape.Open(m.w.Abs(o.Record), tape.Record)
	case o.Cache != "":
		m.tape, err = tape.Open(m.w.Abs(o.Cache), tape.Cache)
	case o.Replay != "":
		if m.tape, err = tape.Open(m.w.Abs(o.Replay), tape.Replay); err != nil {
			return err
		}
		if m.replay, err = readManifest(m.tape, o.Replay); err != nil {
			return err
		}
		o.Model = cmp.Or(o.Model, first(m.replay.Models.Of(eval.AnswerRole)))
		o.Judge = cmp.Or(o.Judge, first(m.replay.Models.Of(eval.JudgeRole)))
	}
	if m.tape != nil {
		m.tape.Redact = m.secrets
	}
	return err
}

// model gives the model with a name, ready to be asked: the tape first, then
// the budget, the price, and the schedule around the vendor's client.
func (m *models) model(name string) (llm.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, ok := m.made[name]; ok {
		return made, nil
	}
	spec, err := llm.ParseSpec(name)
	if err != nil {
		return nil, err
	}
	var made llm.Model
	if m.replay == nil {
		client, err := m.client(spec)
		if err != nil {
			return nil, err
		}
		client = &discreetModel{client, m.secrets}
		asked := llm.Model(client)
		if m.budget != nil {
			if asked, err = m.budget.Wrap(spec, m.prices, client); err != nil {
				return nil, err
			}
		}
		m.clients[name] = &checkedModel{client, asked}
		made = m.prices.Wrap(spec, m.scheduler(spec).Wrap(client))
		if m.budget != nil {
			if made, err = m.budget.Wrap(spec, m.prices, made); err != nil {
				return nil, err
			}
		}
	}
	if m.opts.Cache != "" {
		made = m.atFirst(made)
	}
	if m.tape != nil {
		made = m.tape.Wrap(spec, made)
	}
	if m.replay != nil {
		made = m.replay.watched(made)
	}
	m.made[name] = made
	return made, nil
}

// client is the vendor's client for a model. Keys and addresses are taken from
// the environment here and nowhere else.
func (m *models) client(spec llm.Spec) (vendorModel, error) {
	switch spec.Provider {
	case "anthropic":
		key, err := m.key(spec, "ANTHROPIC_API_KEY")
		if err != nil {
			return nil, err
		}
		return anthropic.New(anthropic.Config{Key: key, BaseURL: m.w.Getenv("ANTHROPIC_BASE_URL"), Model: spec.Model})
	case "openai":
		key, err := m.key(spec, "OPENAI_API_KEY")
		if err != nil {
			return nil, err
		}
		return openai.New(openai.Config{Provider: "openai", Key: key, BaseURL: m.w.Getenv("OPENAI_BASE_URL"), Model: spec.Model})
	case "ollama":
		return openai.New(openai.Config{Provider: "ollama", BaseURL: ollamaURL(m.w.Getenv("OLLAMA_HOST")), Model: spec.Model})
	}
	return m.endpoint(spec)
}

// vendorModel is a model that can be checked without being asked anything.
type vendorModel interface {
	llm.Model
	Check(ctx context.Context) error
}

// checkedModel is a model as it is checked: what that costs counts.
type checkedModel struct {
	vendorModel
	charged llm.Model
}

// Generate asks under the budget.
func (c *checkedModel) Generate(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	return c.charged.Generate(ctx, req)
}

func (m *models) key(spec llm.Spec, variable string) (string, error) {
	key := strings.TrimSpace(m.w.Getenv(variable))
	if key == "" {
		return "", &eval.Missing{What: []string{fmt.Sprintf("%s is not set, and %s needs a key; a local model needs none: ollama:<model>", variable, spec)}}
	}
	m.secrets.AddVariable(variable, key)
	return key, nil
}

// endpoint is a model of a server that mettle.yaml names.
func (m *models) endpoint(spec llm.Spec) (vendorModel, error) {
	e, ok := m.cfg.Endpoints[spec.Endpoint]
	if !ok {
		near := ""
		if n := kind.Near(spec.Endpoint, slices.Sorted(maps.Keys(m.cfg.Endpoints))); n != "" {
			near = fmt.Sprintf(" (did you mean %q?)", n)
		}
		return nil, &eval.Missing{What: []string{fmt.Sprintf("%s: mettle.yaml names no endpoint %q%s", spec, spec.Endpoint, near)}}
	}
	address, err := target.Expanded(e.URL, m.w.LookupEnv, m.secrets)
	if err != nil {
		return nil, err
	}
	key, err := target.Expanded(e.Key, m.w.LookupEnv, m.secrets)
	if err != nil {
		return nil, err
	}
	return openai.New(openai.Config{Provider: spec.Provider, Key: strings.TrimSpace(key), BaseURL: address, Model: spec.Model})
}

// ollamaURL is where Ollama listens, given what OLLAMA_HOST says: a host, a
// port, or an address.
func ollamaURL(host string) string {
	if host == "" {
		return ""
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return host // the client finds the words
	}
	if u.Port() == "" {
		u.Host += ":11434"
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if !strings.HasSuffix(u.Path, "/v1") {
		u.Path += "/v1"
	}
	return u.String()
}

// scheduler is that of a model's key. m.mu is held.
func (m *models) scheduler(spec llm.Spec) *llm.Scheduler {
	key := cmp.Or(spec.Endpoint, spec.Provider)
	if s, ok := m.keys[key]; ok {
		return s
	}
	limit := m.cfg.Limits[key]
	s := llm.NewScheduler(llm.Pace{
		Concurrency: limit.Concurrency, RequestsPerMinute: limit.RequestsPerMinute, TokensPerMinute: limit.TokensPerMinute, Timeout: m.try,
	}, nil)
	s.Note = func(text string) { m.w.notef("%s: %s", key, text) }
	m.keys[key] = s
	return s
}

// supply adds the model of a target, and the prompts it is asked with.
func (m *models) supply(to *target.Supplies, needs target.Needs, s *eval.Suite) error {
	asked := cmp.Or(needs.ModelName, m.opts.Model)
	if asked == "" {
		return &eval.Missing{What: []string{"the suite " + s.Name + " needs a model. " + HowToGetAModel}}
	}
	if m.opts.Judge == "" && slices.ContainsFunc(s.Cases, needsJudge) {
		return &eval.Missing{What: []string{"the suite " + s.Name + " needs a judge: give --judge provider:model, or models.judge in mettle.yaml; it may be the model under test, and the report then says so"}}
	}
	model, err := m.model(asked)
	if err != nil {
		return err
	}
	to.ModelName, to.Model, to.Prompts = asked, model, m.prompts
	return nil
}

// HowToGetAModel is the advice to somebody whose run needs a model.
const HowToGetAModel = "Give --model and --judge, such as --model anthropic:claude-sonnet-5-5 --judge openai:gpt-6-sol " +
	"with their keys in ANTHROPIC_API_KEY and OPENAI_API_KEY, or a local one: --model ollama:qwen3 --judge ollama:gpt-oss. " +
	"mettle doctor tells what works."

// judges makes what judge checks are handed. The run's own judge is made only
// if some case asks it.
func (m *models) judges(ctx context.Context, cases []*eval.Case) (*judge.Judges, error) {
	j := &judge.Judges{Prompts: m.prompts, Answer: m.opts.Model, Name: m.opts.Judge}
	j.Named = func(name string) (llm.Model, error) { return m.readyNamed(ctx, name) }
	if m.opts.Judge == "" || !slices.ContainsFunc(cases, needsJudge) {
		return j, nil
	}
	var err error
	j.Default, err = m.model(m.opts.Judge)
	return j, err
}

// describe says in a run's header which models it asks, and with what prompts.
func (m *models) describe(head *eval.Header, p *Plan) error {
	head.Models, head.Prompts = nil, map[string]string{}
	add := func(use eval.ModelUse) {
		if !slices.Contains(head.Models, use) {
			head.Models = append(head.Models, use)
		}
	}
	judges := false
	for _, c := range p.loaded.cases() {
		if t, ok := p.env.Targets[c.Target].(target.Target); ok && t.Needs().Model {
			add(eval.ModelUse{Role: eval.AnswerRole, Model: cmp.Or(t.Needs().ModelName, m.opts.Model), Target: c.Target})
		}
		if m.opts.Judge != "" && needsJudge(c) {
			add(eval.ModelUse{Role: eval.JudgeRole, Model: m.opts.Judge})
		}
		for _, name := range grade.NamedJudges(c.Checks) {
			add(eval.ModelUse{Role: eval.JudgeRole, Model: name})
		}
		judges = judges || judged(c) && (m.opts.Judge != "" || !needsJudge(c))
	}
	if len(head.Models.Of(eval.AnswerRole)) > 0 {
		prompts, err := target.Prompts(m.prompts)
		if err != nil {
			return usagef("%s: prompts: %w", m.cfg.File, err)
		}
		maps.Copy(head.Prompts, prompts)
	}
	if judges {
		maps.Copy(head.Prompts, judge.Digests(m.prompts))
	}
	return nil
}

// folder is the name of the folder that a run is kept in. A replayed run has
// the id of the recorded one, and a folder of its own.
func (m *models) folder(id string) string {
	if m.replay == nil {
		return id
	}
	return id + "-replay"
}

// judged tells whether any check of a case asks a judge, the run's or its own.
func judged(c *eval.Case) bool {
	return slices.ContainsFunc(c.Checks, func(check *eval.Check) bool { return grade.JudgeCalls(check) > 0 })
}

// needsJudge tells whether any check of a case asks the run's judge.
func needsJudge(c *eval.Case) bool { return slices.ContainsFunc(c.Checks, grade.NeedsJudge) }

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// promptFolder is the folder of prompts that go before our own, nil for none.
func promptFolder(cfg *suite.Config) (fs.FS, error) {
	if cfg.Prompts == "" {
		return nil, nil
	}
	folder := within(cfg.Dir, cfg.Prompts)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, usagef("%s: prompts: %s is not a folder", cfg.File, cfg.Prompts)
	}
	return os.DirFS(folder), nil
}
