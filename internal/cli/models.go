package cli

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

	"github.com/spf13/pflag"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/anthropic"
	"github.com/mettle-eval/mettle/internal/llm/openai"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
)

// modelOptions says which models a run asks, what may be spent on them, and
// where exchanges are kept.
type modelOptions struct {
	Model  string `json:"model,omitempty"`
	Judge  string `json:"judge,omitempty"`
	Budget string `json:"budget,omitempty"`
	Record string `json:"record,omitempty"`
	Replay string `json:"replay,omitempty"`
	Cache  string `json:"cache,omitempty"`
}

const defaultCache = ".mettle/cache"

func (o *modelOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Model, "model", "", "model that answers cases about skills, as provider:model: anthropic, openai, ollama, openai-compatible:model@endpoint")
	o.judgeFlags(f)
}

// judgeFlags are those of commands that judge and ask for no answer.
func (o *modelOptions) judgeFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Judge, "judge", "", "model that judges answers, as provider:model; there is none unless it is named")
	f.StringVar(&o.Budget, "budget", "", "most the run may spend, such as 5usd, '200k tokens' or 30m; several joined by a comma")
	f.StringVar(&o.Record, "record", "", "folder to keep every exchange with models and servers in")
	f.StringVar(&o.Replay, "replay", "", "folder of a recording to take every exchange from; nobody is asked")
	f.StringVar(&o.Cache, "cache", "", "folder to take answers from that were given before, and to keep new ones in (default "+defaultCache+" when given without one)")
	f.Lookup("cache").NoOptDefVal = defaultCache
}

// judgedBy takes what was given anew for judging. Folders are meant from where
// the person is now.
func (o *modelOptions) judgedBy(anew *modelOptions, w *World) {
	o.Judge = cmp.Or(anew.Judge, o.Judge)
	if anew.Replay != "" {
		o.Judge = anew.Judge // the recording knows who was asked
	}
	o.Budget = anew.Budget
	o.Record, o.Replay, o.Cache = "", "", ""
	for from, to := range map[*string]*string{&anew.Record: &o.Record, &anew.Replay: &o.Replay, &anew.Cache: &o.Cache} {
		if *from != "" {
			*to = w.abs(*from)
		}
	}
}

func (o *modelOptions) check() error {
	n := 0
	for _, s := range []string{o.Record, o.Replay, o.Cache} {
		if s != "" {
			n++
		}
	}
	if n > 1 {
		return usagef("--record, --replay and --cache exclude each other")
	}
	for flag, name := range map[string]string{"model": o.Model, "judge": o.Judge} {
		if name == "" {
			continue
		}
		if _, err := llm.ParseSpec(name); err != nil {
			return usagef("--%s: %w", flag, err)
		}
	}
	return nil
}

// settleModels fills in from the config what the command line left open.
func (o *modelOptions) settleModels(cfg *suite.Config) {
	o.Model = cmp.Or(o.Model, cfg.Answer)
	o.Judge = cmp.Or(o.Judge, cfg.Judge)
	o.Budget = cmp.Or(o.Budget, cfg.Budget)
}

// models makes the models that a run asks, each once. All models of a key
// share its schedule.
type models struct {
	w       *World
	cfg     *suite.Config
	opts    *modelOptions
	try     time.Duration // limit of one try; 0 for the default
	prices  llm.Prices
	budget  *llm.Budget // nil for none
	tape    *llm.Tape   // nil for none
	replay  *manifest   // of the recording that is replayed
	prompts fs.FS       // go before our own; nil for none

	checkers *code.Checkers // programs that check code; nil for none

	mu      sync.Mutex
	keys    map[string]*llm.Scheduler
	made    map[string]llm.Model
	clients map[string]vendorModel  // of those that are made, without what is around them
	named   map[string]func() error // whether judges that checks name can be asked
	once    sync.Once
	unready error // what was found at the first call
}

// newModels makes ready what a run may need of models. Nothing is asked.
func newModels(w *World, o *modelOptions, cfg *suite.Config, try time.Duration) (m *models, err error) {
	m = &models{
		w: w, cfg: cfg, opts: o, try: try, keys: map[string]*llm.Scheduler{}, made: map[string]llm.Model{},
		clients: map[string]vendorModel{}, named: map[string]func() error{},
	}
	if err := m.openTape(); err != nil {
		return nil, &usageError{err}
	}
	o.settleModels(cfg)
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
		m.tape, err = llm.OpenTape(m.w.abs(o.Record), llm.Record)
	case o.Cache != "":
		m.tape, err = llm.OpenTape(m.w.abs(o.Cache), llm.Cache)
	case o.Replay != "":
		if m.tape, err = llm.OpenTape(m.w.abs(o.Replay), llm.Replay); err != nil {
			return err
		}
		if m.replay, err = readManifest(m.tape, o.Replay); err != nil {
			return err
		}
		o.Model = cmp.Or(o.Model, m.replay.Models["answer"])
		o.Judge = cmp.Or(o.Judge, m.replay.Models["judge"])
	}
	if m.tape != nil {
		m.tape.Redact = m.w.redactor()
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
		client = m.discreet(spec, client)
		m.clients[name] = client
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

func (m *models) key(spec llm.Spec, variable string) (string, error) {
	key := strings.TrimSpace(m.w.Getenv(variable))
	if key == "" {
		return "", &eval.Missing{What: []string{fmt.Sprintf("%s is not set, and %s needs a key; a local model needs none: ollama:<model>", variable, spec)}}
	}
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
	address, err := target.Expanded(e.URL, m.w.LookupEnv)
	if err != nil {
		return nil, err
	}
	key, err := target.Expanded(e.Key, m.w.LookupEnv)
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
	s.Note = func(text string) {
		if m.w.ErrTTY {
			m.w.printf("\r\x1b[K") // the progress line, which is drawn again
		}
		m.w.printf("%s\n", report.Sanitize(key+": "+text))
	}
	m.keys[key] = s
	return s
}

// attach gives a target of a suite what it needs of models, and puts the run's
// tape between a server and the run.
func (m *models) attach(name string, t eval.Target, s *eval.Suite) (eval.Target, error) {
	user, ok := t.(target.ModelUser)
	if !ok {
		if _, reads := t.(target.SkillReader); reads || m.tape == nil {
			return t, nil
		}
		return &target.Recorded{Name: name, Target: t, Tape: m.tape, Taping: taping(m.tape.Mode())}, nil
	}
	asked := cmp.Or(user.Model(), m.opts.Model)
	if asked == "" {
		return t, &eval.Missing{What: []string{"the suite " + s.Name + " needs a model. " + howToGetAModel}}
	}
	if m.opts.Judge == "" && slices.ContainsFunc(s.Cases, needsJudge) {
		return t, &eval.Missing{What: []string{"the suite " + s.Name + " needs a judge: give --judge provider:model, or models.judge in mettle.yaml; it may be the model under test, and the report then says so"}}
	}
	model, err := m.model(asked)
	if err != nil {
		return t, err
	}
	user.UseModel(asked, model)
	user.UsePrompts(m.prompts)
	return t, nil
}

// judgeMade makes the run's judge, if it has work to do, and tells what it is missing.
func (m *models) judgeMade(l *loaded) error {
	if m.opts.Judge == "" || !slices.ContainsFunc(l.Suites, func(s *eval.Suite) bool { return slices.ContainsFunc(s.Cases, needsJudge) }) {
		return nil
	}
	_, err := m.model(m.opts.Judge)
	return err
}

func taping(mode llm.TapeMode) target.Taping {
	switch mode {
	case llm.Replay:
		return target.Replaying
	case llm.Cache:
		return target.Caching
	}
	return target.Recording
}

// describe puts into the run's header which models it asks, by role, with what
// prompts, and which programs check code.
func (m *models) describe(head *eval.Header, l *loaded) error {
	if err := m.findCheckers(); err != nil {
		return err
	}
	head.Models, head.Prompts, head.Checkers = map[string]string{}, map[string]string{}, m.checkers.Describe()
	judges := false
	for _, s := range l.Suites {
		for _, c := range s.Cases {
			if user, ok := l.named(c.Target).(target.ModelUser); ok {
				head.Models["answer"] = cmp.Or(user.Model(), m.opts.Model)
			}
			if m.opts.Judge != "" && needsJudge(c) {
				head.Models["judge"] = m.opts.Judge
			}
			judges = judges || judged(c) && (m.opts.Judge != "" || !needsJudge(c))
		}
	}
	if head.Models["answer"] != "" {
		prompts, err := target.Prompts(m.prompts)
		if err != nil {
			return usagef("%s: prompts: %w", m.cfg.File, err)
		}
		maps.Copy(head.Prompts, prompts)
	}
	if judges {
		maps.Copy(head.Prompts, grade.PromptDigests(m.prompts))
	}
	return nil
}

// findCheckers finds the programs that mettle.yaml names.
func (m *models) findCheckers() (err error) {
	if m.checkers, err = code.NewCheckers(m.cfg.Checkers, grade.PassedOn(m.w.Environ)); err != nil {
		return &eval.Missing{What: strings.Split(fmt.Sprintf("%s: checkers: %v", m.cfg.File, err), "\n")}
	}
	return nil
}

// sameCheckers wants the programs that the first part of a run was checked with.
func (m *models) sameCheckers(prior *eval.Run) error {
	if err := m.findCheckers(); err != nil {
		return err
	}
	if now := m.checkers.Describe(); !maps.Equal(prior.Checkers, now) {
		return usagef("run %s cannot be resumed: its code was checked by %s, now it would be by %s", prior.ID, code.DescribeCheckers(prior.Checkers), m.checkers)
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

// around gives a run its judges, and what records or replays it.
func (m *models) around(ctx context.Context, runner *eval.Runner, head *eval.Header) (context.Context, error) {
	judges := &grade.Judges{Prompts: m.prompts, Answer: m.opts.Model, Name: m.opts.Judge}
	judges.Named = func(name string) (llm.Model, error) { return m.readyNamed(ctx, name) }
	if m.opts.Judge != "" && head.Models["judge"] != "" {
		judge, err := m.model(m.opts.Judge)
		if err != nil {
			return nil, err
		}
		judges.Default = judge
	}
	if !m.lazy() {
		if err := m.ready(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case m.replay != nil:
		m.replay.replayed(runner, head)
	case m.opts.Record != "":
		runner.Sinks = append(runner.Sinks, newRecording(m.tape, runner.Prior))
	}
	return grade.WithCheckers(grade.WithJudges(ctx, judges), m.checkers), nil
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
