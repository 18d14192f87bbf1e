package jsondoc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathFrom(t *testing.T) {
	t.Parallel()
	const doc = `{"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}]}, "x y": {"": 4, "é": 5}, "*": 6, "m": {"z": [7], "y": [8], "content-type": 9, "$ref": 10, "1": 11}}`
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
		{"$.*.*", `[[{"c": 1}, {"c": 2}, {"d": 3}], 10, 11, 9, [8], [7], 4, 5]`},
		{"m.content-type", `[9]`},
		{"$.m.$ref", `[10]`},
		{"m.1", `[11]`},
		{"x y.é", `[5]`},
		{"$..content-type", `[9]`},
		{"..d", `[3]`},
		{".a.b[0].c", `[1]`},
		{"$..c", `[1, 2]`},
		{"$.m[*][0]", `[8, 7]`},
		{"$.a.b[0:2].c", `[1, 2]`},
		{"$.a.b[1,0].c", `[2, 1]`},
		{"$.a.b[?@.c > 1].c", `[2]`},
		{"$.m[?length(@) == 1]", `[[8], [7]]`},
		{"$.m[?match(@[0], 'x')]", `[]`},
		{"$[?search(@.none, @.neither)]", `[]`},
		{"$.a.b[?@.c-d > 1]", `error`},
		{"a. b", `error`},
		{"a ", `error`},
		{"results.", `error`},
		{"results[title]", `error`},
		{"[", `error`},
		{`$["a\q"]`, `error`},
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

// FuzzPath: any path is parsed or refused, and leads to the same values each
// time: at most one unless it says that it may be many.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"$.a.b[0]['c d'][*]", "a..b", "[", "['", `["\"]`, "$[?(@.a)]", "$", ".", "a[0:1]", "*", "a.*[-1]", "$x", "$..*", "$[?@.a-b]", "a-b..c d", "$[::-1,0]", "$[?match(@.a, '(a|b)*')]"} {
		f.Add(p, `{"a": {"b": [{"c d": [1, 2]}]}}`)
	}
	f.Fuzz(func(t *testing.T, text, doc string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(doc)) || len(doc) > 1000 || strings.Count(text, "..")+strings.Count(text, "*")+strings.Count(text, ",") > 4 {
			return // valid, and for no use but to be slow
		}
		v, err := Decode(doc)
		if err != nil {
			t.Fatalf("valid JSON is not read: %v", err)
		}
		values := p.From(v)
		if len(values) > 1 && !p.Many() {
			t.Fatalf("%d values, and the path says one", len(values))
		}
		if diff := cmp.Diff(values, p.From(v)); diff != "" {
			t.Fatalf("the values differ between two tries:\n%s", diff)
		}
	})
}
