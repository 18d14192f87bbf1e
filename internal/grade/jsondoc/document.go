// Package jsondoc finds the JSON of an answer and leads to values inside it.
package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/reason"
)

// Find finds the JSON of a response: its structured content, else the
// answer when it is JSON as a whole, else the first json block of the answer
// that is. where says which it was.
func Find(r *eval.Response) (text, where string, ok bool) {
	if len(r.Structured) > 0 {
		return string(r.Structured), "structured content", json.Valid(r.Structured)
	}
	if whole := trim(r.Text); json.Valid([]byte(whole)) {
		return whole, "the answer", true
	}
	for _, b := range code.Blocks(r.Text) {
		if code.SameLanguage("json", b.Lang) && json.Valid([]byte(b.Text)) {
			return b.Text, fmt.Sprintf("the json block at line %d", b.Line), true
		}
	}
	return "", "", false
}

// NotFound is why there is no JSON to look at.
const NotFound = "the answer holds no JSON: no structured content, not JSON itself, and no valid json block"

// Decode reads one JSON value. Numbers keep their digits.
func Decode(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, jsonError(text, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		rest := text[dec.InputOffset()-1:]
		if err != nil {
			rest = text[afterValue(text):]
		}
		return nil, fmt.Errorf("more after the JSON value: %s", reason.Quote(trim(rest)))
	}
	return v, nil
}

// Members reads the members of a JSON object. None may be there twice: readers
// differ in which one they take.
func Members(object string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(strings.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	m := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("states %s twice", reason.Quote(name))
		}
		m[name] = value
	}
	return m, nil
}

// afterValue is where the first JSON value of a text ends.
func afterValue(text string) int64 {
	dec := json.NewDecoder(strings.NewReader(text))
	var skip json.RawMessage
	_ = dec.Decode(&skip) // it was decoded once already
	return dec.InputOffset()
}

// jsonError says where in the text JSON went wrong.
func jsonError(text string, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle")
	case !errors.As(err, &syntax):
		return err
	}
	before := []byte(text)[:min(int(syntax.Offset), len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	col := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("line %d, column %d: %w", line, max(1, col), err)
}

// trim takes off white space and a byte order mark.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// Show writes a value for a reason: as JSON, cut.
func Show(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return reason.OneLine(b.String(), reason.Shown)
}
