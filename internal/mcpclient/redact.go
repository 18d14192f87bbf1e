package mcpclient

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mettle-eval/mettle/internal/secret"
	"github.com/mettle-eval/mettle/internal/term"
)

// secrets knows every string that must not be seen: those of a Config, and the
// tokens that a session learns.
type secrets struct {
	all    *secret.Redactor // for messages
	echoes *secret.Redactor // of the Config: credentials that are removed from answers too
}

func newSecrets(cfg Config) *secrets {
	const least = 4
	s := &secrets{secret.NewRedactor(least), cfg.Secrets}
	if s.echoes == nil {
		s.echoes = secret.FromEnviron(nil)
	}
	for name, values := range cfg.Headers {
		for _, v := range values {
			s.all.AddHeader(v)
			s.echoes.AddSetting(name, v)
		}
	}
	s.all.AddURL(cfg.URL)
	s.echoes.AddCredentials(cfg.URL)
	for _, entry := range cfg.Env {
		if name, value, _ := strings.Cut(entry, "="); secret.Name(name) {
			s.all.Add(secret.Mark, value)
			s.echoes.AddSetting(name, value)
		}
	}
	if cfg.OAuth != nil {
		s.learn(cfg.OAuth.ClientSecret)
	}
	return s
}

// clean is a text without secrets.
func (s *secrets) clean(text string) string { return s.all.String(s.echoes.String(text)) }

// answer is JSON of the server without credentials.
func (s *secrets) answer(raw []byte) []byte {
	raw, _ = s.echoes.Answer(raw)
	return raw
}

// learn notes credentials that came up on the way. A server may echo the token
// of "Bearer abc" alone.
func (s *secrets) learn(values ...string) {
	s.all.Add(secret.Mark, values...)
	for _, v := range values {
		if _, token, ok := strings.Cut(v, " "); ok {
			v = token
		}
		s.echoes.Add(secret.Mark, v)
	}
}

// excerpt makes foreign text fit to be shown, at most limit bytes of it. Of a
// very long text only a part is looked at, and what could be the first half of
// a secret at the end of that part is not used.
func (s *secrets) excerpt(text string, limit int) string {
	const looked, used = 64 << 10, 32 << 10
	if len(text) <= looked {
		return term.Excerpt(s.clean(text), limit)
	}
	text = s.clean(text[:looked])
	return term.Excerpt(text[:min(len(text), used)], limit)
}

func (s *secrets) scrubJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	return json.RawMessage(s.clean(string(raw)))
}

// shown is the part of an address that may be shown.
func shown(u *url.URL) string {
	address, _ := secret.URL(u.String())
	return address
}
