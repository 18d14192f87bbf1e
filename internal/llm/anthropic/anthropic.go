// Package anthropic makes [llm.Model]s of Anthropic's models, on the vendor's
// own Go client.
//
// The client's services are made one by one rather than through its Client:
// that one reads keys, addresses and headers from the environment and from
// files, and mettle uses only what it is handed. The client's retries are off,
// because the scheduler owns them; its traces are off too.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

const (
	provider = "anthropic"
	endpoint = "https://api.anthropic.com"

	// defaultMaxTokens is sent when a request does not say: the API insists on
	// a number. Every model since Claude 3.5 may write that much; one that may
	// not says what it may, and gets that.
	defaultMaxTokens = 8192
)

// Config says which model to ask, and where.
type Config struct {
	Key       string        // may be empty for a gateway that needs none
	BaseURL   string        // without /v1; the vendor's own when empty
	Model     string        // as the vendor names it
	HTTP      *http.Client  // nil for one of our own
	MaxTokens int           // of a reply, when the request does not say; 0 for 8192
	Timeout   time.Duration // of one call; 0 for ten minutes
}

// Model is one model of Anthropic's. It is safe for concurrent use.
type Model struct {
	config   Config
	messages sdk.MessageService
	models   sdk.ModelService

	mu     sync.Mutex
	habits habits
}

var _ llm.Model = (*Model)(nil)

// New makes a model. It speaks to nobody yet.
func New(c Config) (*Model, error) {
	if c.Model == "" {
		return nil, errors.New("anthropic: no model is named")
	}
	if c.Key == "" && c.BaseURL == "" {
		return nil, fmt.Errorf("anthropic:%s: there is no key", c.Model)
	}
	if err := wire.CheckKey(c.Key); err != nil {
		return nil, fmt.Errorf("anthropic:%s: %w", c.Model, err)
	}
	if c.BaseURL == "" {
		c.BaseURL = endpoint
	}
	base, err := wire.BaseURL(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("anthropic:%s: %w", c.Model, err)
	}
	base.Path = strings.TrimSuffix(base.Path, "/v1") + "/" // the client adds v1 itself
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultMaxTokens
	}
	if c.Timeout == 0 {
		c.Timeout = wire.Timeout
	}
	opts := []option.RequestOption{
		option.WithBaseURL(base.String()),
		option.WithHTTPClient(wire.Client(c.HTTP)),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(c.Timeout), // without one the client refuses replies that may take long
		option.WithoutOpenTelemetry(),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	return &Model{config: c, messages: sdk.NewMessageService(opts...), models: sdk.NewModelService(opts...)}, nil
}

// Generate asks the model. A request that it turns down for a parameter it
// does not take is sent again without, and the parameter left out from then on:
// the reply's notes say so.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	for {
		h := m.learned()
		params, err := h.params(req, m.config)
		if err != nil {
			return nil, &llm.Error{Class: llm.Invalid, Provider: provider, Model: m.config.Model, Message: err.Error()}
		}
		x := m.exchange()
		res, err := wire.Call(ctx, x, m.config.Timeout, func(ctx context.Context) (*sdk.Message, error) {
			return m.messages.New(ctx, params, option.WithMiddleware(x.Do))
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

func (m *Model) exchange() *wire.Exchange {
	return &wire.Exchange{Provider: provider, Model: m.config.Model, Key: m.config.Key}
}

// Check tells whether the endpoint takes the key and knows the model. It costs
// nothing.
func (m *Model) Check(ctx context.Context) error {
	x := m.exchange()
	_, err := wire.Call(ctx, x, m.config.Timeout, func(ctx context.Context) (*sdk.ModelInfo, error) {
		return m.models.Get(ctx, m.config.Model, sdk.ModelGetParams{}, option.WithMiddleware(x.Do))
	})
	return err
}

// Models lists the models the key may use, newest first.
func (m *Model) Models(ctx context.Context) ([]string, error) {
	var names []string
	x := m.exchange()
	_, err := wire.Call(ctx, x, m.config.Timeout, func(ctx context.Context) (bool, error) {
		page, err := m.models.List(ctx, sdk.ModelListParams{Limit: sdk.Int(1000)}, option.WithMiddleware(x.Do))
		if err != nil {
			return false, err
		}
		for _, info := range page.Data {
			names = append(names, info.ID)
		}
		return true, nil
	})
	return names, err
}
