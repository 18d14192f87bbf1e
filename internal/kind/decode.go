package kind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// NodeDecoder is implemented by types that read their YAML themselves.
type NodeDecoder interface {
	DecodeNode(d *Decoder, n *yaml.Node)
}

// Decoder reads one YAML file strictly and keeps every problem with its
// place, so that one pass finds all of them.
type Decoder struct {
	File     string
	Problems Problems

	lines []string // of the file, for excerpts
	list  *list    // the one that [ParseList] left aside
	empty bool
	json  bytes.Buffer // for [Decoder.JSON], used again and again
}

// Empty tells whether the file holds nothing but comments. To [Parse] that is a
// problem; to a reader for whom every setting is optional it need not be.
func (d *Decoder) Empty() bool { return d.empty }

// maxProblems bounds how many problems of a file are kept. A person fixes the
// first few; the bound is for files that are not what they were taken for.
const maxProblems = 1000

// maxExcerptLine is the length of a line over which problems do not show it.
const maxExcerptLine = 64 << 10

// Add keeps a problem, with the source line of its place.
func (d *Decoder) Add(p Problem) {
	switch n := len(d.Problems); {
	case n > maxProblems:
		return
	case n == maxProblems:
		p = Problem{Message: fmt.Sprintf("there are more than %d problems; the rest is not listed", maxProblems)}
	}
	if p.File = d.File; p.Source == "" {
		p.Source = d.Source(p.Line)
	}
	d.Problems = append(d.Problems, p)
}

// Source is a line of the file for an excerpt, or "" when it is too long for
// one.
func (d *Decoder) Source(line int) string {
	if text := d.line(line); len(text) <= maxExcerptLine {
		return strings.Clone(text) // not the whole file with it
	}
	return ""
}

// Forget lets the file's text go. What was decoded stays, and so do problems;
// a problem found later has an excerpt only if it brings one.
func (d *Decoder) Forget() { d.lines, d.list, d.json = nil, nil, bytes.Buffer{} }

// Errorf keeps a problem at a node.
func (d *Decoder) Errorf(n *yaml.Node, format string, args ...any) {
	d.Add(Problem{Line: n.Line, Col: n.Column, Message: fmt.Sprintf(format, args...)})
}

// Unknown keeps the problem of a name that is not one of the candidates.
func (d *Decoder) Unknown(n *yaml.Node, what, name string, candidates []string) {
	d.Add(Problem{Line: n.Line, Col: n.Column, Message: fmt.Sprintf("unknown %s %q", what, name), Near: Near(name, candidates)})
}

// Member is one key of a mapping with its value.
type Member struct{ Key, Value *yaml.Node }

// Resolve follows an alias to what it stands for.
func (d *Decoder) Resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Members lists a mapping's members in order, merge keys (<<) expanded;
// a repeated key is a problem. It gives false when n is not a mapping.
func (d *Decoder) Members(n *yaml.Node, what string) ([]Member, bool) {
	r := d.Resolve(n)
	if r.Kind != yaml.MappingNode {
		d.Errorf(n, "%s is %s, want a mapping", what, describe(r))
		return nil, false
	}
	return d.members(r, what), true
}

func (d *Decoder) members(n *yaml.Node, what string) []Member {
	out := make([]Member, 0, len(n.Content)/2)
	seen := newNames(len(n.Content) / 2)
	var merged []Member
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := d.Resolve(n.Content[i]), n.Content[i+1]
		switch {
		case key.Tag == "!!merge":
			merged = append(merged, d.merged(value, what)...)
			continue
		case key.Kind != yaml.ScalarNode:
			d.Errorf(n.Content[i], "a key of %s is %s, want a word", what, describe(key))
			continue
		}
		if first, fresh := seen.add(out, key.Value); !fresh {
			d.Errorf(n.Content[i], "%q stands twice in %s, first on line %d", key.Value, what, out[first].Key.Line)
			continue
		}
		out = append(out, Member{key, value})
	}
	for _, m := range merged { // what the mapping says itself comes first
		if _, fresh := seen.add(out, m.Key.Value); fresh {
			out = append(out, m)
		}
	}
	return out
}

// names finds members by name: the short lists that nearly all mappings are
// are searched, longer ones have an index.
type names map[string]int

func newNames(n int) names {
	if n <= 16 {
		return nil
	}
	return make(names, n)
}

// add notes the name of the member that goes to the end of the list next,
// unless the list has it: then it gives the place.
func (s *names) add(list []Member, name string) (at int, fresh bool) {
	if *s == nil && len(list) > 32 { // merge keys made a short list long
		*s = make(names, 2*len(list))
		for i, m := range list {
			(*s)[m.Key.Value] = i
		}
	}
	if *s != nil {
		if at, ok := (*s)[name]; ok {
			return at, false
		}
		(*s)[name] = len(list)
		return len(list), true
	}
	for i, m := range list {
		if m.Key.Value == name {
			return i, false
		}
	}
	return len(list), true
}

func (d *Decoder) merged(n *yaml.Node, what string) (out []Member) {
	switch r := d.Resolve(n); r.Kind {
	case yaml.MappingNode:
		return d.members(r, what)
	case yaml.SequenceNode:
		for _, item := range r.Content {
			out = append(out, d.merged(item, what)...)
		}
	default:
		d.Errorf(n, "a merge key (<<) of %s is %s, want a mapping", what, describe(r))
	}
	return out
}

// Decode reads a node into the value that into points to. what names the
// value in problems.
func (d *Decoder) Decode(n *yaml.Node, into any, what string) {
	d.value(n, reflect.ValueOf(into).Elem(), what)
}

// Struct reads members into the fields of the structs that into points to;
// the fields of all of them together are what is known. It gives the members
// by name.
func (d *Decoder) Struct(n *yaml.Node, what string, into ...any) map[string]Member {
	members, ok := d.Members(n, what)
	if !ok {
		return nil
	}
	given := make(map[string]Member, len(members))
	for _, m := range members {
		f, ok := findField(into, m.Key.Value)
		if !ok {
			d.unknownField(m.Key, what, into)
			continue
		}
		given[m.Key.Value] = m
		d.field(f, m)
	}
	for _, v := range into {
		for _, s := range structFields(reflect.TypeOf(v).Elem()) {
			if _, ok := given[s.name]; s.required && !ok {
				d.Errorf(n, "%s has no %s", what, s.name)
			}
		}
	}
	return given
}

// findField finds a field of the structs by its name in YAML.
func findField(structs []any, name string) (field, bool) {
	for _, v := range structs {
		v := reflect.ValueOf(v).Elem()
		for _, s := range structFields(v.Type()) {
			if s.name == name {
				return field{s, v.FieldByIndex(s.index)}, true
			}
		}
	}
	return field{}, false
}

func (d *Decoder) unknownField(key *yaml.Node, what string, structs []any) {
	var names []string
	for _, v := range structs {
		for _, s := range structFields(reflect.TypeOf(v).Elem()) {
			names = append(names, s.name)
		}
	}
	d.Add(Problem{
		Line: key.Line, Col: key.Column, Near: Near(key.Value, names),
		Message: fmt.Sprintf("unknown field %q in %s", key.Value, what),
	})
}

func (d *Decoder) field(f field, m Member) {
	if isNull(d.Resolve(m.Value)) && !f.required && !f.nullable() {
		return // an empty optional value is as good as none
	}
	before := len(d.Problems)
	d.value(m.Value, f.v, m.Key.Value)
	if len(d.Problems) == before {
		f.limits(d, m.Value)
	}
}

var (
	rawType      = reflect.TypeFor[json.RawMessage]()
	nodeType     = reflect.TypeFor[yaml.Node]()
	durationType = reflect.TypeFor[Duration]()
	stringType   = reflect.TypeFor[string]()
)

func (d *Decoder) value(n *yaml.Node, v reflect.Value, what string) {
	r := d.Resolve(n)
	if v.CanAddr() {
		if nd, ok := v.Addr().Interface().(NodeDecoder); ok {
			nd.DecodeNode(d, r)
			return
		}
	}
	switch v.Type() {
	case rawType:
		v.SetBytes(d.JSON(n))
		return
	case nodeType:
		v.Set(reflect.ValueOf(*r))
		return
	case durationType:
		d.duration(r, v, what)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem(), what)
	case reflect.Struct:
		d.Struct(n, what, v.Addr().Interface())
	case reflect.Slice:
		d.slice(n, v, what)
	case reflect.Map:
		d.mapping(n, v, what)
	case reflect.Interface:
		d.any(n, v)
	default:
		d.scalar(n, v, what)
	}
}

func (d *Decoder) slice(n *yaml.Node, v reflect.Value, what string) {
	r := d.Resolve(n)
	if r.Kind != yaml.SequenceNode {
		d.Errorf(n, "%s is %s, want a list", what, describe(r))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(r.Content), len(r.Content))
	plain := v.Type().Elem() == stringType
	for i, item := range r.Content {
		if plain && isString(item) {
			out.Index(i).SetString(strings.Clone(item.Value))
			continue
		}
		d.value(item, out.Index(i), fmt.Sprintf("%s[%d]", what, i))
	}
	v.Set(out)
}

func (d *Decoder) mapping(n *yaml.Node, v reflect.Value, what string) {
	members, ok := d.Members(n, what)
	if !ok {
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(members))
	for _, m := range members {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(m.Value, item, m.Key.Value)
		out.SetMapIndex(reflect.ValueOf(strings.Clone(m.Key.Value)).Convert(v.Type().Key()), item)
	}
	v.Set(out)
}

func (d *Decoder) any(n *yaml.Node, v reflect.Value) {
	raw := d.JSON(n)
	var out any
	if raw == nil || json.Unmarshal(raw, &out) != nil || out == nil {
		return // the problem is kept, or there is nothing to set
	}
	v.Set(reflect.ValueOf(out))
}

func (d *Decoder) scalar(n *yaml.Node, v reflect.Value, what string) {
	r := d.Resolve(n)
	tag := r.ShortTag()
	ok := false
	switch v.Kind() {
	case reflect.String:
		if ok = isString(r); ok {
			v.SetString(strings.Clone(r.Value)) // not the whole file with it
		}
	case reflect.Bool:
		var b bool
		if ok = tag == "!!bool" && r.Decode(&b) == nil; ok {
			v.SetBool(b)
		}
	case reflect.Int, reflect.Int64:
		var i int64
		if ok = tag == "!!int" && r.Decode(&i) == nil && !v.OverflowInt(i); ok {
			v.SetInt(i)
		}
	case reflect.Float64:
		var f float64
		if ok = (tag == "!!int" || tag == "!!float") && r.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0); ok {
			v.SetFloat(f)
		}
	}
	if ok {
		return
	}
	hint := ""
	if v.Kind() == reflect.String && r.Kind == yaml.ScalarNode && r.Value != "" && !isNull(r) {
		hint = fmt.Sprintf(": write %q", r.Value)
	}
	d.Errorf(n, "%s is %s, want %s%s", what, describe(r), typeName(v.Type()), hint)
}

// isString tells the scalars that are text: also a date, which YAML takes for
// more than that.
func isString(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	tag := n.ShortTag()
	return tag == "!!str" || tag == "!!timestamp"
}

func (d *Decoder) duration(r *yaml.Node, v reflect.Value, what string) {
	t, err := time.ParseDuration(r.Value)
	if r.Kind != yaml.ScalarNode || err != nil || t < 0 {
		d.Errorf(r, "%s is %s, want a duration like 500ms, 30s or 2m", what, describe(r))
		return
	}
	v.SetInt(int64(t))
}

// Duration is a time.Duration that is written like 30s in YAML and JSON.
type Duration time.Duration

func (t Duration) String() string { return time.Duration(t).String() }

// MarshalText writes the duration as it is read.
func (t Duration) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*t = Duration(v)
	return err
}

// describe says what a node is, in a few words of its own.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	value := n.Value
	if utf8.RuneCountInString(value) > 40 {
		value = string([]rune(value[:min(len(value), 160)])[:40]) + "…"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!int", "!!float":
		return "the number " + value
	case "!!bool":
		return "the truth value " + value
	}
	return strconv.Quote(value)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return "a mapping"
}
