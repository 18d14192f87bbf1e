package kind

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// field is a struct field with what its tags say.
type field struct {
	v        reflect.Value
	name     string
	doc      string
	required bool
	min, max *float64
	enum     []string
	def      string
}

// nullable tells whether null is a value of the field rather than the lack of one.
func (f field) nullable() bool {
	return f.v.Type() == rawType || f.v.Kind() == reflect.Interface
}

// structFields lists the fields of a struct value that YAML can name, those of
// embedded structs among them.
func structFields(v reflect.Value) (out []field) {
	t := v.Type()
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct {
			out = append(out, structFields(v.Field(i))...)
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if !sf.IsExported() || name == "" || name == "-" {
			continue
		}
		f := field{v: v.Field(i), name: name, doc: sf.Tag.Get("jsonschema")}
		for rule := range strings.SplitSeq(sf.Tag.Get("check"), ",") {
			f.rule(strings.TrimSpace(rule))
		}
		out = append(out, f)
	}
	return out
}

func (f *field) rule(rule string) {
	name, arg, _ := strings.Cut(rule, "=")
	switch name {
	case "":
	case "required":
		f.required = true
	case "enum":
		f.enum = strings.Split(arg, "|")
	case "default":
		f.def = arg
	case "min", "max":
		n, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			panic(fmt.Sprintf("check tag of %s: %v", f.name, err)) // one of our own tags
		}
		if name == "min" {
			f.min = &n
		} else {
			f.max = &n
		}
	default:
		panic(fmt.Sprintf("check tag of %s: unknown rule %q", f.name, name))
	}
}

// limits holds a decoded value against the field's tags.
func (f *field) limits(d *Decoder, n *yaml.Node) {
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
	if f.min != nil && size < *f.min {
		d.Errorf(n, "%s is %s%s, want %s or more", f.name, number(size), unit, number(*f.min))
	}
	if f.max != nil && size > *f.max {
		d.Errorf(n, "%s is %s%s, want %s or less", f.name, number(size), unit, number(*f.max))
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
	for _, f := range structFields(reflect.ValueOf(v).Elem()) {
		out = append(out, Field{f.name, f.typeText(), f.doc, f.def, f.required})
	}
	return out
}

func (f field) typeText() string {
	t := f.v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text := ""
	switch {
	case len(f.enum) > 0:
		return strings.Join(f.enum, " | ")
	case t == durationType:
		text = "duration"
	case t == rawType || t.Kind() == reflect.Interface:
		text = "any value"
	case t.Kind() == reflect.Slice:
		text = "list of " + strings.TrimPrefix(strings.TrimPrefix(typeName(t.Elem()), "a "), "whole ") + "s"
	default:
		text = strings.TrimPrefix(typeName(t), "a ")
	}
	switch {
	case f.min != nil && f.max != nil:
		text += fmt.Sprintf(", %s to %s", number(*f.min), number(*f.max))
	case f.min != nil && t.Kind() != reflect.Slice && t.Kind() != reflect.String:
		text += fmt.Sprintf(", %s or more", number(*f.min))
	}
	return text
}

// Schema is a JSON Schema document or a part of one.
type Schema map[string]any

// Schemer is implemented by types whose schema cannot be read off their fields.
type Schemer interface{ JSONSchema() Schema }

// SchemaOf gives the JSON Schema of the structs that the values point to, taken
// together as one object that allows nothing else.
func SchemaOf(values ...any) Schema {
	props := Schema{}
	required := []string{}
	for _, v := range values {
		for _, f := range structFields(reflect.ValueOf(v).Elem()) {
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

func (f field) schema() Schema {
	s := schemaOfType(f.v.Type())
	if f.doc != "" {
		s["description"] = f.doc
	}
	if len(f.enum) > 0 {
		s["enum"] = f.enum
	}
	if f.def != "" {
		s["default"] = defaultValue(f.v.Type(), f.def)
	}
	low, high := limitWords(s["type"])
	if low != "" && f.min != nil {
		s[low] = *f.min
	}
	if high != "" && f.max != nil {
		s[high] = *f.max
	}
	return s
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
		return Schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
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
