package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// decode reads JSON that may hold nothing the type does not have. unknown is
// the name of the first field it should not have.
func decode(data []byte, into any) (unknown string, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err = dec.Decode(into)
	if err == nil {
		return "", nil
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return strings.Trim(name, `"`), err
	}
	return "", err
}

// isName is the form of the names of tools and schemas.
func isName(s string, most int) bool {
	return s != "" && len(s) <= most && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// schemaRules is what a vendor asks of the schema of a reply.
type schemaRules struct {
	allRequired bool     // every property must be
	never       []string // keywords that are turned down
}

// check gives the first fault of a schema in the vendor's words, "" when there
// is none.
func (rules schemaRules) check(raw json.RawMessage) string {
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil || root["type"] != "object" {
		return "schema must be a JSON Schema of 'type: \"object\"'"
	}
	return rules.walk("()", root)
}

func (rules schemaRules) walk(at string, node any) string {
	m, ok := node.(map[string]any)
	if !ok {
		return ""
	}
	for _, word := range rules.never {
		if _, ok := m[word]; ok {
			return fmt.Sprintf("In context=%s, property '%s' is not supported", at, word)
		}
	}
	properties, _ := m["properties"].(map[string]any)
	if m["type"] == "object" {
		if fault := rules.object(at, m, properties); fault != "" {
			return fault
		}
	}
	for _, name := range sorted(properties) {
		if fault := rules.walk(at+"."+name, properties[name]); fault != "" {
			return fault
		}
	}
	for _, inner := range []string{"anyOf", "allOf"} {
		list, _ := m[inner].([]any)
		for _, one := range list {
			if fault := rules.walk(at, one); fault != "" {
				return fault
			}
		}
	}
	return rules.walk(at+".items", m["items"])
}

func (rules schemaRules) object(at string, m, properties map[string]any) string {
	if m["additionalProperties"] != false {
		return fmt.Sprintf("In context=%s, 'additionalProperties' is required to be supplied and to be false", at)
	}
	names, _ := m["required"].([]any)
	for _, name := range sorted(properties) {
		if rules.allRequired && !slices.Contains(names, any(name)) {
			return fmt.Sprintf("In context=%s, 'required' must include every key in properties. Missing '%s'", at, name)
		}
	}
	return ""
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
