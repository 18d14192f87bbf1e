package kind

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSchemaOf(t *testing.T) {
	type head struct {
		Type string `yaml:"type" check:"required,enum=a|b"`
	}
	got, err := json.MarshalIndent(SchemaOf(&head{}, &everything{}), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Type                 string
		Properties           map[string]json.RawMessage
		AdditionalProperties bool
		Required             []string
	}
	if err := json.Unmarshal(got, &v); err != nil {
		t.Fatal(err)
	}
	if v.Type != "object" || v.AdditionalProperties {
		t.Error("not a closed object")
	}
	if diff := cmp.Diff([]string{"type"}, v.Required); diff != "" {
		t.Errorf("required (-want +got)\n%s", diff)
	}
	const innerSchema = `{"additionalProperties":false,"properties":{"name":{"type":"string"},"size":{"type":"integer"}},"required":["name"],"type":"object"}`
	const durationSchema = `{"maximum":0,"minimum":0,"pattern":"^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$","type":["string","integer"]}`
	want := map[string]string{
		"type":     `{"enum":["a","b"],"type":"string"}`,
		"text":     `{"description":"some text","maxLength":5,"minLength":2,"type":"string"}`,
		"count":    `{"default":3,"maximum":10,"minimum":1,"type":"integer"}`,
		"big":      `{"type":"integer"}`,
		"rate":     `{"maximum":1,"minimum":0,"type":"number"}`,
		"on":       `{"type":"boolean"}`,
		"level":    `{"enum":["low","middle","high"],"type":"string"}`,
		"words":    `{"items":{"type":"string"},"maxItems":3,"minItems":1,"type":"array"}`,
		"numbers":  `{"items":{"type":"number"},"type":"array"}`,
		"env":      `{"additionalProperties":{"type":"string"},"maxProperties":2,"type":"object"}`,
		"wait":     durationSchema,
		"maybeFor": durationSchema,
		"maybeInt": `{"minimum":0,"type":"integer"}`,
		"inner":    innerSchema,
		"maybe":    innerSchema,
		"list":     `{"items":` + innerSchema + `,"type":"array"}`,
		"raw":      `{}`,
		"any":      `{}`,
		"node":     `{}`,
		"own":      `{"additionalProperties":false,"properties":{},"type":"object"}`,
		"shared":   `{"type":"string"}`,
	}
	props := map[string]string{}
	for name, raw := range v.Properties {
		var compact any
		if err := json.Unmarshal(raw, &compact); err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(compact)
		props[name] = string(b)
	}
	if diff := cmp.Diff(want, props); diff != "" {
		t.Errorf("properties (-want +got)\n%s", diff)
	}
}

func TestFields(t *testing.T) {
	want := map[string]Field{
		"text":     {Type: "string, 2 to 5 characters", Doc: "some text"},
		"count":    {Type: "whole number, 1 to 10", Default: "3"},
		"big":      {Type: "whole number"},
		"rate":     {Type: "number, 0 to 1"},
		"on":       {Type: "true or false"},
		"level":    {Type: "low | middle | high"},
		"words":    {Type: "list of strings, 1 to 3 entries"},
		"numbers":  {Type: "list of numbers"},
		"env":      {Type: "mapping, 2 entries or less"},
		"wait":     {Type: "duration, 1ms to 1m0s"},
		"maybeFor": {Type: "duration, 1s or less"},
		"maybeInt": {Type: "whole number, 0 or more"},
		"inner":    {Type: "mapping"},
		"maybe":    {Type: "mapping"},
		"list":     {Type: "list of mappings"},
		"raw":      {Type: "any value"},
		"any":      {Type: "any value"},
		"node":     {Type: "any value"},
		"own":      {Type: "mapping"},
		"shared":   {Type: "string"},
	}
	got := map[string]Field{}
	for _, f := range Fields(&everything{}) {
		name := f.Name
		f.Name = ""
		got[name] = f
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if f := Fields(&inner{})[0]; !f.Required || f.Name != "name" {
		t.Errorf("got %+v", f)
	}
}

// spoken says its own schema.
type spoken struct{}

func (spoken) JSONSchema() Schema {
	return Schema{"oneOf": []Schema{{"type": "string"}, {"$ref": "#/$defs/target"}, {"type": "array", "items": Schema{"type": "integer"}}}}
}

func TestFieldsOfOwnSchemas(t *testing.T) {
	v := struct {
		One  spoken   `yaml:"one"`
		Many []spoken `yaml:"many"`
		Bare []any    `yaml:"bare"`
		Flag []bool   `yaml:"flag"`
	}{}
	var got []string
	for _, f := range Fields(&v) {
		got = append(got, f.Type)
	}
	want := []string{
		"string or target or list of whole numbers", "list of string or target or list of whole numbers",
		"list of any values", "list of true or false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for want, s := range map[string]Schema{
		"list of any values": {"type": "array"}, "mapping": {"type": "object"}, "number": {"type": "number"}, "true or false": {"type": "boolean"}, "any value": {},
	} {
		if got := s.text(); got != want {
			t.Errorf("%v: got %q, want %q", s, got, want)
		}
	}
}

func TestWrongTagPanics(t *testing.T) {
	for name, v := range map[string]any{
		"unknown rule": &struct {
			A int `yaml:"a" check:"requierd"`
		}{},
		"bad bound": &struct {
			A int `yaml:"a" check:"min=x"`
		}{},
		"bad duration bound": &struct {
			A Duration `yaml:"a" check:"min=5"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			Fields(v)
		})
	}
}

func TestCatalog(t *testing.T) {
	c := Catalog[int]{{Name: "a", New: func() int { return 1 }}, {Name: "b"}}
	if k, ok := c.Find("a"); !ok || k.New() != 1 {
		t.Error("a is not found")
	}
	if _, ok := c.Find("c"); ok {
		t.Error("c is found")
	}
	if diff := cmp.Diff([]string{"a", "b"}, c.Names()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
