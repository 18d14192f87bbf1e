package suite

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
)

// Models says which models a run asks, by role, as provider:model.
type Models struct {
	Answer modelName `yaml:"answer" jsonschema:"the model that answers cases about skills, as provider:model"`
	Judge  modelName `yaml:"judge" jsonschema:"the model that judges answers; never the one that answers, unless both say the same"`
}

// modelName is a model as provider:model.
type modelName struct{ text }

// DecodeNode reads the name and makes sure that it is one.
func (m *modelName) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	before := len(d.Problems)
	if m.decode(d, n, "the model"); len(d.Problems) > before {
		return
	}
	if _, err := llm.ParseSpec(m.Value); err != nil {
		d.Errorf(n, "%v", err)
	}
}

// JSONSchema asks for both parts.
func (modelName) JSONSchema() kind.Schema {
	return kind.Schema{"type": "string", "pattern": `^(` + strings.Join(llm.Providers, "|") + `):.+$`}
}

// Endpoint is a server that speaks OpenAI's protocol.
type Endpoint struct {
	URL   string `yaml:"url" json:"url" jsonschema:"address of the server's API, such as http://localhost:8000/v1" check:"required,min=1"`
	Key   string `yaml:"key" json:"key,omitempty" jsonschema:"where the key is: ${NAME} of an environment variable; without it, none is sent"`
	Local bool   `yaml:"local" json:"local,omitempty" jsonschema:"the server is your own: its answers cost nothing" check:"default=false"`
}

var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`) })

// check finds an address that is none, and a key that stands in the file.
func (e *Endpoint) check() error {
	if u, err := url.Parse(e.URL); !strings.Contains(e.URL, "${") && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
		return errors.New("the url is not an http or https address")
	}
	if e.Key != "" && !reference().MatchString(e.Key) {
		return errors.New("keys are taken from the environment: write key: ${NAME}")
	}
	return nil
}

// Limit bounds the calls made with one key.
type Limit struct {
	Concurrency       int `yaml:"concurrency" json:"concurrency,omitempty" jsonschema:"calls at a time, at most; fewer are made when the vendor asks to slow down" check:"min=1,max=4096"`
	RequestsPerMinute int `yaml:"requestsPerMinute" json:"requestsPerMinute,omitempty" jsonschema:"calls in a minute, at most" check:"min=1"`
	TokensPerMinute   int `yaml:"tokensPerMinute" json:"tokensPerMinute,omitempty" jsonschema:"tokens in a minute, at most, both ways together" check:"min=1"`
}

// endpointMap holds endpoints by name.
type endpointMap struct{ byName map[string]Endpoint }

// DecodeNode reads every endpoint.
func (e *endpointMap) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	members, ok := d.Members(n, "endpoints")
	if !ok {
		return
	}
	e.byName = make(map[string]Endpoint, len(members))
	for _, m := range members {
		var one Endpoint
		before := len(d.Problems)
		d.Struct(m.Value, "the endpoint", &one)
		if err := one.check(); err != nil && len(d.Problems) == before {
			d.Errorf(m.Value, "%v", err)
		}
		if !isName(m.Key.Value) {
			d.Errorf(m.Key, "the endpoint's name is %q, want letters, digits, dots, dashes and underscores", m.Key.Value)
		}
		e.byName[m.Key.Value] = one
	}
}

// JSONSchema is that of a mapping of endpoints.
func (endpointMap) JSONSchema() kind.Schema {
	return kind.Schema{
		"type": "object", "additionalProperties": kind.SchemaOf(new(Endpoint)),
		"propertyNames": kind.Schema{"pattern": namePattern},
	}
}

// knownEndpoints finds models of endpoints that the file does not name.
func (c *configFile) knownEndpoints(d *kind.Decoder) {
	for _, m := range []modelName{c.Models.Answer, c.Models.Judge} {
		spec, err := llm.ParseSpec(m.Value)
		if err != nil || spec.Endpoint == "" {
			continue
		}
		if _, ok := c.Endpoints.byName[spec.Endpoint]; !ok {
			near := kind.Near(spec.Endpoint, slices.Sorted(maps.Keys(c.Endpoints.byName)))
			d.Add(kind.Problem{Line: m.line, Col: m.col, Message: fmt.Sprintf("no endpoint is named %q", spec.Endpoint), Near: near})
		}
	}
}

// knownLimits finds limits of what no call is made with.
func (c *configFile) knownLimits(d *kind.Decoder, at *yaml.Node) {
	if at == nil || len(c.Limits) == 0 {
		return
	}
	names := slices.DeleteFunc(slices.Clone(llm.Providers), func(p string) bool { return p == llm.Compatible }) // its endpoints have limits
	names = append(names, slices.Sorted(maps.Keys(c.Endpoints.byName))...)
	members, _ := d.Members(at, "limits")
	for _, m := range members {
		if name := m.Key.Value; !slices.Contains(names, name) {
			d.Add(kind.Problem{
				Line: m.Key.Line, Col: m.Key.Column, Near: kind.Near(name, names),
				Message: fmt.Sprintf("there is neither a provider nor an endpoint %q, want one of %s", name, strings.Join(names, ", ")),
			})
		}
	}
}

// budget is the most that a run may spend.
type budget struct{ text }

// DecodeNode reads the budget and makes sure that it is one.
func (b *budget) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	before := len(d.Problems)
	if b.decode(d, n, "the budget"); len(d.Problems) > before {
		return
	}
	if _, err := llm.ParseBudget(b.Value); err != nil {
		d.Errorf(n, "%v", err)
	}
}

// JSONSchema asks for a text that begins with an amount.
func (budget) JSONSchema() kind.Schema {
	return kind.Schema{"type": "string", "pattern": `^\s*\$?\s*\.?[0-9]`}
}

// soundPrices finds prices that are named or said in no way that can be meant.
func (c *configFile) soundPrices(d *kind.Decoder, at *yaml.Node) {
	if err := c.Prices.Check(); err != nil {
		d.Errorf(at, "%v", err)
	}
}
