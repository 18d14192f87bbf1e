package kind

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestFromJSON: JSON becomes a node and the node the same JSON again, at the
// place that was given.
func TestFromJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a":[1,2.50,1e3,-0,12345678901234567890,true,false,null,"x"],"<<":{"b":{}},"":[]}`, `"true"`, `"1"`, `"~"`, `null`,
		"\"\x7f\u0085\ufeff é😀 \\u0001 \\\" <&> # : - \\n\"", strings.Repeat("[", 500) + strings.Repeat("]", 500),
	} {
		n, err := FromJSON([]byte(text), 3, 5)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d := &Decoder{File: "f.yaml"}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(json.RawMessage(text)); err != nil {
			t.Fatal(err)
		}
		if got := string(d.JSON(n)); got != strings.TrimSpace(want.String()) || n.Line != 3 || n.Column != 5 {
			t.Errorf("%s became %s at %d:%d: %v", text, got, n.Line, n.Column, d.Problems)
		}
	}
	for _, text := range []string{"", "{", `{"a"`, `[1,`, `{} {}`, "nul"} {
		if n, err := FromJSON([]byte(text), 1, 1); err == nil {
			t.Errorf("%q became %+v", text, n)
		}
	}
}
