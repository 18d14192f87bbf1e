package mcpclient

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// From 2026-07-28 a tool may mark parameters with x-mcp-header. Over HTTP their
// values are repeated in headers, so that proxies can route by them.

// A mark ties the parameter at path to the header Mcp-Param-<name>.
type mark struct {
	path []string
	name string
}

// paramMarks collects the marks of an input schema. An invalid one is an
// error: the protocol wants such a tool to be left out.
func paramMarks(schema []byte) ([]mark, error) {
	w := &markWalk{seen: map[string]bool{}}
	w.object(schema, nil)
	return w.marks, w.err
}

type markWalk struct {
	marks []mark
	seen  map[string]bool
	err   error
}

// object walks the properties of one object schema.
func (w *markWalk) object(schema []byte, path []string) {
	fields(schema, func(key string, value []byte) {
		if key != "properties" {
			return
		}
		fields(value, func(name string, property []byte) {
			w.property(property, append(path[:len(path):len(path)], name))
		})
	})
}

func (w *markWalk) property(schema []byte, path []string) {
	var header, kind []byte
	fields(schema, func(key string, value []byte) {
		switch key {
		case "x-mcp-header":
			header = value
		case "type":
			kind = value
		}
	})
	if header != nil && w.err == nil {
		w.err = w.add(unquote(header), unquote(kind), path)
	}
	w.object(schema, path)
}

func (w *markWalk) add(name, kind string, path []string) error {
	at := strings.Join(path, ".")
	if kind != "string" && kind != "integer" && kind != "boolean" {
		return fmt.Errorf("x-mcp-header of %s: the type is %q instead of string, integer or boolean", at, kind)
	}
	if !isToken(name) {
		return fmt.Errorf("x-mcp-header of %s: %q is no header name", at, name)
	}
	if lower := strings.ToLower(name); w.seen[lower] {
		return fmt.Errorf("x-mcp-header of %s: %q is used twice", at, name)
	} else {
		w.seen[lower] = true
	}
	w.marks = append(w.marks, mark{path: path, name: name})
	return nil
}

// isToken reports whether s can be part of an HTTP field name.
func isToken(s string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return false
		}
	}
	return s != ""
}

// paramHeaders gives the headers for the marked parameters that args has.
func paramHeaders(marks []mark, args []byte) []headerField {
	var out []headerField
	for _, m := range marks {
		if value, ok := primitive(lookup(args, m.path)); ok {
			out = append(out, headerField{"Mcp-Param-" + m.name, headerValue(value)})
		}
	}
	return out
}

// lookup finds the value at path, nil if there is none.
func lookup(object []byte, path []string) []byte {
	for _, name := range path {
		var found []byte
		fields(object, func(key string, value []byte) {
			if key == name {
				found = value
			}
		})
		object = found
	}
	return object
}

// primitive is the header text of a string, a boolean or an integer that all
// JSON parsers read alike.
func primitive(value []byte) (string, bool) {
	switch {
	case len(value) == 0 || string(value) == "null":
		return "", false
	case value[0] == '"':
		return unquote(value), true
	case string(value) == "true" || string(value) == "false":
		return string(value), true
	}
	m := message{id: value}
	n, ok := m.number()
	if !ok || n > 1<<53-1 || n < -(1<<53-1) {
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}

// headerValue encodes what a header cannot hold as it is.
func headerValue(s string) string {
	plain := strings.TrimSpace(s) == s && (!strings.HasPrefix(s, "=?base64?") || !strings.HasSuffix(s, "?="))
	for _, r := range s {
		plain = plain && r >= ' ' && r <= '~'
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}
