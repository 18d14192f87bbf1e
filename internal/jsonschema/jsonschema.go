// Package jsonschema validates JSON under schemas that come from outside: those
// of a suite's checks and of a server's tools.
package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mettle-eval/mettle/internal/grade/reason"
)

// Schema is a JSON Schema, draft 2020-12 or 7, that refers to nothing outside.
type Schema struct{ resolved *jsonschema.Resolved }

// Compile makes a schema ready. The library trusts its schemas in two ways that
// those of a suite or a server may not deserve: it panics on some shapes, and a
// reference cycle would never end.
func Compile(raw json.RawMessage) (_ *Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not a JSON Schema: %v", p)
		}
	}()
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if err := check(doc); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	var shape *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &s); {
	case errors.As(err, &shape):
		return nil, fmt.Errorf("not a JSON Schema: %s cannot be of type %s", shape.Field[strings.LastIndexByte(shape.Field, '.')+1:], shape.Value)
	case err != nil:
		return nil, fmt.Errorf("not a JSON Schema: %s", reason.OneLine(err.Error(), 200))
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %s", reason.OneLine(err.Error(), 200))
	}
	return &Schema{resolved}, nil
}

// Validate says how a value, as encoding/json makes it, violates the schema.
// nil means that it does not.
func (s *Schema) Validate(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema cannot be applied: %v", p)
		}
	}()
	if err := s.resolved.Validate(v); err != nil {
		return errors.New(violation(err))
	}
	return nil
}

// violation puts the library's words for a violation in order: the place in
// the schema, then what is wrong there.
func violation(err error) string {
	place, text := "", err.Error()
	for {
		at, rest, ok := strings.Cut(strings.TrimPrefix(text, "validating "), ": ")
		if !ok || !strings.HasPrefix(text, "validating ") {
			break
		}
		place, text = at, rest
	}
	text = fraction().ReplaceAllString(text, "$1")
	if place == "root" || place == "" {
		return reason.OneLine(text, 200)
	}
	return reason.OneLine(fmt.Sprintf("%s (schema %s)", text, place), 240)
}

// fraction finds whole numbers in the library's two ways of writing them: 5/1
// and 5.000000.
var fraction = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d+)(?:/1|\.000000)\b`) })
