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
	values []string          // the longest first: one may begin with another
	text   *strings.Replacer
	quoted *strings.Replacer // with marks that are JSON
}

// NewRedactor knows no secret yet. It leaves values alone that are shorter than
// least: replacing "en" or "v1" everywhere would make texts unreadable.
func NewRedactor(least int) *Redactor { return &Redactor{least: least} }

// FromEnviron knows the variables whose names and values say that they are
// secrets. They are replaced by their names.
func FromEnviron(environ []string) *Redactor {
	r := NewRedactor(Least)
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); Name(name) && Value(value) {
			r.Add("["+name+"]", value)
		}
	}
	return r
}

// Add makes values known, in the forms in which they may come back: as they
// are, and inside JSON.
func (r *Redactor) Add(mark string, values ...string) {
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
		for _, form := range []string{v, string(inJSON[1 : len(inJSON)-1]), unescaped(v)} {
			if _, known := marks[form]; !known {
				marks[form] = mark
			}
		}
	}
	if len(marks) == len(r.marks) {
		return
	}
	r.marks = marks
	r.values = slices.SortedFunc(maps.Keys(marks), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var text, quoted []string
	for _, v := range r.values {
		text, quoted = append(text, v, marks[v]), append(quoted, v, strconv.Quote(marks[v]))
	}
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
	if user := u.User; user != nil {
		password, _ := user.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		r.Add(Mark, user.Username(), password, user.String(), basic)
	}
	for _, key := range pathKeys(u) {
		plain, _ := url.PathUnescape(key) // empty when it cannot be
		r.Add(Mark, key, plain)
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if name, value, _ := strings.Cut(part, "="); Name(name) || len(value) >= longestWord {
			plain, _ := url.QueryUnescape(value)
			r.Add(Mark, value, plain)
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
	if r.text == nil {
		return text
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
	if !r.holds(raw) {
		return raw, false
	}
	clean := r.json(raw, func(b []byte) []byte {
		r.mu.RLock()
		defer r.mu.RUnlock()
		return []byte(r.quoted.Replace(string(b)))
	})
	if !json.Valid(clean) { // a part of a number, say
		clean = []byte("{}")
	}
	return clean, true
}

func (r *Redactor) holds(raw []byte) bool {
	if r == nil {
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.ContainsFunc(r.values, func(v string) bool { return bytes.Contains(raw, []byte(v)) })
}

func (r *Redactor) json(raw []byte, outside func([]byte) []byte) []byte {
	if r == nil {
		return raw
	}
	var out bytes.Buffer
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
	if json.Unmarshal(raw, &s) != nil {
		return []byte(r.String(string(raw)))
	}
	if clean := r.String(s); clean != s {
		return encode(clean)
	}
	return raw
}
