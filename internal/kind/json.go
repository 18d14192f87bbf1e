package kind

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// JSON gives a node as JSON, members in the order they were written. It gives
// nil, and a problem, for what JSON cannot hold.
func (d *Decoder) JSON(n *yaml.Node) json.RawMessage {
	d.json.Reset()
	if !d.writeJSON(&d.json, n) {
		return nil
	}
	return bytes.Clone(d.json.Bytes())
}

func (d *Decoder) writeJSON(b *bytes.Buffer, n *yaml.Node) bool {
	switch r := d.Resolve(n); r.Kind {
	case yaml.MappingNode:
		return d.writeObject(b, r)
	case yaml.SequenceNode:
		return d.writeArray(b, r)
	default:
		return d.writeScalar(b, r)
	}
}

// writeObject goes on after a problem, to find the others.
func (d *Decoder) writeObject(b *bytes.Buffer, r *yaml.Node) bool {
	before := len(d.Problems)
	members := d.members(r, "the mapping")
	ok := len(d.Problems) == before
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		writeValue(b, m.Key.Value)
		b.WriteByte(':')
		ok = d.writeJSON(b, m.Value) && ok
	}
	b.WriteByte('}')
	return ok
}

func (d *Decoder) writeArray(b *bytes.Buffer, r *yaml.Node) bool {
	ok := true
	b.WriteByte('[')
	for i, item := range r.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		ok = d.writeJSON(b, item) && ok
	}
	b.WriteByte(']')
	return ok
}

func (d *Decoder) writeScalar(b *bytes.Buffer, r *yaml.Node) bool {
	switch r.ShortTag() {
	case "!!null":
		b.WriteString("null")
		return true
	case "!!bool", "!!int", "!!float":
		if json.Valid([]byte(r.Value)) { // 12345678901234567890 keeps its digits
			b.WriteString(r.Value)
			return true
		}
		var v any
		if err := r.Decode(&v); err != nil {
			d.Errorf(r, "%s cannot be read: %v", describe(r), err)
			return false
		}
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			d.Errorf(r, "%s has no form in JSON", describe(r))
			return false
		}
		writeValue(b, v)
		return true
	}
	writeValue(b, r.Value)
	return true
}

// writeValue writes a scalar without the HTML escapes of json.Marshal: what
// goes to a server is what the suite says.
func writeValue(b *bytes.Buffer, v any) {
	if s, ok := v.(string); ok && plain(s) {
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
		return
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a scalar always encodes
	b.Truncate(b.Len() - 1)
}

// plain tells the strings that JSON writes as they are, which nearly all are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// FromJSON is a JSON value as a node, every part of it at the given place: what
// was stored as JSON is decoded, and its problems are told, like the file it
// came from.
func FromJSON(data []byte, line, col int) (*yaml.Node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	b := nodeBuilder{dec, line, col}
	n, err := b.value()
	if err == nil && dec.More() {
		err = errors.New("there is more after the JSON value")
	}
	return n, err
}

type nodeBuilder struct {
	dec       *json.Decoder
	line, col int
}

func (b *nodeBuilder) value() (*yaml.Node, error) {
	t, err := b.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return b.list(yaml.MappingNode, "!!map")
		}
		return b.list(yaml.SequenceNode, "!!seq")
	case string:
		return b.scalar("!!str", t, yaml.DoubleQuotedStyle), nil
	case json.Number:
		if strings.ContainsAny(t.String(), ".eE") {
			return b.scalar("!!float", t.String(), 0), nil
		}
		return b.scalar("!!int", t.String(), 0), nil
	case bool:
		return b.scalar("!!bool", strconv.FormatBool(t), 0), nil
	}
	return b.scalar("!!null", "null", 0), nil
}

// list reads the values of an array, or the names and values of an object.
func (b *nodeBuilder) list(kind yaml.Kind, tag string) (*yaml.Node, error) {
	n := &yaml.Node{Kind: kind, Tag: tag, Line: b.line, Column: b.col}
	for b.dec.More() {
		v, err := b.value()
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, v)
	}
	_, err := b.dec.Token() // the end
	return n, err
}

func (b *nodeBuilder) scalar(tag, value string, style yaml.Style) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Style: style, Line: b.line, Column: b.col}
}
