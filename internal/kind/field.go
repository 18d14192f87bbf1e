package kind

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// spec is what the tags of a struct field say.
type spec struct {
	index    []int
	typ      reflect.Type
	name     string
	doc      string
	required bool
	min, max *float64
	enum     []string
	def      string
}

// field is a spec with the value it speaks of.
type field struct {
	*spec
	v reflect.Value
}

// nullable tells whether null is a value of the field rather than the lack of one.
func (s *spec) nullable() bool {
	return s.typ == rawType || s.typ.Kind() == reflect.Interface
}

// specs keeps what structFields found: a suite decodes the same few types
// thousands of times.
var specs sync.Map // reflect.Type to []*spec

// structFields lists the fields of a struct type that YAML can name, those of
// embedded structs among them.
func structFields(t reflect.Type) []*spec {
	if known, ok := specs.Load(t); ok {
		return known.([]*spec)
	}
	var out []*spec
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct {
			for _, in := range structFields(sf.Type) {
				s := *in
				s.index = append([]int{i}, in.index...)
				out = append(out, &s)
			}
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if !sf.IsExported() || name == "" || name == "-" {
			continue
		}
		s := &spec{index: []int{i}, typ: sf.Type, name: name, doc: sf.Tag.Get("jsonschema")}
		for rule := range strings.SplitSeq(sf.Tag.Get("check"), ",") {
			s.rule(strings.TrimSpace(rule))
		}
		out = append(out, s)
	}
	specs.Store(t, out)
	return out
}

func (s *spec) rule(rule string) {
	name, arg, _ := strings.Cut(rule, "=")
	switch name {
	case "":
	case "required":
		s.required = true
	case "enum":
		s.enum = strings.Split(arg, "|")
	case "default":
		s.def = arg
	case "min":
		s.min = s.bound(arg)
	case "max":
		s.max = s.bound(arg)
	default:
		panic(fmt.Sprintf("check tag of %s: unknown rule %q", s.name, name)) // one of our own tags
	}
}

func (s *spec) bound(arg string) *float64 {
	n, err := strconv.ParseFloat(arg, 64)
	if s.isDuration() {
		var t time.Duration
		t, err = time.ParseDuration(arg)
		n = float64(t)
	}
	if err != nil {
		panic(fmt.Sprintf("check tag of %s: %v", s.name, err)) // one of our own tags
	}
	return &n
}

func (s *spec) isDuration() bool {
	return s.typ == durationType || (s.typ.Kind() == reflect.Pointer && s.typ.Elem() == durationType)
}

// number writes a value or a bound of the field.
func (s *spec) number(f float64) string {
	if s.isDuration() {
		return time.Duration(f).String()
	}
	return number(f)
}

// limits holds a decoded value against the field's tags.
func (f field) limits(d *Decoder, n *yaml.Node) {
	v := f.v
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if len(f.enum) > 0 && v.Kind() == reflect.String && !slices.Contains(f.enum, v.String()) {
		d.Add(Problem{
			Line: n.Line, Col: n.Column, Near: Near(v.String(), f.enum),
			Message: fmt.Sprintf("%s is %q, want one of %s", f.name, v.String(), strings.Join(f.enum, ", ")),
		})
	}
	size, unit, ok := magnitude(v)
	if !ok {
		return
	}
	switch {
	case f.min != nil && size == 0 && *f.min == 1 && unit != "":
		d.Errorf(n, "%s is empty", f.name)
	case f.min != nil && size < *f.min:
		d.Errorf(n, "%s is %s%s, want %s or more", f.name, f.number(size), unit, f.number(*f.min))
	case f.max != nil && size > *f.max:
		d.Errorf(n, "%s is %s%s, want %s or less", f.name, f.number(size), unit, f.number(*f.max))
	}
}

// magnitude is what min and max bound: a number, or the length of what has one.
func magnitude(v reflect.Value) (size float64, unit string, ok bool) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return float64(v.Int()), "", true
	case reflect.Float64:
		return v.Float(), "", true
	case reflect.String:
		return float64(utf8.RuneCountInString(v.String())), " characters long", true
	case reflect.Slice, reflect.Map:
		return float64(v.Len()), " entries long", true
	}
	return 0, "", false
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Field is a parameter of a kind, for help and reference pages.
type Field struct {
	Name, Type, Doc, Default string
	Required                 bool
}

// Fields lists what can be set on the struct that v points to.
func Fields(v any) (out []Field) {
	for _, s := range structFields(reflect.TypeOf(v).Elem()) {
		out = append(out, Field{s.name, s.typeText(), s.doc, s.def, s.required})
	}
	return out
}

func (s *spec) typeText() string {
	if len(s.enum) > 0 {
		return strings.Join(s.enum, " | ")
	}
	text, unit := typeText(s.typ), ""
	switch {
	case text == "string":
		unit = " characters"
	case strings.HasPrefix(text, "list") || text == "mapping":
		unit = " entries"
	}
	switch {
	case s.min != nil && s.max != nil:
		text += fmt.Sprintf(", %s to %s%s", s.number(*s.min), s.number(*s.max), unit)
	case s.max != nil:
		text += fmt.Sprintf(", %s%s or less", s.number(*s.max), unit)
	case s.min != nil && unit == "": // that a list has something in it goes without saying
		text += fmt.Sprintf(", %s or more", s.number(*s.min))
	}
	return text
}

func typeText(t reflect.Type) string {
	if s, ok := reflect.New(t).Interface().(Schemer); ok {
		return s.JSONSchema().text()
	}
	switch {
	case t == durationType:
		return "duration"
	case t == rawType || t == nodeType || t.Kind() == reflect.Interface:
		return "any value"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeText(t.Elem())
	case reflect.Slice:
		return listText(typeText(t.Elem()))
	}
	return strings.TrimPrefix(typeName(t), "a ")
}

func listText(item string) string {
	if strings.Contains(item, " or ") {
		return "list of " + item
	}
	return "list of " + item + "s"
}

// Schema is a JSON Schema document or a part of one.
type Schema map[string]any

// text says in a few words what a schema allows.
func (s Schema) text() string {
	if ref, ok := s["$ref"].(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if some, ok := s["oneOf"].([]Schema); ok {
		texts := make([]string, len(some))
		for i, one := range some {
			texts[i] = one.text()
		}
		return strings.Join(texts, " or ")
	}
	switch s["type"] {
	case "array":
		items, _ := s["items"].(Schema)
		return listText(items.text())
	case "object":
		return "mapping"
	case "integer":
		return "whole number"
	case "boolean":
		return "true or false"
	case "number", "string":
		return s["type"].(string)
	}
	return "any value"
}

// Schemer is implemented by types whose schema cannot be read off their fields.
type Schemer interface{ JSONSchema() Schema }

// SchemaOf gives the JSON Schema of the structs that the values point to, taken
// together as one object that allows nothing else.
func SchemaOf(values ...any) Schema {
	props := Schema{}
	required := []string{}
	for _, v := range values {
		for _, f := range structFields(reflect.TypeOf(v).Elem()) {
			props[f.name] = f.schema()
			if f.required {
				required = append(required, f.name)
			}
		}
	}
	s := Schema{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (s *spec) schema() Schema {
	out := schemaOfType(s.typ)
	if s.doc != "" {
		out["description"] = s.doc
	}
	if len(s.enum) > 0 {
		out["enum"] = s.enum
	}
	if s.def != "" {
		out["default"] = defaultValue(s.typ, s.def)
	}
	if s.isDuration() {
		return out // a pattern cannot bound it
	}
	low, high := limitWords(out["type"])
	if low != "" && s.min != nil {
		out[low] = *s.min
	}
	if high != "" && s.max != nil {
		out[high] = *s.max
	}
	return out
}

func limitWords(t any) (low, high string) {
	switch t {
	case "integer", "number":
		return "minimum", "maximum"
	case "string":
		return "minLength", "maxLength"
	case "array":
		return "minItems", "maxItems"
	case "object":
		return "minProperties", "maxProperties"
	}
	return "", ""
}

func defaultValue(t reflect.Type, text string) any {
	if t.Kind() != reflect.String && t != durationType {
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			return v
		}
	}
	return text
}

func schemaOfType(t reflect.Type) Schema {
	if s, ok := reflect.New(t).Interface().(Schemer); ok {
		return s.JSONSchema()
	}
	switch {
	case t == durationType:
		return Schema{ // a bare 0 needs no unit
			"type": []string{"string", "integer"}, "minimum": 0, "maximum": 0,
			"pattern": `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`,
		}
	case t == rawType || t == nodeType:
		return Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOfType(t.Elem())
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Slice:
		return Schema{"type": "array", "items": schemaOfType(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": schemaOfType(t.Elem())}
	case reflect.Struct:
		return SchemaOf(reflect.New(t).Interface())
	}
	return Schema{}
}
