package probe

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An exampler makes up values that fit a schema, as far as a schema that a
// stranger wrote can be trusted to end.
type exampler struct {
	root *value
	left int // values that may still be made
}

const (
	exampleDepth  = 8
	exampleValues = 200
	exampleText   = 1000 // bytes of a value that is taken over
	exampleName   = 200  // bytes of an argument's name, as written
)

// exampleArguments makes up the arguments that a tool cannot do without, in
// the order of its schema.
func exampleArguments(schema *value) []member {
	e := &exampler{root: schema, left: exampleValues}
	return e.object(followed(schema, schema), 0).members
}

// of makes up a value for a schema: what the schema itself offers, else
// something of its type.
func (e *exampler) of(s *value, depth int) *value {
	e.left--
	s = followed(e.root, s)
	if offered := offeredBy(s); offered != nil {
		return offered
	}
	if depth >= exampleDepth || e.left <= 0 {
		return &value{kind: isNull}
	}
	switch typeName(e.root, s) {
	case "string":
		return &value{kind: isString, text: exampleString(e.option(s))}
	case "integer", "number":
		return &value{kind: isNumber, text: exampleNumber(e.option(s))}
	case "boolean":
		return &value{kind: isBool, text: "false"}
	case "array":
		return e.array(e.option(s), depth)
	case "object":
		return e.object(e.option(s), depth)
	case "null":
		return &value{kind: isNull}
	}
	if o := e.option(s); o != s {
		return e.of(o, depth+1)
	}
	return &value{kind: isString, text: "example"}
}

// option is the part of a schema that says what the value is: the schema, or
// the first of its alternatives that is not null.
func (e *exampler) option(s *value) *value {
	if s.get("type") != nil || s.get("properties") != nil {
		return s
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		for _, o := range s.get(word).list() {
			if o = followed(e.root, o); o.get("type").str() != "null" {
				return o
			}
		}
	}
	return s
}

// offeredBy is a value that a schema names itself.
func offeredBy(s *value) *value {
	candidates := []*value{s.get("const"), s.get("default")}
	candidates = append(candidates, firstOf(s.get("examples")), firstOf(s.get("enum")))
	for _, c := range candidates {
		if c != nil && c.kind != isNull && c.weight() <= exampleText && c.depth() <= exampleDepth {
			return c
		}
	}
	return nil
}

func firstOf(v *value) *value {
	if list := v.list(); len(list) > 0 {
		return list[0]
	}
	return nil
}

// weight is about how long a value is when written.
func (v *value) weight() int {
	n := len(v.text) + 4
	for _, m := range v.members {
		n += len(m.name) + m.value.weight()
	}
	for _, item := range v.items {
		n += item.weight()
	}
	return n
}

func (v *value) depth() int {
	deepest := 0
	for _, m := range v.members {
		deepest = max(deepest, m.value.depth())
	}
	for _, item := range v.items {
		deepest = max(deepest, item.depth())
	}
	return deepest + 1
}

func (e *exampler) array(s *value, depth int) *value {
	v := &value{kind: isArray}
	n := 1
	if least, ok := s.get("minItems").number(); ok {
		n = int(min(max(least, 1), 10))
	}
	if most, ok := s.get("maxItems").number(); ok && most < float64(n) {
		n = int(max(most, 0))
	}
	item := s.get("items")
	for range n {
		if item.is(isObject) {
			v.items = append(v.items, e.of(item, depth+1))
		} else {
			v.items = append(v.items, &value{kind: isString, text: "example"})
		}
	}
	return v
}

// object makes up what an object cannot do without.
func (e *exampler) object(s *value, depth int) *value {
	v := &value{kind: isObject}
	required := s.get("required").set()
	add := func(name string, schema *value) {
		if !required[name] || e.left <= 0 || len(quoted(name)) > exampleName {
			return
		}
		delete(required, name)
		v.members = append(v.members, member{name, e.of(schema, depth+1)})
	}
	for _, m := range s.get("properties").object() {
		add(m.name, m.value)
	}
	for _, name := range s.get("required").strings() {
		add(name, nil)
	}
	return v
}

func exampleString(s *value) string {
	text := "example"
	switch s.get("format").str() {
	case "uri", "url", "uri-reference", "iri":
		text = "https://example.com/"
	case "email":
		text = "someone@example.com"
	case "date":
		text = "2026-01-31"
	case "date-time":
		text = "2026-01-31T12:00:00Z"
	case "time":
		text = "12:00:00Z"
	case "uuid":
		text = "00000000-0000-4000-8000-000000000000"
	case "hostname":
		text = "example.com"
	case "ipv4":
		text = "192.0.2.1"
	}
	if least, ok := s.get("minLength").number(); ok && least <= exampleText {
		for float64(len(text)) < least {
			text += " example"
		}
	}
	if most, ok := s.get("maxLength").number(); ok && most >= 0 && float64(len(text)) > most {
		text = text[:int(most)]
	}
	return strings.TrimSpace(text)
}

// exampleNumber is 1, or what is nearest to it between the limits.
func exampleNumber(s *value) string {
	n := 1.0
	whole := s.get("type").str() == "integer"
	if low, ok := s.get("minimum").number(); ok {
		n = max(n, low)
	}
	if low, ok := s.get("exclusiveMinimum").number(); ok && n <= low {
		n = low + 1
	}
	if high, ok := s.get("maximum").number(); ok {
		n = min(n, high)
	}
	if high, ok := s.get("exclusiveMaximum").number(); ok && n >= high {
		n = high - 1
	}
	if step, ok := s.get("multipleOf").number(); ok && step > 0 {
		n = math.Ceil(n/step) * step
	}
	if whole {
		n = math.Round(n)
	}
	if math.IsInf(n, 0) || math.IsNaN(n) || math.Abs(n) > 1e15 {
		n = 1
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// optional lists the arguments that a tool can do without.
func optional(schema *value) (names []string) {
	required := schema.get("required").set()
	for _, m := range schema.get("properties").object() {
		if !required[m.name] && utf8.RuneCountInString(m.name) <= shown {
			names = append(names, m.name)
		}
	}
	return names
}
