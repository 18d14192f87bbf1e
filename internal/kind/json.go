package kind

import (
	"bytes"
	"encoding/json"
	"math"

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
