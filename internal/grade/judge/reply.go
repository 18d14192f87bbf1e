package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/grade/reason"
	"github.com/mettle-eval/mettle/internal/llm"
)

// members are those of a JSON object.
type members map[string]json.RawMessage

// maxReply is how much of a reply is read: a verdict is a few lines.
const maxReply = 256 << 10

// maxObjects is how many places of a reply are tried for its verdict.
const maxObjects = 64

// useless says why a reply is not a verdict whatever its text, or nil.
func useless(r *llm.Reply) error {
	switch r.Finish {
	case llm.Truncated:
		return errors.New("the judge's reply was cut off before its end")
	case llm.Refusal:
		if r.Refused != "" {
			return fmt.Errorf("the judge refused to answer: %s", reason.OneLine(r.Refused, 2*reason.Shown))
		}
		return errors.New("the judge refused to answer")
	case llm.Filtered:
		return errors.New("the judge's reply was cut by a content filter")
	}
	if strings.TrimSpace(r.Text) == "" {
		return errors.New("the judge's reply is empty")
	}
	return nil
}

// final tells whether asking again cannot help: who refuses once refuses
// the same question twice.
func final(r *llm.Reply) bool { return r.Finish == llm.Refusal || r.Finish == llm.Filtered }

// readReply finds the verdict in what a judge said of some material. Not every
// server enforces the schema: the object may be in a code fence or between words.
// It may then also be a quotation of the answer, which wrote it for the judge:
// two different valid objects are not a verdict, and neither is one that is in
// the material.
func readReply[T any](text, material string, f Form[T]) (verdict T, err error) {
	if text, err = withoutThoughts(text); err != nil {
		return verdict, err
	}
	if len(text) > maxReply {
		return verdict, fmt.Errorf("the judge's reply is longer than %d bytes", maxReply)
	}
	var first error
	var found string
	for _, object := range objects(text) {
		m, err := readMembers(object)
		var v T
		if err == nil {
			v, err = f.read(m)
		}
		switch {
		case err != nil && first == nil:
			first = err
		case err == nil && found == "":
			verdict, found = v, object
		case err == nil && found != object:
			var none T
			return none, errors.New("the judge's reply has more than one verdict")
		}
	}
	var none T
	switch {
	case found != "" && quoted(found, material):
		return none, errors.New("the judge's verdict is a quotation of what it was shown")
	case found != "":
		return verdict, nil
	case first != nil:
		return none, first
	}
	return none, noObject(text)
}

// quoted tells whether an object is in the material. Values are compared: a
// judge that copies an object may write 1.0 for 1, or its members in another
// order.
func quoted(object, material string) bool {
	object, material = unspaced(object), unspaced(material)
	if strings.Contains(material, object) {
		return true
	}
	want, ok := canonical(object)
	if !ok {
		return false
	}
	window := 8*len(object) + 4096 // escapes and digits make a copy longer, but not by much
	for {
		at := strings.IndexByte(material, '{')
		if at < 0 {
			return false
		}
		if got, ok := canonical(material[at:min(len(material), at+window)]); ok && got == want {
			return true
		}
		material = material[at+1:]
	}
}

// canonical is the JSON object that a text begins with, in a form that equal
// objects share.
func canonical(text string) (string, bool) {
	if !strings.HasPrefix(text, `{"`) {
		return "", false
	}
	var v any
	if json.NewDecoder(strings.NewReader(text)).Decode(&v) != nil {
		return "", false
	}
	b, err := json.Marshal(v) // sorts members, and writes numbers by their value
	return unspaced(string(b)), err == nil
}

// unspaced is a text without its spaces and line ends.
func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

// thoughts begin what a model thinks aloud before it replies.
var (
	thoughts    = regexp.MustCompile(`(?i)<think(?:ing)?>`)
	thoughtsEnd = regexp.MustCompile(`(?i)</think(?:ing)?>`)
)

// withoutThoughts takes off what a model thought aloud before it replied.
// Thoughts without an end are all there is: the reply was never written.
func withoutThoughts(text string) (string, error) {
	for {
		begin := thoughts.FindStringIndex(text)
		if begin == nil || strings.Contains(text[:begin[0]], "{") { // part of the reply
			return text, nil
		}
		end := thoughtsEnd.FindStringIndex(text[begin[1]:])
		if end == nil {
			return "", errors.New("the judge's reply ends inside its thoughts")
		}
		text = text[begin[1]+end[1]:]
	}
}

// objects lists the JSON objects of a text that are in no other, in order. It
// gives none when one is broken, or when there are too many to look at: what is
// found then may be a quotation inside the one that was meant.
func objects(text string) (out []string) {
	for range maxObjects {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			return out
		}
		text = text[at:]
		dec := json.NewDecoder(strings.NewReader(text))
		var object json.RawMessage
		switch err := dec.Decode(&object); {
		case err == nil:
			out = append(out, string(object))
			text = text[dec.InputOffset():]
		case beginsMember(text[1:]):
			return nil
		default:
			text = text[1:]
		}
	}
	if strings.Contains(text, "{") {
		return nil
	}
	return out
}

// beginsMember tells whether a text begins with a name and a colon, as the
// inside of an object does, in JSON or in something like it.
func beginsMember(text string) bool {
	name := strings.TrimLeft(strings.TrimSpace(text), "\"'`“")
	rest := strings.TrimLeftFunc(name, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
	return rest != name && strings.HasPrefix(strings.TrimLeft(rest, "\"'`” \t\r\n"), ":")
}

// noObject says why there is no JSON object in a text.
func noObject(text string) error {
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return errors.New("the judge's reply holds no JSON object")
	}
	for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
		if strings.Contains(strings.ReplaceAll(text[at:], " ", ""), `":`+word) {
			return fmt.Errorf("the judge's reply has %s, which is no number", word)
		}
	}
	if err := json.NewDecoder(strings.NewReader(text[at:])).Decode(new(json.RawMessage)); errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the judge's reply ends inside its JSON object")
	}
	return errors.New("the judge's reply holds no valid JSON object")
}

// readMembers reads an object, in which no member may be there twice.
func readMembers(object string) (members, error) {
	m, err := jsondoc.Members(object)
	if err != nil {
		return nil, fmt.Errorf("the judge's reply %w", err)
	}
	return m, nil
}

// text is a member that is a string.
func (m members) text(name string) (string, error) {
	var s string
	if err := m.value(name, '"', "a string", &s); err != nil {
		return "", err
	}
	return s, nil
}

// truth is a member that is true or false.
func (m members) truth(name string) (bool, error) {
	raw := string(m[name])
	if raw == "true" || raw == "false" {
		return raw == "true", nil
	}
	return false, m.wrong(name, "true or false")
}

// share is a member that is a number from 0 to 1.
func (m members) share(name string) (float64, error) {
	raw := string(m[name])
	if raw == "" || !strings.ContainsRune("-0123456789", rune(raw[0])) {
		return 0, m.wrong(name, "a number from 0 to 1")
	}
	v, err := strconv.ParseFloat(raw, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, fmt.Errorf("the judge's %s is %s, which is not from 0 to 1", name, reason.Cut(raw, 30))
	}
	return max(v, 0), nil // -0 is 0
}

// whole is a member that is a whole number.
func (m members) whole(name string) (int, error) {
	raw := string(m[name])
	v, err := strconv.ParseFloat(raw, 64)
	if err != nil || !strings.ContainsRune("-0123456789", rune(raw[0])) || v != math.Trunc(v) || math.Abs(v) > 1e6 {
		return 0, m.wrong(name, "a whole number")
	}
	return int(v), nil
}

// verdict is the member of that name, which is one of some words.
func (m members) verdict(words []string) (string, error) {
	s, err := m.text("verdict")
	if err != nil {
		return "", err
	}
	if !slices.Contains(words, s) {
		return "", fmt.Errorf("the judge's verdict is %s, which is none of %s", reason.Quote(reason.OneLine(s, reason.Shown)), strings.Join(words, ", "))
	}
	return s, nil
}

// objects is a member that is a list of objects.
func (m members) objects(name string) (out []members, err error) {
	var list []json.RawMessage
	if err := m.value(name, '[', "a list", &list); err != nil {
		return nil, err
	}
	for _, raw := range list {
		if raw[0] != '{' {
			return nil, fmt.Errorf("the judge's %s hold %s, want objects", name, typeOf(raw))
		}
		one, err := readMembers(string(raw))
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// value decodes a member whose JSON begins with a character.
func (m members) value(name string, begins byte, want string, into any) error {
	raw := m[name]
	if len(raw) == 0 || raw[0] != begins {
		return m.wrong(name, want)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return m.wrong(name, want)
	}
	return nil
}

func (m members) wrong(name, want string) error {
	raw, ok := m[name]
	if !ok {
		return fmt.Errorf("the judge's reply has no %s, want %s", name, want)
	}
	return fmt.Errorf("the judge's %s is %s %s, want %s", name, typeOf(raw), reason.Cut(reason.OneLine(string(raw), reason.Shown), 40), want)
}

// typeOf names the type of a JSON value.
func typeOf(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "the string"
	case '{':
		return "the object"
	case '[':
		return "the list"
	case 't', 'f', 'n':
		return "the value"
	}
	return "the number"
}
