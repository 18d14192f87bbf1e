package mcpclient

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/term"
)

// FuzzResult checks that every valid JSON text gives a result, that its texts
// are those encoding/json reads, and that nothing is lost.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"a\"b\\"}],"structuredContent":{"a":[1,{"b":"]}"}]},"isError":true}`,
		`{"content":"x"}`, `[]`, `null`, `"\ud800"`, `{"\u0063ontent":[{"type":"resource","resource":{"text":"t"}}]}`,
		" {\n\"content\" :\t[ ] , \"isError\":1e5 } ",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			parseMessage(data)
			return
		}
		r := parseResult(bytes.TrimSpace(data))
		for _, p := range r.Parts {
			if !json.Valid(p.Raw) {
				t.Errorf("part is not JSON: %q", p.Raw)
			}
		}
		var want struct {
			Content []struct{ Type, Text *string } `json:"content"`
		}
		// encoding/json matches keys in any case; leave such input alone.
		if json.Unmarshal(data, &want) != nil || len(want.Content) != len(r.Parts) || !onlyExactKeys(data) {
			return
		}
		for i, p := range want.Content {
			if p.Type != nil && *p.Type == "text" && p.Text != nil && r.Parts[i].Text != *p.Text {
				t.Errorf("text %q, want %q", r.Parts[i].Text, *p.Text)
			}
		}
	})
}

// FuzzValid compares the reading of JSON with encoding/json.
func FuzzValid(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+10,true,false,null,"\u00e4\n\/"],"b":{}}`, ` [ ] `, `-`, `01`, `1.`, `1e`, `"\ud83d\ude00"`, `"\ud800x"`, `"\x"`, "\"\x01\"", "\"\xff\"",
		`{"a":1,}`, `[1,]`, `{"a"}`, `{1:2}`, `tru`, `nullx`, ``, `"`, `"\u12`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if valid(data) != json.Valid(data) {
			t.Fatalf("valid is %t", valid(data))
		}
		var want string
		if data = bytes.TrimSpace(data); json.Valid(data) && json.Unmarshal(data, &want) == nil && data[0] == '"' && unquote(data) != want {
			t.Fatalf("unquote gives %q, want %q", unquote(data), want)
		}
	})
}

// onlyExactKeys reports whether no key of data differs from one we know in
// case only.
func onlyExactKeys(data []byte) bool {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return false
	}
	exact := true
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				for _, known := range []string{"content", "type", "text"} {
					exact = exact && (key == known || !strings.EqualFold(key, known))
				}
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(value)
	return exact
}

// FuzzFields compares the cutting of objects and arrays with encoding/json.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{`{"a":{"b":[1,"]}",{}]},"c":"\\\""}`, `[1,[2],"\"",{"a":1}]`, `{}`, `[ ]`, `{"":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		object := map[string]any{}
		isObject := fields(data, func(key string, value []byte) {
			var v any
			if err := json.Unmarshal(value, &v); err != nil {
				t.Fatalf("member %q is %q: %v", key, value, err)
			}
			object[key] = v
		})
		array := []any{}
		isArray := elements(data, func(value []byte) {
			var v any
			if err := json.Unmarshal(value, &v); err != nil {
				t.Fatalf("element is %q: %v", value, err)
			}
			array = append(array, v)
		})
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			return // a number out of range
		}
		switch want := want.(type) {
		case map[string]any:
			if !isObject || !reflect.DeepEqual(want, object) {
				t.Errorf("%q: got %v", data, object)
			}
		case []any:
			if !isArray || !reflect.DeepEqual(want, array) {
				t.Errorf("%q: got %v", data, array)
			}
		default:
			if isObject || isArray {
				t.Errorf("%q is taken for a container", data)
			}
		}
	})
}

// FuzzLines checks that whatever a process writes, each message that stands on
// a line of its own is found, and messages are valid JSON.
func FuzzLines(f *testing.F) {
	f.Add([]byte("banner\n{\"level\":1}\n"), []byte("ready> "))
	f.Add([]byte("{\"jsonrpc\":\"2.0\"\n\r\n"), []byte("\xef\xbb\xbf"))
	f.Add(bytes.Repeat([]byte("x"), 300), []byte("[{"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		const message = `{"jsonrpc":"2.0","id":12345,"result":{"fuzz":true}}`
		stream := bytes.Join([][]byte{before, []byte(message), after}, []byte("\n"))
		found := 0
		lines := newLineReader(bytes.NewReader(stream), 200)
		for {
			ln, err := lines.next()
			if err != nil {
				break
			}
			if len(ln.text) > 200 || ln.tooLong && len(ln.text) > 0 {
				t.Fatalf("a line of %d bytes was kept", len(ln.text))
			}
			if ln.tooLong {
				ln.id()
				continue
			}
			kept := 0
			sift(ln.text, func(text []byte) bool {
				m, ok := parseMessage(text)
				if !ok || !m.isResponse() {
					return false
				}
				kept += len(text)
				if string(text) == message {
					found++
				}
				return true
			}, func(text []byte) { kept += len(text) })
			if kept > len(ln.text) {
				t.Errorf("%q was taken apart into more than it holds", ln.text)
			}
		}
		if found == 0 {
			t.Errorf("the message in %q was not found", stream)
		}
	})
}

// FuzzEvents checks that an event behind any stream is found.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: x\r\n: y\r\rdata: z"))
	f.Add([]byte("data\ndata:\n\nid: 1\nretry: 99999999999\n"))
	f.Fuzz(func(t *testing.T, before []byte) {
		stream := append(bytes.Clone(before), "\n\ndata: {\"fuzz\":1}\n\n"...)
		events := newEventReader(bytes.NewReader(stream), 100)
		events.drain = true
		var last event
		for {
			ev, err := events.next()
			if err != nil {
				break
			}
			if len(ev.data) > 100 {
				t.Fatalf("%d bytes of data", len(ev.data))
			}
			last = ev
		}
		if string(last.data) != `{"fuzz":1}` {
			t.Errorf("the last event of %q has the data %q", stream, last.data)
		}
	})
}

// FuzzRetryAfter checks that no header makes us wait for nothing or for ever.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"1", "-1", "1e999", "NaN", "Wed, 21 Oct 2015 07:28:00 GMT", "0x10"} {
		f.Add(seed, "Wed, 21 Oct 2015 07:27:00 GMT")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		d := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}})
		if d < 0 || d > retryAfterMax {
			t.Errorf("%q: %s", value, d)
		}
	})
}

// FuzzClean checks that nothing that a terminal would act on gets through.
func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\x1b]0;t\x07\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		got := term.Excerpt(text, 50)
		if len(got) > 50+len("…") {
			t.Errorf("%d bytes", len(got))
		}
		for _, r := range got {
			if r < ' ' || r >= 0x7f && r <= 0x9f {
				t.Errorf("%q lets %q through", got, r)
			}
		}
	})
}
