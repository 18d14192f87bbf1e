package jsonschema

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/grade/reason"
	"github.com/mettle-eval/mettle/internal/kind"
)

// schemaCheck looks at a schema for what its compiler lets through: types that
// do not exist, and references that lead back to themselves without going into
// the value, on which validation would never end.
type schemaCheck struct {
	anchors map[string]string   // by name, the JSON pointer of the schema that has it
	refs    map[string]string   // by pointer of the schema, the reference in it
	inPlace map[string][]string // by pointer, the schemas applied to the same value
	err     error               // the first
}

func check(doc any) error {
	c := &schemaCheck{anchors: map[string]string{}, refs: map[string]string{}, inPlace: map[string][]string{}}
	if root, ok := doc.(map[string]any); ok {
		if draft, _ := root["$schema"].(string); draft != "" && !slices.Contains(drafts, draft) {
			return fmt.Errorf("$schema is %s, want one of %s", reason.Quote(draft), reason.QuoteAll(drafts))
		}
	}
	c.schema("", doc)
	for _, from := range slices.Sorted(maps.Keys(c.refs)) {
		c.resolve(from, c.refs[from])
	}
	if c.err != nil {
		return c.err
	}
	return c.cycle()
}

var (
	drafts = []string{
		"https://json-schema.org/draft/2020-12/schema",
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#",
	}
	schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

	// Keywords that hold schemas: one, a list, or a mapping; those of the
	// first line of each apply to the value itself.
	inPlaceOne  = []string{"not", "if", "then", "else"}
	inPlaceList = []string{"allOf", "anyOf", "oneOf"}
	inPlaceMap  = []string{"dependentSchemas", "dependencies"}
	deeperOne   = []string{
		"items", "additionalItems", "contains", "additionalProperties", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema",
	}
	deeperList = []string{"prefixItems", "items"}
	deeperMap  = []string{"properties", "patternProperties", "$defs", "definitions"}
)

func (c *schemaCheck) fail(at, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("#%s: %s", at, fmt.Sprintf(format, args...))
	}
}

// schema visits a schema and those in it.
func (c *schemaCheck) schema(at string, v any) {
	c.inPlace[at] = []string{}
	s, ok := v.(map[string]any)
	if !ok {
		if _, isBool := v.(bool); !isBool {
			c.fail(at, "a schema is a mapping, true or false")
		}
		return
	}
	c.words(at, s)
	c.types(at, s["type"])
	for _, child := range childSchemas(s, inPlaceOne, inPlaceList, inPlaceMap) {
		c.inPlace[at] = append(c.inPlace[at], at+child.at)
		c.schema(at+child.at, child.v)
	}
	for _, child := range childSchemas(s, deeperOne, deeperList, deeperMap) {
		c.schema(at+child.at, child.v)
	}
}

// words looks at the keywords that name and refer.
func (c *schemaCheck) words(at string, s map[string]any) {
	for _, word := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := s[word]; ok {
			c.fail(at, "%s is not supported", word)
		}
	}
	if _, ok := s["$id"]; ok && at != "" {
		c.fail(at, "$id is supported at the root of the schema only")
	}
	patterns := []string{}
	if p, ok := s["pattern"].(string); ok {
		patterns = append(patterns, p)
	}
	if ps, ok := s["patternProperties"].(map[string]any); ok {
		patterns = slices.AppendSeq(patterns, maps.Keys(ps))
	}
	for _, p := range patterns {
		if _, err := regexp.Compile(p); err != nil {
			c.fail(at, "pattern %s is %s", reason.Quote(p), reason.Syntax(err))
		}
	}
	if anchor, ok := s["$anchor"].(string); ok {
		c.anchors[anchor] = at
	}
	if ref, ok := s["$ref"].(string); ok {
		c.refs[at] = ref
	}
}

func (c *schemaCheck) types(at string, v any) {
	names, ok := v.([]any)
	if !ok {
		names = []any{v}
	}
	for _, name := range names {
		if text, ok := name.(string); ok && !slices.Contains(schemaTypes, text) {
			hint := ""
			if near := kind.Near(text, schemaTypes); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			c.fail(at, "unknown type %q%s", text, hint)
		}
	}
}

type childSchema struct {
	at string
	v  any
}

// childSchemas lists the schemas under some keywords, with their pointers.
func childSchemas(s map[string]any, one, list, mapping []string) (out []childSchema) {
	for _, word := range one {
		if v, ok := s[word]; ok {
			if _, isList := v.([]any); !isList || word != "items" { // a list of items is draft 7's prefixItems
				out = append(out, childSchema{"/" + word, v})
			}
		}
	}
	for _, word := range list {
		if vs, ok := s[word].([]any); ok {
			for i, v := range vs {
				out = append(out, childSchema{"/" + word + "/" + strconv.Itoa(i), v})
			}
		}
	}
	for _, word := range mapping {
		if vs, ok := s[word].(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(vs)) {
				if _, isList := vs[name].([]any); !isList || word != "dependencies" { // a list is of names
					out = append(out, childSchema{"/" + word + "/" + pointerEscape.Replace(name), vs[name]})
				}
			}
		}
	}
	return out
}

// pointerEscape writes a name as a part of a JSON pointer.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// resolve finds the schema a reference means.
func (c *schemaCheck) resolve(from, ref string) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		c.fail(from, "$ref %s leads out of the schema", reason.Quote(ref))
		return
	}
	target, err := url.PathUnescape(fragment)
	if named, ok := c.anchors[target]; ok && target != "" {
		target = named
	}
	if _, known := c.inPlace[target]; !known || err != nil {
		c.fail(from, "$ref %s leads to no schema", reason.Quote(ref))
		return
	}
	c.inPlace[from] = append(c.inPlace[from], target)
}

// cycle looks for schemas that apply to a value only if they apply to it.
func (c *schemaCheck) cycle() error {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(at string) error
	visit = func(at string) error {
		switch state[at] {
		case open:
			return errors.New("#" + at + ": $ref leads back here without going into the value")
		case done:
			return nil
		}
		state[at] = open
		for _, next := range c.inPlace[at] {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[at] = done
		return nil
	}
	for _, at := range slices.Sorted(maps.Keys(c.inPlace)) {
		if err := visit(at); err != nil {
			return err
		}
	}
	return nil
}
