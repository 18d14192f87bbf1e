package jsonschema

import (
	"encoding/json"
	"testing"
)

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`true`, `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, `{"$ref":"#"}`, `{"items":[{}]}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `{"pattern":"("}`, `{"type":7}`, `[]`, `null`,
	} {
		f.Add([]byte(s), []byte(`{"a":[1,"x",null]}`))
	}
	f.Fuzz(func(_ *testing.T, schema, doc []byte) {
		var v any
		if json.Unmarshal(doc, &v) != nil {
			return
		}
		if s, err := Compile(schema); err == nil {
			_ = s.Validate(v)
		}
	})
}
