package llm

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Spec names a model: provider:model, and for openai-compatible endpoints of
// mettle.yaml provider:model@endpoint.
type Spec struct {
	Provider string
	Model    string
	Endpoint string
}

// Compatible is the provider whose endpoints mettle.yaml names.
const Compatible = "openai-compatible"

// Providers lists the providers a [Spec] may name.
var Providers = []string{"anthropic", "ollama", "openai", Compatible}

// ParseSpec reads the name of a model.
func ParseSpec(s string) (Spec, error) {
	provider, model, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok || model == "" || strings.ContainsFunc(model, unicode.IsSpace) {
		return Spec{}, fmt.Errorf("%q is no model, want provider:model, such as anthropic:claude-sonnet-5-5 or ollama:qwen3", s)
	}
	if !slices.Contains(Providers, provider) {
		return Spec{}, fmt.Errorf("unknown provider %q in %q, want one of %s", provider, s, strings.Join(Providers, ", "))
	}
	spec := Spec{Provider: provider, Model: model}
	if provider != Compatible {
		return spec, nil
	}
	i := strings.LastIndex(model, "@") // a model's own name may hold one
	if i <= 0 || i == len(model)-1 {
		return Spec{}, fmt.Errorf("%q names no endpoint, want %s:model@name, with the name of an endpoint in mettle.yaml", s, Compatible)
	}
	spec.Model, spec.Endpoint = model[:i], model[i+1:]
	return spec, nil
}

func (s Spec) String() string {
	if s.Endpoint != "" {
		return s.Provider + ":" + s.Model + "@" + s.Endpoint
	}
	return s.Provider + ":" + s.Model
}
