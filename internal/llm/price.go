package llm

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
)

//go:embed prices.yaml
var priceFile []byte

// Rates are US dollars for a million tokens.
type Rates struct {
	Input      float64 `yaml:"input" json:"input,omitempty" jsonschema:"US dollars for a million tokens of input"`
	Output     float64 `yaml:"output" json:"output,omitempty" jsonschema:"US dollars for a million tokens of output"`
	CacheRead  float64 `yaml:"cacheRead" json:"cacheRead,omitempty" jsonschema:"of input read from the vendor's cache; as input when not set"`
	CacheWrite float64 `yaml:"cacheWrite" json:"cacheWrite,omitempty" jsonschema:"of input written to the vendor's cache; as input when not set"`
}

// Price is what a model costs.
type Price struct {
	Rates  `yaml:",inline"`
	Long   *LongPrice `yaml:"long" json:"long,omitempty" jsonschema:"rates of requests with a long input"`
	Local  bool       `yaml:"local" json:"local,omitempty" jsonschema:"the model runs on a machine of one's own and costs nothing"`
	Date   string     `yaml:"date" json:"date,omitempty" jsonschema:"when the price was looked up"`
	Source string     `yaml:"source" json:"source,omitempty" jsonschema:"where"`
}

// LongPrice is what a request costs whose input is longer than Over tokens.
type LongPrice struct {
	Over  int `yaml:"over" json:"over" jsonschema:"tokens of input above which these rates are for the whole request"`
	Rates `yaml:",inline"`
}

// Prices are what models cost, by their names: provider:model, as in a [Spec].
// A name also stands for the model's dated snapshots, and * for all models of
// a provider or an endpoint (openai-compatible:*@name). Local models are known
// to cost nothing when their entry says local. What is not there has no known
// price.
type Prices map[string]Price

// DefaultPrices are those the program knows.
func DefaultPrices() Prices { return maps.Clone(defaultPrices()) }

var defaultPrices = sync.OnceValue(func() Prices {
	p, err := readPrices(priceFile)
	if err != nil {
		panic("prices.yaml: " + err.Error()) // ours, and there is a test
	}
	return p
})

func readPrices(b []byte) (Prices, error) {
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	var p Prices
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	return p, p.Check()
}

// With gives the prices with others put over them.
func (p Prices) With(more Prices) Prices {
	all := make(Prices, len(p)+len(more))
	maps.Copy(all, p)
	maps.Copy(all, more)
	return all
}

// Check finds names and numbers that cannot be meant.
func (p Prices) Check() error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if err := p[name].check(name); err != nil {
			return fmt.Errorf("price of %s: %w", name, err)
		}
	}
	return nil
}

func (p Price) check(name string) error {
	if _, err := ParseSpec(name); err != nil {
		return err
	}
	rates := []Rates{p.Rates}
	if p.Long != nil {
		rates = append(rates, p.Long.Rates)
		if p.Long.Over <= 0 {
			return fmt.Errorf("long.over is %d, want a number of tokens", p.Long.Over)
		}
	}
	for _, r := range rates {
		switch least, most := min(r.Input, r.Output, r.CacheRead, r.CacheWrite), max(r.Input, r.Output, r.CacheRead, r.CacheWrite); {
		case !(least >= 0 && most < 1e6): // NaN is neither
			return fmt.Errorf("a rate is %v, want dollars for a million tokens", cmp.Or(min(least, 0), most))
		case p.Local && most > 0:
			return fmt.Errorf("it is local and has rates, want one or the other")
		case !p.Local && (r.Input == 0 || r.Output == 0):
			return fmt.Errorf("want input and output, in dollars for a million tokens, or local: true for a model that costs nothing")
		}
	}
	return nil
}

// Of finds the price of a model: by its name, by the name without the date of
// a snapshot, or by that of its provider or endpoint.
func (p Prices) Of(spec Spec) (Price, bool) {
	if price, ok := p[spec.String()]; ok {
		return price, true
	}
	name := spec.Model
	for i := len(name) - 1; i > 0; i-- {
		if (name[i] != '-' && name[i] != '@') || !isSnapshot(name[i+1:]) {
			continue
		}
		base := spec
		base.Model = name[:i]
		if price, ok := p[base.String()]; ok {
			return price, true
		}
	}
	all := spec
	all.Model = "*"
	price, ok := p[all.String()]
	return price, ok
}

// isSnapshot tells whether the end of a name is a date or latest. Any other
// end may be another model at another price.
func isSnapshot(s string) bool {
	if s == "latest" {
		return true
	}
	digits := strings.ReplaceAll(s, "-", "")
	if strings.Trim(digits, "0123456789") != "" {
		return false
	}
	switch len(s) {
	case len("0613"), len("20251001"):
		return len(digits) == len(s)
	case len("2025-08-07"):
		return len(digits) == 8 && s[4] == '-' && s[7] == '-'
	}
	return false
}

// Cost is what calls of a model cost that consumed so much, when its price is
// known and so is what they consumed.
func (p Prices) Cost(spec Spec, u eval.Usage) (eval.USD, bool) {
	price, ok := p.Of(spec)
	switch {
	case !ok:
		return 0, false
	case price.Local || u.Calls == 0 && u.Input == 0 && u.Output == 0:
		return 0, true
	case u.Input == 0 && u.Output == 0:
		return 0, false // the vendor did not say: unknown is not free
	}
	rates := price.Rates
	if price.Long != nil && u.Input > price.Long.Over {
		rates = price.Long.Rates
	}
	fresh := max(0, u.Input-u.CacheRead-u.CacheWrite)
	dollars := float64(fresh)*rates.Input + float64(u.Output)*rates.Output +
		float64(u.CacheRead)*cmp.Or(rates.CacheRead, rates.Input) +
		float64(u.CacheWrite)*cmp.Or(rates.CacheWrite, rates.Input)
	return eval.Dollars(dollars / 1e6), true
}

// Wrap makes a model's replies say what they cost, or that nobody knows.
func (p Prices) Wrap(spec Spec, m Model) Model {
	return ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) {
		reply, err := m.Generate(ctx, req)
		if err != nil || reply == nil {
			return reply, err
		}
		r := *reply
		if cost, ok := p.Cost(spec, r.Usage); ok {
			r.Usage.Cost, r.Usage.Unpriced = cost, 0
		} else {
			r.Usage.Cost, r.Usage.Unpriced = 0, r.Usage.Calls
		}
		return &r, nil
	})
}

// Unpriced is the error of a model whose price must be known and is not.
type Unpriced struct{ Spec Spec }

func (e *Unpriced) Error() string {
	return fmt.Sprintf("no price is known for %s: set one in mettle.yaml, in dollars for a million tokens, as in "+
		"prices: {%q: {input: 1.25, output: 10}}, or {local: true} when it costs nothing", e.Spec, e.Spec)
}
