// Package openai makes [llm.Model]s of OpenAI's models and of every server
// that speaks the same chat completions: Ollama, vLLM, llama.cpp, LM Studio,
// OpenRouter, Gemini's compatible endpoint, gateways.
//
// It stands on the vendor's own Go client. The client's services are made one
// by one rather than through its Client: that one reads keys, addresses and
// headers from the environment, and mettle uses only what it is handed. The
// client's retries are off, because the scheduler owns them.
//
// Compatible servers take less than the original. What one turns down is left
// out from then on (see habits), the reply's notes say so, and a schema is
// asked for in the best of three ways the server takes: as a strict schema, as
// "any JSON object" with the schema in words, or in words alone.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

// The providers that have an address of their own.
const (
	OpenAI = "openai"
	Ollama = "ollama"
)

// Config says which model to ask, and where.
type Config struct {
	Provider string        // as errors name it: openai, ollama, openai-compatible; openai when empty
	Key      string        // may be empty where none is needed
	BaseURL  string        // with its /v1; needed except for openai and ollama
	Model    string        // as the server names it
	HTTP     *http.Client  // nil for one of our own
	Timeout  time.Duration // of one call; 0 for ten minutes
}

// Model is one model behind chat completions. It is safe for concurrent use.
type Model struct {
	config Config
	base   *url.URL
	chat   sdk.ChatCompletionService
	models sdk.ModelService

	mu     sync.Mutex
	habits habits
}

var _ llm.Model = (*Model)(nil)

// New makes a model. It speaks to nobody yet.
func New(c Config) (*Model, error) {
	if c.Provider == "" {
		c.Provider = OpenAI
	}
	if c.Model == "" {
		return nil, fmt.Errorf("%s: no model is named", c.Provider)
	}
	base, err := c.endpoint()
	if err == nil {
		err = wire.CheckKey(c.Key)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%s: %w", c.Provider, c.Model, err)
	}
	if c.Timeout == 0 {
		c.Timeout = wire.Timeout
	}
	opts := []option.RequestOption{
		option.WithBaseURL(base.String() + "/"),
		option.WithHTTPClient(wire.Client(c.HTTP)),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(c.Timeout),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	m := &Model{config: c, base: base, chat: sdk.NewChatCompletionService(opts...), models: sdk.NewModelService(opts...)}
	m.habits.completionTokens = c.Provider == OpenAI // the others know the older name
	return m, nil
}

// endpoint is the address the requests go to.
func (c Config) endpoint() (*url.URL, error) {
	switch {
	case c.BaseURL != "":
	case c.Provider == OpenAI && c.Key == "":
		return nil, errors.New("there is no key")
	case c.Provider == OpenAI:
		return wire.BaseURL("https://api.openai.com/v1")
	case c.Provider == Ollama:
		return wire.BaseURL("http://localhost:11434/v1")
	default:
		return nil, errors.New("there is no base URL")
	}
	base, err := wire.BaseURL(c.BaseURL)
	if err == nil && c.Provider == Ollama && base.Path == "" {
		base.Path = "/v1" // Ollama's own settings name the host alone
	}
	return base, err
}

// Generate asks the model. A request that is turned down for a parameter that
// the server does not take is sent again without, see the package's comment.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	for {
		h := m.learned()
		params, err := h.params(req, m.config.Model)
		if err != nil {
			return nil, m.invalid(err)
		}
		x := m.exchange()
		res, err := wire.Call(ctx, x, m.config.Timeout, func(ctx context.Context) (*sdk.ChatCompletion, error) {
			return m.chat.New(ctx, params, option.WithMiddleware(x.Do))
		})
		switch {
		case err == nil:
			return h.reply(req, x, res)
		case blocked(x):
			return x.Filtered(), nil
		case !m.learn(h, req, x):
			return nil, err
		}
	}
}

func (m *Model) invalid(err error) error {
	return &llm.Error{Class: llm.Invalid, Provider: m.config.Provider, Model: m.config.Model, Message: err.Error()}
}

func (m *Model) exchange() *wire.Exchange {
	return &wire.Exchange{Provider: m.config.Provider, Model: m.config.Model, Key: m.config.Key}
}

// Check tells whether the endpoint takes the key and has the model, by its
// list of models. It costs nothing.
func (m *Model) Check(ctx context.Context) error {
	names, err := m.Models(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(names, m.isNamed) {
		return nil
	}
	e := &llm.Error{Class: llm.NotFound, Provider: m.config.Provider, Model: m.config.Model}
	switch {
	case len(names) == 0:
		e.Message = m.base.Host + " has no models"
	default:
		e.Message = fmt.Sprintf("%s has no such model among its %d: %s", m.base.Host, len(names), wire.Line(strings.Join(names, ", "), m.config.Key))
	}
	return e
}

// isNamed tells whether a name of the list is the model's. Ollama adds
// ":latest" where no tag was given, Gemini's list has "models/" before each.
func (m *Model) isNamed(name string) bool {
	return name == m.config.Model || name == m.config.Model+":latest" || name == "models/"+m.config.Model
}

// Models lists the models of the endpoint.
func (m *Model) Models(ctx context.Context) ([]string, error) {
	var names []string
	x := m.exchange()
	_, err := wire.Call(ctx, x, m.config.Timeout, func(ctx context.Context) (bool, error) {
		page, err := m.models.List(ctx, option.WithMiddleware(x.Do))
		if err != nil {
			return false, err
		}
		for _, info := range page.Data {
			names = append(names, info.ID)
		}
		return true, nil
	})
	var e *llm.Error
	if errors.As(err, &e) && e.Class == llm.NotFound && !strings.HasSuffix(m.base.Path, "/v1") && e.Status == http.StatusNotFound {
		e.Message += "; most servers want a base URL that ends in /v1"
	}
	return names, err
}
