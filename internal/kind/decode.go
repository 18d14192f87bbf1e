package kind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxFile is the size over which a YAML file is refused.
const MaxFile = 4 << 20

// visitBudget bounds how many nodes one file may have decoded, aliases
// expanded; a file of [MaxFile] without aliases stays far below it.
const visitBudget = 4 << 20

// NodeDecoder is implemented by types that read their YAML themselves.
type NodeDecoder interface {
	DecodeNode(d *Decoder, n *yaml.Node)
}

// Decoder reads one YAML file strictly and keeps every problem with its
// place, so that one pass finds all of them.
type Decoder struct {
	File     string
	Problems Problems

	lines  []string
	visits int
	open   map[*yaml.Node]bool // aliases being followed
	blown  bool
}

// Parse reads the file's one document. It gives nil when there is none to
// decode; the problems say why.
func Parse(file string, data []byte) (*Decoder, *yaml.Node) {
	d := &Decoder{File: file, open: map[*yaml.Node]bool{}}
	switch {
	case len(data) > MaxFile:
		d.Add(Problem{Message: fmt.Sprintf("the file is %d bytes, more than the %d MiB allowed", len(data), MaxFile>>20)})
		return d, nil
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		d.Add(Problem{Message: "the file is not text in UTF-8"})
		return d, nil
	}
	d.lines = strings.Split(string(data), "\n")
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			d.Add(Problem{Message: "the file is empty"})
		} else {
			d.syntax(err)
		}
		return d, nil
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		d.Errorf(&more, "a second document: the file must hold one")
	case !errors.Is(err, io.EOF):
		d.syntax(err)
		return d, nil
	}
	return d, doc.Content[0]
}

// syntaxLine finds the line in the parser's own words.
var syntaxLine = func(msg string) (int, string) {
	m := regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`).FindStringSubmatch(msg)
	if m == nil {
		return 0, msg
	}
	line, _ := strconv.Atoi(m[1])
	return line, m[2]
}

func (d *Decoder) syntax(err error) {
	line, msg := syntaxLine(err.Error())
	p := Problem{Line: line, Col: 1, Message: "not valid YAML: " + msg}
	if line > 0 && line <= len(d.lines) {
		p.Col = len(d.lines[line-1]) - len(strings.TrimLeft(d.lines[line-1], " \t")) + 1
	}
	d.Add(p)
}

// Add keeps a problem, with the source line of its place.
func (d *Decoder) Add(p Problem) {
	p.File = d.File
	if p.Line > 0 && p.Line <= len(d.lines) {
		p.Source = d.lines[p.Line-1]
	}
	d.Problems = append(d.Problems, p)
}

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

// Resolve follows an alias to what it stands for. It gives nil, and a
// problem, for an alias inside its own anchor or when a file's aliases expand
// without bound.
func (d *Decoder) Resolve(n *yaml.Node) *yaml.Node {
	if d.blown {
		return nil
	}
	if d.visits++; d.visits > visitBudget {
		d.blown = true
		d.Errorf(n, "the file's aliases expand to more than %d values", visitBudget)
		return nil
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// enter marks a node as being decoded and tells whether it already was: then
// an anchor holds itself.
func (d *Decoder) enter(n *yaml.Node) bool {
	if d.open[n] {
		d.Errorf(n, "the anchor %q contains itself", n.Anchor)
		return false
	}
	if n.Anchor != "" {
		d.open[n] = true
	}
	return true
}

func (d *Decoder) leave(n *yaml.Node) { delete(d.open, n) }

// Members lists a mapping's members in order, merge keys (<<) expanded;
// a repeated key is a problem. It gives false when n is not a mapping.
func (d *Decoder) Members(n *yaml.Node, what string) ([]Member, bool) {
	r := d.Resolve(n)
	if r == nil {
		return nil, false
	}
	if r.Kind != yaml.MappingNode {
		d.Errorf(n, "%s is %s, want a mapping", what, describe(r))
		return nil, false
	}
	if !d.enter(r) {
		return nil, false
	}
	defer d.leave(r)
	return d.members(r, what), true
}

func (d *Decoder) members(n *yaml.Node, what string) (out []Member) {
	seen := map[string]int{} // index in out
	var merged []Member
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, d.merged(value, what)...)
			continue
		}
		if k := d.Resolve(key); k == nil || k.Kind != yaml.ScalarNode {
			d.Errorf(key, "a key of %s is not a plain word", what)
			continue
		} else if key != k {
			key = k
		}
		if _, dup := seen[key.Value]; dup {
			d.Errorf(key, "%q stands twice in %s", key.Value, what)
			continue
		}
		seen[key.Value] = len(out)
		out = append(out, Member{key, value})
	}
	for _, m := range merged {
		if _, own := seen[m.Key.Value]; !own {
			seen[m.Key.Value] = len(out)
			out = append(out, m)
		}
	}
	return out
}

func (d *Decoder) merged(n *yaml.Node, what string) (out []Member) {
	r := d.Resolve(n)
	switch {
	case r == nil:
	case r.Kind == yaml.MappingNode:
		out, _ = d.Members(n, what)
	case r.Kind == yaml.SequenceNode:
		for _, item := range r.Content {
			out = append(out, d.merged(item, what)...)
		}
	default:
		d.Errorf(n, "a merge key (<<) of %s needs a mapping", what)
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
	fields := map[string]field{}
	var names []string
	for _, v := range into {
		for _, f := range structFields(reflect.ValueOf(v).Elem()) {
			fields[f.name] = f
			names = append(names, f.name)
		}
	}
	given := make(map[string]Member, len(members))
	for _, m := range members {
		f, known := fields[m.Key.Value]
		if !known {
			d.Unknown(m.Key, "field", m.Key.Value, names)
			d.Problems[len(d.Problems)-1].Message += " in " + what
			continue
		}
		given[m.Key.Value] = m
		if r := d.Resolve(m.Value); r == nil || (isNull(r) && !f.required && !f.nullable()) {
			continue // an empty optional value is as good as none
		}
		before := len(d.Problems)
		d.value(m.Value, f.v, m.Key.Value)
		if len(d.Problems) == before {
			f.limits(d, m.Value)
		}
	}
	for _, name := range names {
		if _, ok := given[name]; fields[name].required && !ok {
			d.Errorf(n, "%s has no %s", what, name)
		}
	}
	return given
}

var (
	rawType      = reflect.TypeFor[json.RawMessage]()
	nodeType     = reflect.TypeFor[yaml.Node]()
	durationType = reflect.TypeFor[Duration]()
)

func (d *Decoder) value(n *yaml.Node, v reflect.Value, what string) {
	r := d.Resolve(n)
	if r == nil {
		return
	}
	if v.CanAddr() {
		if nd, ok := v.Addr().Interface().(NodeDecoder); ok {
			if d.enter(r) {
				nd.DecodeNode(d, r)
				d.leave(r)
			}
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
		d.duration(r, v)
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
		d.slice(r, v, what)
	case reflect.Map:
		d.mapping(n, v, what)
	case reflect.Interface:
		d.any(n, v)
	default:
		d.scalar(r, v, what)
	}
}

func (d *Decoder) slice(r *yaml.Node, v reflect.Value, what string) {
	if r.Kind != yaml.SequenceNode {
		d.Errorf(r, "%s is %s, want a list", what, describe(r))
		return
	}
	if !d.enter(r) {
		return
	}
	defer d.leave(r)
	out := reflect.MakeSlice(v.Type(), len(r.Content), len(r.Content))
	for i, item := range r.Content {
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
		out.SetMapIndex(reflect.ValueOf(m.Key.Value).Convert(v.Type().Key()), item)
	}
	v.Set(out)
}

func (d *Decoder) any(n *yaml.Node, v reflect.Value) {
	raw := d.JSON(n)
	var out any
	if raw == nil || json.Unmarshal(raw, &out) != nil || out == nil {
		return
	}
	v.Set(reflect.ValueOf(out))
}

func (d *Decoder) scalar(r *yaml.Node, v reflect.Value, what string) {
	if r.Kind != yaml.ScalarNode {
		d.Errorf(r, "%s is %s, want %s", what, describe(r), typeName(v.Type()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if tag := r.ShortTag(); tag != "!!str" && tag != "!!timestamp" {
			d.Errorf(r, "%s is %s, want a string: write %q", what, describe(r), r.Value)
			return
		}
		v.SetString(r.Value)
		return
	case reflect.Bool:
		var b bool
		if r.ShortTag() == "!!bool" && r.Decode(&b) == nil {
			v.SetBool(b)
			return
		}
	case reflect.Int, reflect.Int64:
		var i int64
		if r.ShortTag() == "!!int" && r.Decode(&i) == nil {
			v.SetInt(i)
			return
		}
	case reflect.Float64:
		var f float64
		if tag := r.ShortTag(); (tag == "!!int" || tag == "!!float") && r.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			v.SetFloat(f)
			return
		}
	}
	d.Errorf(r, "%s is %s, want %s", what, describe(r), typeName(v.Type()))
}

func (d *Decoder) duration(r *yaml.Node, v reflect.Value) {
	t, err := time.ParseDuration(r.Value)
	if r.Kind != yaml.ScalarNode || err != nil || t < 0 {
		d.Errorf(r, "%s is not a duration: write it like 500ms, 30s or 2m", describe(r))
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
	if r := []rune(value); len(r) > 40 {
		value = string(r[:40]) + "…"
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
