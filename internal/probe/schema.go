package probe

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// A dialect is a version of JSON Schema.
type dialect struct {
	name string
	year int // orders them; 0 for one that nobody knows
}

// dialectOf reads the $schema of a schema. The protocol's default is 2020-12.
func dialectOf(schema *value) dialect {
	v := schema.get("$schema")
	if v == nil {
		return dialect{"2020-12", 2020}
	}
	name := strings.TrimSuffix(v.str(), "#")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
	switch name {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return dialect{"2020-12", 2020}
	case "json-schema.org/draft/2019-09/schema":
		return dialect{"2019-09", 2019}
	case "json-schema.org/draft-07/schema":
		return dialect{"draft-07", 2018}
	case "json-schema.org/draft-06/schema":
		return dialect{"draft-06", 2017}
	case "json-schema.org/draft-04/schema":
		return dialect{"draft-04", 2013}
	}
	return dialect{v.str(), 0}
}

// schemaWalk finds what is wrong with a schema by the rules of its dialect's
// meta-schema, and references that lead nowhere.
type schemaWalk struct {
	root     *value
	dialect  dialect
	path     []string
	problems []string
	outside  []string // references that leave the schema
	anchors  map[string]bool
	refs     []reference
}

type reference struct{ from, to string }

// maxProblems bounds what is said about one schema: what is wrong once is
// mostly wrong in many places.
const maxProblems = 3

// maxRefs bounds the references that are followed, each of which is a search.
const maxRefs = 2000

func walkSchema(root *value) *schemaWalk {
	w := &schemaWalk{root: root, dialect: dialectOf(root), anchors: map[string]bool{}}
	w.schema(root)
	for _, r := range w.refs {
		w.resolve(r)
	}
	return w
}

func (w *schemaWalk) pointer() string {
	var b strings.Builder
	b.WriteByte('#')
	for _, p := range w.path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

func (w *schemaWalk) problem(format string, args ...any) {
	w.problemAt(w.pointer(), fmt.Sprintf(format, args...))
}

func (w *schemaWalk) problemAt(pointer, text string) {
	if pointer != "#" {
		text = pointer + ": " + text
	}
	switch {
	case len(w.problems) < maxProblems:
		w.problems = append(w.problems, text)
	case len(w.problems) == maxProblems:
		w.problems = append(w.problems, "and more")
	}
}

func (w *schemaWalk) inside(name string, visit func()) {
	w.path = append(w.path, name)
	visit()
	w.path = w.path[:len(w.path)-1]
}

// schema visits a schema and those in it.
func (w *schemaWalk) schema(s *value) {
	if s.kind == isBool && w.dialect.year != 2013 {
		return
	}
	if s.kind != isObject {
		w.problem("it is %s instead of a schema", s.kind)
		return
	}
	for _, m := range s.members {
		w.keyword(m.name, m.value)
	}
}

// keyword looks at the value of one keyword. Those that no dialect knows are
// allowed by all of them.
func (w *schemaWalk) keyword(name string, v *value) {
	switch name {
	case "$schema", "$comment", "title", "description", "format", "contentEncoding", "contentMediaType", "$dynamicRef", "$dynamicAnchor":
		w.want(name, v, isString)
	case "$id", "$anchor", "$ref", "id":
		w.identity(name, v)
	case "pattern":
		if w.want(name, v, isString) {
			w.pattern(v.text)
		}
	case "type":
		w.types(v)
	case "enum", "examples":
		w.want(name, v, isArray)
	case "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum":
		w.limit(name, v)
	case "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties", "maxContains", "minContains":
		w.size(name, v)
	case "uniqueItems", "readOnly", "writeOnly", "deprecated":
		w.want(name, v, isBool)
	case "required":
		w.names(name, v)
	default:
		w.applicator(name, v)
	}
}

// applicator looks at keywords that hold schemas.
func (w *schemaWalk) applicator(name string, v *value) {
	switch name {
	case "not", "if", "then", "else", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "additionalItems", "contentSchema":
		if w.dialect.year == 2013 && v.kind == isBool { // the schema true is younger than these
			return
		}
		w.inside(name, func() { w.schema(v) })
	case "items":
		w.inside(name, func() { w.items(v) })
	case "allOf", "anyOf", "oneOf", "prefixItems":
		if w.want(name, v, isArray) && len(v.items) == 0 {
			w.problem("%s is empty", name)
		}
		w.inside(name, func() { w.all(v.items) })
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		if w.want(name, v, isObject) {
			w.inside(name, func() { w.named(name, v) })
		}
	case "dependentRequired":
		if w.want(name, v, isObject) {
			for _, m := range v.members {
				w.inside(name, func() { w.names(m.name, m.value) })
			}
		}
	}
}

func (w *schemaWalk) all(list []*value) {
	for i, s := range list {
		w.inside(fmt.Sprint(i), func() { w.schema(s) })
	}
}

func (w *schemaWalk) named(keyword string, v *value) {
	for _, m := range v.members {
		if keyword == "patternProperties" {
			w.pattern(m.name)
		}
		if keyword == "dependencies" && m.value.kind == isArray {
			w.names(m.name, m.value)
			continue
		}
		w.inside(m.name, func() { w.schema(m.value) })
	}
}

// items may be a list up to 2019-09; since then that is prefixItems.
func (w *schemaWalk) items(v *value) {
	switch {
	case v.kind != isArray:
		w.schema(v)
	case w.dialect.year >= 2020:
		w.problem("it is a list, which %s calls prefixItems", w.dialect.name)
	default:
		w.all(v.items)
	}
}

func (w *schemaWalk) want(name string, v *value, k kind) bool {
	if v.kind != k {
		w.problem("%s is %s instead of %s", name, v.kind, k)
	}
	return v.kind == k
}

// identity looks at the keywords that name and refer.
func (w *schemaWalk) identity(name string, v *value) {
	if name == "id" && w.dialect.year != 2013 || name != "id" && !w.want(name, v, isString) {
		return
	}
	switch anchor, isAnchor := strings.CutPrefix(v.str(), "#"); {
	case name == "$ref" && len(w.refs) < maxRefs:
		w.refs = append(w.refs, reference{w.pointer(), v.text})
	case name == "$anchor":
		w.anchors[v.text] = true
	case isAnchor:
		w.anchors[anchor] = true
	}
}

func (w *schemaWalk) types(v *value) {
	names := []*value{v}
	if v.kind == isArray {
		if names = v.items; len(names) == 0 {
			w.problem("type is empty")
		}
	}
	for _, n := range names {
		if n.kind != isString {
			w.problem("type is %s instead of a string or a list of them", n.kind)
			return
		}
		if !slices.Contains([]string{"array", "boolean", "integer", "null", "number", "object", "string"}, n.text) {
			w.problem("type %q does not exist", clip(n.text))
		}
	}
}

func (w *schemaWalk) limit(name string, v *value) {
	if w.dialect.year == 2013 && strings.HasPrefix(name, "exclusive") {
		w.want(name, v, isBool)
		return
	}
	if !w.want(name, v, isNumber) {
		return
	}
	if n, _ := v.number(); name == "multipleOf" && n <= 0 {
		w.problem("multipleOf is %s, want more than 0", clip(v.text))
	}
}

func (w *schemaWalk) size(name string, v *value) {
	if !w.want(name, v, isNumber) {
		return
	}
	if n, ok := v.number(); !ok || n < 0 || n != math.Trunc(n) {
		w.problem("%s is %s, want a whole number of 0 or more", name, clip(v.text))
	}
}

// names looks at a list of property names.
func (w *schemaWalk) names(name string, v *value) {
	if v.kind != isArray {
		w.problem("%s is %s instead of a list of names", name, v.kind)
		return
	}
	seen := map[string]bool{}
	for _, n := range v.items {
		switch {
		case n.kind != isString:
			w.problem("%s has %s among its names", name, n.kind)
			return
		case seen[n.text]:
			w.problem("%s has %q twice", name, clip(n.text))
			return
		}
		seen[n.text] = true
	}
}

// maxPattern bounds a pattern, and with it the depth of its nesting.
const maxPattern = 10_000

// pattern compiles a regular expression as JavaScript does, which is what the
// specification means, or as RE2, which some servers are written in.
func (w *schemaWalk) pattern(text string) {
	if len(text) > maxPattern {
		return
	}
	_, js := regexp2.Compile(text, regexp2.ECMAScript)
	if js == nil {
		return
	}
	if _, err := regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode); err == nil {
		return
	}
	if _, err := regexp.Compile(text); err == nil {
		return
	}
	w.problem("the pattern %q is not a regular expression", clip(text))
}

// resolve makes sure that a reference inside the schema leads to something.
func (w *schemaWalk) resolve(r reference) {
	target, err := localTarget(w.root, r.to)
	switch {
	case errors.Is(err, errOutside):
		w.outside = append(w.outside, r.to)
	case target == nil && !w.anchors[fragment(r.to)]:
		w.problemAt(r.from, fmt.Sprintf("$ref %q leads nowhere", clip(r.to)))
	}
}

var errOutside = errors.New("the reference leads out of the schema")

// localTarget follows a reference by JSON pointer. It gives nil for one that
// leads nowhere, or to an anchor.
func localTarget(root *value, ref string) (*value, error) {
	base, _, _ := strings.Cut(ref, "#")
	if base != "" && base != strings.TrimSuffix(root.get("$id").str(), "#") {
		return nil, errOutside
	}
	return root.at(fragment(ref)), nil
}

func fragment(ref string) string {
	_, f, _ := strings.Cut(ref, "#")
	if plain, err := url.PathUnescape(f); err == nil {
		return plain
	}
	return f
}

// followed gives the schema that s stands for, when it is a reference to
// another place in root.
func followed(root, s *value) *value {
	for range 8 {
		ref := s.get("$ref")
		if !ref.is(isString) {
			return s
		}
		next, err := localTarget(root, ref.text)
		if err != nil || next == nil {
			return s
		}
		s = next
	}
	return s
}

// typeName is the type of a value under a schema in a word, "" when it does
// not say.
func typeName(root, s *value) string {
	s = followed(root, s)
	t := s.get("type")
	if t.is(isString) {
		return t.text
	}
	for _, name := range t.strings() {
		if name != "null" {
			return name
		}
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		for _, option := range s.get(word).list() {
			if name := followed(root, option).get("type").str(); name != "" && name != "null" {
				return name
			}
		}
	}
	if len(s.get("enum").strings()) > 0 || s.get("const").is(isString) {
		return "string"
	}
	return ""
}

// shown is how much of foreign text a message quotes.
const shown = 60

// clip cuts foreign text for a message.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= shown {
		return s
	}
	return string([]rune(s)[:shown]) + "…"
}
