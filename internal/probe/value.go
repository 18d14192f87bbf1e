package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A value is JSON with its members in the order they were sent, which maps
// would lose and people would miss. Methods take nil for a value that is not
// there.
type value struct {
	kind    kind
	text    string // of a string, or the number as it stands
	members []member
	items   []*value
}

type member struct {
	name  string
	value *value
}

// kind says what a value is, in the words of messages.
type kind string

const (
	isObject kind = "an object"
	isArray  kind = "an array"
	isString kind = "a string"
	isNumber kind = "a number"
	isBool   kind = "a boolean"
	isNull   kind = "null"
)

// What of a schema is read. Real ones are far from it; one that is not would
// only cost time.
const (
	maxSchema = 1 << 20 // bytes
	maxDepth  = 200
)

var errTooDeep = fmt.Errorf("it is nested deeper than %d levels", maxDepth)

func parseValue(raw []byte) (*value, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("it is %d bytes long, more than the %d that are looked at", len(raw), maxSchema)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err == nil && dec.More() {
		err = errors.New("more than one value")
	}
	if err != nil && !errors.Is(err, errTooDeep) {
		err = fmt.Errorf("it is not JSON: %w", err)
	}
	return v, err
}

func readValue(dec *json.Decoder, depth int) (*value, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return readObject(dec, depth)
		}
		return readArray(dec, depth)
	case string:
		return &value{kind: isString, text: t}, nil
	case json.Number:
		return &value{kind: isNumber, text: t.String()}, nil
	case bool:
		return &value{kind: isBool, text: strconv.FormatBool(t)}, nil
	}
	return &value{kind: isNull}, nil
}

func readObject(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: isObject}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the decoder takes nothing else for a key
		m, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, member{name, m})
	}
	_, err := dec.Token()
	return v, err
}

func readArray(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: isArray}
	for dec.More() {
		item, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	_, err := dec.Token()
	return v, err
}

// get gives the member with a name; of several the last, as parsers do.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

func (v *value) is(k kind) bool { return v != nil && v.kind == k }

// object gives the members of an object.
func (v *value) object() []member {
	if v == nil {
		return nil
	}
	return v.members
}

// list gives the items of an array.
func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

// str gives the text of a string, "" for anything else.
func (v *value) str() string {
	if !v.is(isString) {
		return ""
	}
	return v.text
}

// strings gives the strings among the items of an array.
func (v *value) strings() (out []string) {
	for _, item := range v.list() {
		if item.kind == isString {
			out = append(out, item.text)
		}
	}
	return out
}

// set is strings, to look names up in.
func (v *value) set() map[string]bool {
	set := map[string]bool{}
	for _, s := range v.strings() {
		set[s] = true
	}
	return set
}

// number gives a number and whether it is one.
func (v *value) number() (float64, bool) {
	if !v.is(isNumber) {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil
}

// at follows a JSON pointer without its leading #.
func (v *value) at(pointer string) *value {
	if pointer == "" {
		return v
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil
	}
	for part := range strings.SplitSeq(rest, "/") {
		switch {
		case v.is(isObject):
			v = v.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		case v.is(isArray):
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v.items) {
				return nil
			}
			v = v.items[i]
		default:
			return nil
		}
	}
	return v
}

// each visits every string in a value, keys of objects too, until one is
// refused.
func (v *value) each(visit func(string) bool) bool {
	if v == nil {
		return true
	}
	if v.kind == isString && !visit(v.text) {
		return false
	}
	for _, m := range v.members {
		if !visit(m.name) || !m.value.each(visit) {
			return false
		}
	}
	for _, item := range v.items {
		if !item.each(visit) {
			return false
		}
	}
	return true
}
