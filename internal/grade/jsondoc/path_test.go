package jsondoc

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathFrom(t *testing.T) {
	t.Parallel()
	const doc = `{"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}]}, "x y": {"": 4, "é": 5}, "*": 6}`
	for _, tc := range []struct{ path, want string }{
		{"$", `[` + doc + `]`},
		{"a.b[0].c", `[1]`},
		{"$.a.b[*].c", `[1,2]`},
		{"$.a.b[-1].d", `[3]`},
		{"$.a.b[-4]", `[]`},
		{"$.a.b.c", `[]`},
		{"$.a[0]", `[]`},
		{"['x y']['']", `[4]`},
		{`$["x y"].é`, `[5]`},
		{`['*']`, `[6]`},
		{"$.a.*", `[[{"c": 1}, {"c": 2}, {"d": 3}]]`},
		{"$.*.*", `[[{"c": 1}, {"c": 2}, {"d": 3}], 4, 5]`},
		{"a.b[ 1 ].c", `[2]`},
		{"$a", `error`},
	} {
		p, err := Parse(tc.path)
		if err != nil {
			if tc.want != "error" {
				t.Errorf("%s: %v", tc.path, err)
			}
			continue
		}
		v, err := Decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Decode(tc.want)
		if err != nil {
			t.Errorf("%s: parsed, want an error", tc.path)
			continue
		}
		got := p.From(v)
		if got == nil {
			got = []any{}
		}
		if diff := cmp.Diff(want, any(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.path, diff)
		}
	}
}

// FuzzPath: any path is parsed or refused, leads only to values that are in
// the document, and to no more of them than it has.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"$.a.b[0]['c d'][*]", "a..b", "[", "['", `["\"]`, "$[?(@.a)]", "$", ".", "a[0:1]", "*", "a.*[-1]", "$x"} {
		f.Add(p, `{"a": {"b": [{"c d": [1, 2]}]}}`)
	}
	f.Fuzz(func(t *testing.T, text, doc string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(doc)) {
			return
		}
		v, err := Decode(doc)
		if err != nil {
			t.Fatalf("valid JSON is not read: %v", err)
		}
		if values := p.From(v); len(values) > len(doc) {
			t.Fatalf("%d values of %d bytes", len(values), len(doc))
		}
	})
}
