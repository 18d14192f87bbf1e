package grade

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/kind"
)

// comparison is what a value found in JSON or metadata is held against. All
// that is given must hold; nothing given asks only that the value is there.
type comparison struct {
	Equals   json.RawMessage `yaml:"equals" json:"equals,omitempty" jsonschema:"the value itself, of the same type"`
	Contains json.RawMessage `yaml:"contains" json:"contains,omitempty" jsonschema:"text inside the value, or an entry of a list"`
	Matches  string          `yaml:"matches" json:"matches,omitempty" jsonschema:"regular expression to be found in the value"`
	Min      *float64        `yaml:"min" json:"min,omitempty" jsonschema:"least the value may be"`
	Max      *float64        `yaml:"max" json:"max,omitempty" jsonschema:"most the value may be"`
	Exists   *bool           `yaml:"exists" json:"exists,omitempty" jsonschema:"whether there is a value; null is one" check:"default=true"`

	equals, contains any
	pattern          *pattern
}

// compareDoc is the part of an explanation that says how values compare.
const compareDoc = "`equals` compares whole JSON values: the type counts, so `\"3\"` is not `3`, but `3.0` is; text counts by case. " +
	"`contains` looks for text inside text, or for an entry of a list, case ignored. `matches` is a pattern as in `matches_regex`. " +
	"`min` and `max` want a number. All that are given must hold. `exists: false` asks that there is no value; without any " +
	"comparison, there must be one."

func (c *comparison) check() (err error) {
	if c.Equals != nil {
		if c.equals, err = jsondoc.Decode(string(c.Equals)); err != nil {
			return &kind.FieldError{Field: "equals", Err: err}
		}
	}
	if c.Contains != nil {
		if c.contains, err = jsondoc.Decode(string(c.Contains)); err != nil {
			return &kind.FieldError{Field: "contains", Err: err}
		}
		if c.contains == "" {
			return &kind.FieldError{Field: "contains", Err: errors.New("contains is empty, and so in every text")}
		}
	}
	if c.Matches != "" {
		if c.pattern, err = compilePattern(c.Matches, patternFlags{}); err != nil {
			return &kind.FieldError{Field: "matches", Err: err}
		}
	}
	if c.Min != nil || c.Max != nil {
		if err := checkRange(c.Min, c.Max); err != nil {
			return err
		}
	}
	if c.absent() && (c.Equals != nil || c.Contains != nil || c.Matches != "" || c.Min != nil || c.Max != nil) {
		return &kind.FieldError{Field: "exists", Err: errors.New("exists is false, so there is no value for the other comparison")}
	}
	return nil
}

// absent tells whether there must be no value.
func (c *comparison) absent() bool { return c.Exists != nil && !*c.Exists }

// complaint says what v should have been, or "" when it is that.
func (c *comparison) complaint(v any) (string, error) {
	if c.Equals != nil && !sameJSON(v, c.equals) {
		return "want " + jsondoc.Show(c.equals), nil
	}
	if c.Contains != nil && !holds(v, c.contains) {
		return "want it to contain " + jsondoc.Show(c.contains), nil
	}
	if c.pattern != nil {
		text, ok := plain(v)
		if !ok {
			return "want text that matches " + c.pattern.String(), nil
		}
		if _, found, err := c.pattern.find(text); err != nil || !found {
			return "want it to match " + c.pattern.String(), err
		}
	}
	if c.Min != nil || c.Max != nil {
		n, ok := number(v)
		if !ok || !within(n, c.Min, c.Max) {
			return "want " + bounds(c.Min, c.Max), nil
		}
	}
	return "", nil
}

// sameJSON compares JSON values. Whole numbers compare by their digits, so
// that ids beyond what a float holds do not run together.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameJSON)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameJSON)
	case string, bool, nil:
		return a == b
	}
	ta, oka := digits(a)
	tb, okb := digits(b)
	if !oka || !okb {
		return false
	}
	if strings.Trim(ta+tb, "-0123456789") == "" {
		return ta == tb
	}
	fa, _ := number(a)
	fb, _ := number(b)
	return fa == fb
}

// digits is a number as text.
func digits(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), true
	case float64:
		return decimal(v), true
	case int:
		return strconv.Itoa(v), true
	}
	return "", false
}

func number(v any) (float64, bool) {
	text, ok := digits(v)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// holds tells whether a text has a text in it, or a list an entry.
func holds(v, part any) bool {
	switch v := v.(type) {
	case string:
		text, ok := part.(string)
		return ok && want(text, false).in(v)
	case []any:
		return slices.ContainsFunc(v, func(entry any) bool {
			a, isText := entry.(string)
			b, wantsText := part.(string)
			if isText && wantsText {
				return fold(a) == fold(b)
			}
			return sameJSON(entry, part)
		})
	}
	return false
}

// plain is a text or the way a number or truth value is written.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	}
	return digits(v)
}
