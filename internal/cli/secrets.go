package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/mettle-eval/mettle/internal/llm"
)

// redactor takes out of a text what variables of the environment hold
// whose names say that it is secret.
func (w *World) redactor() func(string) string {
	var pairs []string
	environ := slices.Clone(w.Environ)
	slices.SortStableFunc(environ, func(a, b string) int { return cmp.Compare(len(valueOf(b)), len(valueOf(a))) }) // one may begin with another
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if secretName(name) && secretValue(value) {
			pairs = append(pairs, value, "["+name+"]")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

func valueOf(entry string) string {
	_, value, _ := strings.Cut(entry, "=")
	return value
}

// shortestSecret is the length from which a value is looked for in texts:
// shorter ones stand in them by chance.
const (
	shortestSecret = 8
	longestWord    = 16
)

// secretValue tells whether a value may be a secret and not a word, such as the
// name of the store that secrets are kept in: words stand in answers.
func secretValue(value string) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '-' }
	word := len(value) < longestWord && strings.TrimFunc(value, letter) == ""
	return len(value) >= shortestSecret && !word
}

func secretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"}, func(part string) bool { return strings.Contains(name, part) })
}

// discreetModel is a model whose replies do not hold the key it was asked
// with: what a vendor or a gateway echoes would be stored and reported.
type discreetModel struct {
	vendorModel
	hide *strings.Replacer
}

// discreet keeps a model's key out of its replies. Its errors are the client's
// own to clean.
func (m *models) discreet(spec llm.Spec, client vendorModel) vendorModel {
	variable := m.keyVariable(spec)
	key := strings.TrimSpace(m.w.Getenv(variable))
	if len(key) < shortestSecret {
		return client
	}
	return &discreetModel{client, strings.NewReplacer(key, "["+variable+"]")}
}

// Generate asks, and cleans the reply.
func (d *discreetModel) Generate(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	reply, err := d.vendorModel.Generate(ctx, req)
	if reply == nil || err != nil {
		return reply, err
	}
	clean := *reply
	clean.Text, clean.Refused, clean.Model = d.hide.Replace(reply.Text), d.hide.Replace(reply.Refused), d.hide.Replace(reply.Model)
	clean.Calls = slices.Clone(reply.Calls)
	for i, call := range clean.Calls {
		clean.Calls[i].Input = []byte(d.hide.Replace(string(call.Input)))
	}
	return &clean, nil
}
