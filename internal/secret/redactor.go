package secret

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Mark is what a secret without a name is replaced by.
const Mark = "[redacted]"

// Redactor replaces secrets by marks. It may be used from many goroutines; nil
// replaces nothing.
type Redactor struct {
	least  int
	mu     sync.RWMutex
	marks  map[string]string // by value
	search *search
	text   *strings.Replacer
	quoted *strings.Replacer // with marks that are JSON
}

// NewRedactor knows no secret yet. It leaves values alone that are shorter than
// least: replacing "en" or "v1" everywhere would make texts unreadable.
func NewRedactor(least int) *Redactor { return &Redactor{least: least} }

// FromEnviron knows the variables whose names and values say that they are
// secrets. They are replaced by their names. It is the redactor for answers.
func FromEnviron(environ []string) *Redactor {
	r := NewRedactor(leastNamed)
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); Name(name) && Value(value) {
			r.Add("["+name+"]", value)
		}
	}
	return r
}

// AddSetting makes the value of a setting known, such as that of a header, if
// its name or the value itself says that it is a secret.
func (r *Redactor) AddSetting(name, value string) {
	_, token, two := strings.Cut(strings.TrimSpace(value), " ") // Bearer abc
	if !two {
		token = value
	}
	switch plain, err := base64.StdEncoding.DecodeString(token); {
	case !named(name, token) && (!likeKey(token) || strings.ContainsAny(token, "/\\:")):
		return
	case two && err == nil && bytes.IndexByte(plain, ':') > 0: // Basic dXNlcjpwYXNz
		_, password, _ := strings.Cut(string(plain), ":")
		r.Add(Mark, string(plain), password)
	}
	r.Add(Mark, value, token)
}

// AddVariable makes the value of an environment variable known that settings
// refer to. It is replaced by the variable's name. An ordinary word, a path and
// the parts of an address that hold no credential are left alone.
func (r *Redactor) AddVariable(name, value string) {
	mark := "[" + name + "]"
	switch u, err := url.Parse(value); {
	case err == nil && u.Scheme != "" && u.Host != "":
		r.addCredentials(mark, u)
	case named(name, value), len(value) >= Least && !word(value) && !path(value):
		r.Add(mark, value)
	}
}

// Add makes values known, in the forms in which they may come back: as they
// are, inside JSON, and inside an address.
func (r *Redactor) Add(mark string, values ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	marks := maps.Clone(r.marks)
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < r.least || len(v) == 0 {
			continue
		}
		if marks == nil {
			marks = map[string]string{}
		}
		inJSON, _ := json.Marshal(v) // a string has a form
		for _, form := range []string{v, string(inJSON[1 : len(inJSON)-1]), unescaped(v), url.QueryEscape(v)} {
			if _, known := marks[form]; !known {
				marks[form] = mark
			}
		}
	}
	if len(marks) == len(r.marks) {
		return
	}
	r.marks = marks
	longest := slices.SortedFunc(maps.Keys(marks), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var text, quoted []string
	for _, v := range longest { // one may begin with another
		text, quoted = append(text, v, marks[v]), append(quoted, v, strconv.Quote(marks[v]))
	}
	r.search = newSearch(longest)
	r.text, r.quoted = strings.NewReplacer(text...), strings.NewReplacer(quoted...)
}

// unescaped is a text inside JSON that leaves < as it is.
func unescaped(s string) string {
	b := encode(s)
	return string(b[1 : len(b)-1])
}

func encode(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string has a form
	return bytes.TrimRight(b.Bytes(), "\n")
}

// AddHeader makes the value of a header known, and the token in one such as
// "Bearer abc", which may come back alone.
func (r *Redactor) AddHeader(value string) {
	_, token, _ := strings.Cut(value, " ")
	r.Add(Mark, value, token)
}

// AddURL makes known what an address holds: user, keys in the path, and
// parameters that are named so or are too long to be a word.
func (r *Redactor) AddURL(raw string) {
	const longestWord = 12 // project=mina is no secret
	u, err := url.Parse(raw)
	if err != nil {
		return
	}
	r.addCredentials(Mark, u)
	if u.User != nil {
		r.Add(Mark, u.User.Username())
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if name, value, _ := strings.Cut(part, "="); Name(name) || len(value) >= longestWord {
			plain, _ := url.QueryUnescape(value)
			r.Add(Mark, value, plain)
		}
	}
}

// AddCredentials makes known the parts of an address that are not ordinary
// words: password, keys in the path, and parameters that are named so.
func (r *Redactor) AddCredentials(raw string) {
	if u, err := url.Parse(raw); err == nil {
		r.addCredentials(Mark, u)
	}
}

func (r *Redactor) addCredentials(mark string, u *url.URL) {
	if user := u.User; user != nil {
		password, has := user.Password()
		if !has {
			password = user.Username() // a token
		}
		pair := user.Username() + ":" + password
		r.Add(mark, password, pair, user.String(), base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	for _, key := range pathKeys(u) {
		plain, _ := url.PathUnescape(key) // empty when it cannot be
		r.Add(mark, key, plain)
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if name, value, _ := strings.Cut(part, "="); named(name, value) || likeKey(value) {
			plain, _ := url.QueryUnescape(value)
			r.Add(mark, value, plain)
		}
	}
}

// String is a text without the secrets.
func (r *Redactor) String(text string) string {
	if r == nil {
		return text
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !finds(r.search, text) {
		return text // as most are
	}
	return r.text.Replace(text)
}

// JSON is valid JSON without the secrets in its strings, names of members among
// them. The rest is as it was.
func (r *Redactor) JSON(raw []byte) []byte {
	return r.json(raw, func(b []byte) []byte { return b })
}

// Answer is [Redactor.JSON] that finds numbers too, and leaves JSON that is
// valid. It tells whether there were secrets.
func (r *Redactor) Answer(raw []byte) ([]byte, bool) {
	if !r.mayHold(raw) {
		return raw, false
	}
	clean := r.json(raw, func(b []byte) []byte {
		r.mu.RLock()
		defer r.mu.RUnlock()
		return []byte(r.quoted.Replace(string(b)))
	})
	if bytes.Equal(clean, raw) {
		return raw, false
	}
	if !json.Valid(clean) { // a part of a number, say
		clean = []byte("{}")
	}
	return clean, true
}

// mayHold tells whether JSON may hold a secret: as it is written, or in escapes
// that hide it.
func (r *Redactor) mayHold(raw []byte) bool {
	if r == nil {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.search != nil && (finds(r.search, raw) || bytes.Contains(raw, []byte(`\u`)) || bytes.Contains(raw, []byte(`\/`)))
}

func (r *Redactor) json(raw []byte, outside func([]byte) []byte) []byte {
	if r == nil {
		return raw
	}
	var out bytes.Buffer
	out.Grow(len(raw))
	for {
		start := bytes.IndexByte(raw, '"')
		if start < 0 {
			out.Write(outside(raw))
			return out.Bytes()
		}
		end := start + 1
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(raw))
		out.Write(outside(raw[:start]))
		out.Write(r.literal(raw[start:end]))
		raw = raw[end:]
	}
}

// literal is a string in JSON. One without a secret stays as it is written.
func (r *Redactor) literal(raw []byte) []byte {
	var s string
	if bytes.IndexByte(raw, '\\') < 0 || json.Unmarshal(raw, &s) != nil {
		if clean := r.String(string(raw)); clean != string(raw) {
			return []byte(clean)
		}
		return raw
	}
	if clean := r.String(s); clean != s {
		return encode(clean)
	}
	return raw
}
