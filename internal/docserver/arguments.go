package docserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// argument is one argument of a tool. The input schema, the check and what a
// caller is told about a wrong value all come from it.
type argument struct {
	name     string
	doc      string
	required bool
	enum     []string
	number   *bounds // nil for a text
}

// bounds are those of a whole number.
type bounds struct{ least, most, usual int }

// maxText is the length, in bytes, over which no text is read.
const maxText = 20_000

// inputSchema is the JSON schema of a tool's arguments. It allows others than
// those listed, which are ignored: a suite for another server may send them.
func inputSchema(args []argument) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, a := range args {
		p := map[string]any{"type": "string", "description": a.doc}
		switch {
		case a.number != nil:
			p = map[string]any{"type": "integer", "description": a.doc, "minimum": a.number.least, "maximum": a.number.most, "default": a.number.usual}
		case a.enum != nil:
			p["enum"] = a.enum
		default:
			p["maxLength"] = maxText
		}
		if a.required {
			required = append(required, a.name)
			p["minLength"] = 1
		}
		properties[a.name] = p
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// values are the arguments of one call, checked.
type values struct {
	texts   map[string]string
	numbers map[string]int
}

// readArguments decodes and checks the arguments of a call. All that is wrong
// is told at once, each with what would be right.
func readArguments(raw json.RawMessage, args []argument) (values, error) {
	v := values{texts: map[string]string{}, numbers: map[string]int{}}
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return v, fmt.Errorf("the arguments are not a JSON object; give %s", names(args))
		}
	}
	var errs []error
	for _, a := range args {
		value, ok := given[a.name]
		delete(given, a.name)
		if !ok || string(value) == "null" {
			if a.required {
				errs = append(errs, fmt.Errorf("%s is missing: %s", a.name, a.doc))
			}
			if a.number != nil {
				v.numbers[a.name] = a.number.usual
			}
			continue
		}
		errs = append(errs, a.read(value, &v))
	}
	if err := errors.Join(errs...); err != nil {
		return v, errors.Join(err, unknown(given, args))
	}
	return v, nil
}

// unknown tells which arguments a tool does not have: one of them may be
// another, misspelt.
func unknown(given map[string]json.RawMessage, args []argument) error {
	var extra []string
	for name := range given {
		extra = append(extra, fmt.Sprintf("%q", clip(name)))
	}
	if len(extra) == 0 {
		return nil
	}
	slices.Sort(extra)
	return fmt.Errorf("there is no argument %s; give %s", strings.Join(extra[:min(len(extra), 5)], ", "), names(args))
}

func names(args []argument) string {
	var required, optional []string
	for _, a := range args {
		if a.required {
			required = append(required, a.name)
		} else {
			optional = append(optional, a.name)
		}
	}
	text := strings.Join(required, ", ")
	if len(optional) > 0 {
		text += " and, if you like, " + strings.Join(optional, ", ")
	}
	return text
}

// read takes one value.
func (a *argument) read(value json.RawMessage, v *values) error {
	if a.number != nil {
		return a.readNumber(value, v)
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return fmt.Errorf("%s is %s, want a string: %s", a.name, clip(string(value)), a.doc)
	}
	switch {
	case a.required && strings.TrimSpace(text) == "":
		return fmt.Errorf("%s is empty: %s", a.name, a.doc)
	case len(text) > maxText:
		return fmt.Errorf("%s has %d bytes, want %d at most", a.name, len(text), maxText)
	case a.enum != nil && text != "" && !slices.Contains(a.enum, text):
		return fmt.Errorf("%s is %q, want one of %s", a.name, clip(text), strings.Join(a.enum, ", "))
	}
	v.texts[a.name] = text
	return nil
}

// readNumber takes a whole number, also one that is written with a point.
func (a *argument) readNumber(value json.RawMessage, v *values) error {
	var x float64
	err := json.Unmarshal(value, &x)
	if err != nil || x != math.Trunc(x) || x < float64(a.number.least) || x > float64(a.number.most) {
		return fmt.Errorf("%s is %s, want a whole number from %d to %d", a.name, clip(string(value)), a.number.least, a.number.most)
	}
	v.numbers[a.name] = int(x)
	return nil
}

// clip shortens a text that is shown back to whoever sent it.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
