package mcpclient

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/term"
)

const redacted = "[redacted]"

// secrets knows every string that must not be seen: those of a Config, and the
// tokens that a session learns.
type secrets struct {
	mu      sync.RWMutex
	values  []string
	replace *strings.Replacer
	echoes  []string // credentials that are removed from answers too
}

// minSecret is the length under which a value is left alone: replacing "en"
// or "v1" everywhere would only make messages unreadable.
const minSecret = 4

func newSecrets(cfg Config) *secrets {
	s := &secrets{}
	for name, values := range cfg.Headers {
		for _, v := range values {
			s.add(v)
			if secretName(name) {
				s.addEcho(v)
			}
			// "Bearer abc": a server may echo the token alone.
			if _, token, ok := strings.Cut(v, " "); ok {
				s.add(token)
			}
		}
	}
	if u, err := url.Parse(cfg.URL); err == nil {
		s.addURL(u)
	}
	for _, entry := range cfg.Env {
		if name, value, _ := strings.Cut(entry, "="); secretName(name) {
			s.add(value)
		}
	}
	if cfg.OAuth != nil {
		s.add(cfg.OAuth.ClientSecret)
		s.addEcho(cfg.OAuth.ClientSecret)
	}
	s.prepare()
	return s
}

// learn notes credentials that came up on the way.
func (s *secrets) learn(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		s.add(v)
		s.addEcho(v)
	}
	s.prepare()
}

// prepare makes the replacer. The longest goes first, so that a token inside a
// longer one is not cut in half.
func (s *secrets) prepare() {
	slices.SortFunc(s.values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.values = slices.Compact(s.values)
	pairs := make([]string, 0, 2*len(s.values))
	for _, v := range s.values {
		pairs = append(pairs, v, redacted)
	}
	s.replace = strings.NewReplacer(pairs...)
}

func (s *secrets) addURL(u *url.URL) {
	if user := u.User; user != nil {
		password, _ := user.Password()
		s.add(user.Username())
		s.add(password)
		s.add(user.String())
		s.add(base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password)))
	}
	for seg := range strings.SplitSeq(u.Path, "/") {
		if looksLikeKey(seg) {
			s.add(seg)
		}
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, raw, _ := strings.Cut(part, "=")
		if !secretName(name) && len(raw) < 12 {
			continue // project=mina is no secret
		}
		s.add(raw)
		if v, err := url.QueryUnescape(raw); err == nil {
			s.add(v)
		}
	}
}

// add notes v and the ways in which it may come back: inside JSON and quoted
// by Go.
func (s *secrets) add(v string) {
	v = strings.TrimSpace(v)
	if len(v) < minSecret {
		return
	}
	s.values = append(s.values, v)
	if quoted, err := json.Marshal(v); err == nil && string(quoted[1:len(quoted)-1]) != v {
		s.values = append(s.values, string(quoted[1:len(quoted)-1]))
	}
}

// minEcho is the length from which a credential is looked for in answers. What
// a server says decides verdicts, so only what cannot be an ordinary word is
// taken out of it.
const minEcho = 8

func (s *secrets) addEcho(v string) {
	if _, token, ok := strings.Cut(v, " "); ok {
		v = strings.TrimSpace(token)
	}
	if len(v) >= minEcho {
		s.echoes = append(s.echoes, v)
	}
}

// withoutEchoes removes the credentials that a server was sent from what it
// answers. It tells whether there were any.
func (s *secrets) withoutEchoes(raw json.RawMessage) (json.RawMessage, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := false
	for _, v := range s.echoes {
		if !bytes.Contains(raw, []byte(v)) {
			continue
		}
		found = true
		without := bytes.ReplaceAll(raw, []byte(v), []byte(redacted))
		if !json.Valid(without) { // a number, say
			without = bytes.ReplaceAll(raw, []byte(v), []byte(strconv.Quote(redacted)))
		}
		if !json.Valid(without) {
			without = []byte("{}")
		}
		raw = without
	}
	return raw, found
}

// secretName reports whether an environment variable or a query parameter looks
// like it holds a credential, by the words people use for those.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "AUTH", "CREDENTIAL", "COOKIE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func (s *secrets) scrub(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.values) == 0 {
		return text
	}
	return s.replace.Replace(text)
}

// excerpt makes foreign text fit to be shown, at most limit bytes of it. Of a
// very long text only a part is looked at, and what could be the first half of
// a secret at the end of that part is not used.
func (s *secrets) excerpt(text string, limit int) string {
	const looked, used = 64 << 10, 32 << 10
	if len(text) <= looked {
		return term.Excerpt(s.scrub(text), limit)
	}
	text = s.scrub(text[:looked])
	return term.Excerpt(text[:min(len(text), used)], limit)
}

func (s *secrets) scrubJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	return json.RawMessage(s.scrub(string(raw)))
}

// displayURL is the part of a URL that may be shown: no user, no query, and no
// path segment that looks like a key.
func displayURL(u *url.URL) string {
	segments := strings.Split(u.Path, "/")
	for i, seg := range segments {
		if looksLikeKey(seg) {
			segments[i] = "…"
		}
	}
	return u.Scheme + "://" + u.Host + strings.Join(segments, "/")
}

// looksLikeKey finds the keys that some hosts put into the path.
func looksLikeKey(segment string) bool {
	return len(segment) >= 20 && strings.ContainsAny(segment, "0123456789")
}
