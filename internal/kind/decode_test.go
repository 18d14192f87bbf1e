package kind

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// everything has a field of every type that can be decoded.
type everything struct {
	Text     string            `yaml:"text" jsonschema:"some text" check:"min=2,max=5"`
	Count    int               `yaml:"count" check:"min=1,max=10,default=3"`
	Big      int64             `yaml:"big"`
	Rate     float64           `yaml:"rate" check:"min=0,max=1"`
	On       bool              `yaml:"on"`
	Level    string            `yaml:"level" check:"enum=low|middle|high"`
	Words    []string          `yaml:"words" check:"min=1,max=3"`
	Numbers  []float64         `yaml:"numbers"`
	Env      map[string]string `yaml:"env" check:"max=2"`
	Wait     Duration          `yaml:"wait" check:"min=1ms,max=1m"`
	MaybeInt *int              `yaml:"maybeInt" check:"min=0"`
	MaybeFor *Duration         `yaml:"maybeFor" check:"max=1s"`
	Inner    inner             `yaml:"inner"`
	Maybe    *inner            `yaml:"maybe"`
	List     []inner           `yaml:"list"`
	Raw      json.RawMessage   `yaml:"raw"`
	Any      any               `yaml:"any"`
	Node     yaml.Node         `yaml:"node"`
	Own      upper             `yaml:"own"`
	base
	Hidden string
	Off    string `yaml:"-"`
}

type base struct {
	Shared string `yaml:"shared"`
}

type inner struct {
	Name string `yaml:"name" check:"required"`
	Size int    `yaml:"size"`
}

// upper reads its YAML itself.
type upper struct{ text string }

func (u *upper) DecodeNode(d *Decoder, n *yaml.Node) {
	var s string
	d.Decode(n, &s, "own")
	u.text = strings.ToUpper(s)
}

func decode(text string) (everything, Problems) {
	var v everything
	d, n := Parse("f.yaml", []byte(text))
	if n != nil {
		d.Decode(n, &v, "the file")
	}
	return v, d.Problems.Sort()
}

func TestDecodeValues(t *testing.T) {
	got, problems := decode(`
text: abc
count: 0x0A
big: 9007199254740993
rate: 1
on: true
level: middle
words: [a, 2026-07-28]
numbers: [1, 2.5, 1e3]
env: {A: b, "1": c}
wait: 1.5s
maybeInt: 0
maybeFor: 0
inner: {name: x, size: 2}
maybe: {name: y}
list:
  - name: z
raw: {b: [1, ~, "x"], a: 12345678901234567890}
any: [1, {a: b}]
own: shout
shared: s
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	zero, fast := 0, Duration(0)
	want := everything{
		Text: "abc", Count: 10, Big: 9007199254740993, Rate: 1, On: true, Level: "middle",
		Words: []string{"a", "2026-07-28"}, Numbers: []float64{1, 2.5, 1000},
		Env: map[string]string{"A": "b", "1": "c"}, Wait: Duration(1500 * time.Millisecond),
		MaybeInt: &zero, MaybeFor: &fast,
		Inner: inner{"x", 2}, Maybe: &inner{Name: "y"}, List: []inner{{Name: "z"}},
		Raw: json.RawMessage(`{"b":[1,null,"x"],"a":12345678901234567890}`),
		Any: []any{1.0, map[string]any{"a": "b"}},
		Own: upper{"SHOUT"}, base: base{"s"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{}, upper{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeProblems(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"unknown field", "txet: abc", `1:1: unknown field "txet" in the file (did you mean "text"?)`},
		{"unknown field far from all", "zzzzzz: abc", `1:1: unknown field "zzzzzz" in the file`},
		{"unknown inner field", "inner:\n  name: a\n  sise: 1", `3:3: unknown field "sise" in inner (did you mean "size"?)`},
		{"missing required", "list:\n  - size: 1", `2:5: list[0] has no name`},
		{"empty required", "inner:\n  name:", `2:8: name is empty, want a string`},
		{"empty optional is no value", "count:\nwords: ~\ninner:", ""},
		{"text is a number", "text: 10.50", `1:7: text is the number 10.50, want a string: write "10.50"`},
		{"text is a truth value", "text: true", `1:7: text is the truth value true, want a string: write "true"`},
		{"text is a list", "text: [a]", `1:7: text is a list, want a string`},
		{"text too short", "text: a", `1:7: text is 1 characters long, want 2 or more`},
		{"text too long", "text: äöüäöü", `1:7: text is 6 characters long, want 5 or less`},
		{"number is text", "count: three", `1:8: count is "three", want a whole number`},
		{"number is quoted", `count: "3"`, `1:8: count is "3", want a whole number`},
		{"whole number is not", "count: 1.5", `1:8: count is the number 1.5, want a whole number`},
		{"number too big to hold", "big: 99999999999999999999", `1:6: big is the number 99999999999999999999, want a whole number`},
		{"below the range", "count: 0", `1:8: count is 0, want 1 or more`},
		{"above the range", "rate: 1.01", `1:7: rate is 1.01, want 1 or less`},
		{"not a finite number", "rate: .nan", `1:7: rate is the number .nan, want a number`},
		{"infinite", "rate: -.inf", `1:7: rate is the number -.inf, want a number`},
		{"truth value is a word", "on: yes", `1:5: on is "yes", want true or false`},
		{"not in the enum", "level: hihg", `1:8: level is "hihg", want one of low, middle, high (did you mean "high"?)`},
		{"list is a word", "words: a", `1:8: words is "a", want a list`},
		{"list is empty", "words: []", `1:8: words is empty`},
		{"list is too long", "words: [a, b, c, d]", `1:8: words is 4 entries long, want 3 or less`},
		{"item of the wrong type", "words: [a, 5]", `1:12: words[1] is the number 5, want a string: write "5"`},
		{"empty item", "words:\n  - a\n  -", `3:4: words[1] is empty, want a string`},
		{"mapping is a list", "env: [a]", `1:6: env is a list, want a mapping`},
		{"mapping too long", "env: {a: b, c: d, e: f}", `1:6: env is 3 entries long, want 2 or less`},
		{"value of the wrong type", "env: {a: 1}", `1:10: a is the number 1, want a string: write "1"`},
		{"struct is a word", "inner: a", `1:8: inner is "a", want a mapping`},
		{"duration without a unit", "wait: 30", `1:7: wait is the number 30, want a duration like 500ms, 30s or 2m`},
		{"duration is a mapping", "wait: {}", `1:7: wait is a mapping, want a duration like 500ms, 30s or 2m`},
		{"negative duration", "wait: -1s", `1:7: wait is "-1s", want a duration like 500ms, 30s or 2m`},
		{"duration too short", "wait: 1us", `1:7: wait is 1µs, want 1ms or more`},
		{"duration too long", "maybeFor: 2s", `1:11: maybeFor is 2s, want 1s or less`},
		{"pointer out of range", "maybeInt: -1", `1:11: maybeInt is -1, want 0 or more`},
		{"repeated key", "text: abc\ncount: 1\ntext: abd", `3:1: "text" stands twice in the file, first on line 1`},
		{"repeated key in JSON", "raw:\n  a: 1\n  a: 2", `3:3: "a" stands twice in the mapping, first on line 2`},
		{"key is a list", "? [a]\n: b", `1:3: a key of the file is a list, want a word`},
		{"no form in JSON", "raw: [.inf]", `1:7: the number .inf has no form in JSON`},
		{"all that JSON cannot hold", "raw: {a: .inf, ? [b] : c, d: [.nan]}", `1:10: the number .inf has no form in JSON
1:18: a key of the mapping is a list, want a word
1:31: the number .nan has no form in JSON`},
		{"no form in JSON, any", "any: .nan", `1:6: the number .nan has no form in JSON`},
		{"file is a list", "- a", `1:1: the file is a list, want a mapping`},
		{"file is a word", "hello", `1:1: the file is "hello", want a mapping`},
		{"own type", "own: [a]", `1:6: own is a list, want a string`},
		{"column counts characters", "env: {ä: ö, é: 1}", `1:16: é is the number 1, want a string: write "1"`},
		{"all at once", "on: 1\ncount: x\nlist: [{}]\nlevel: ab", `1:5: on is the number 1, want true or false
2:8: count is "x", want a whole number
3:8: list[0] has no name
4:8: level is "ab", want one of low, middle, high`},
		{"long value is cut", "count: " + strings.Repeat("ä", 50), `1:8: count is "` + strings.Repeat("ä", 40) + `…", want a whole number`},
		{"alias points to its use", "text: &a abc\ncount: *a", `2:8: count is "abc", want a whole number`},
		{"one fault under two aliases", "list: [&a {size: x}, *a]", `1:8: list[0] has no name
1:18: size is "x", want a whole number
1:22: list[1] has no name`},
		{"unknown tag", "text: !secret abc", `1:7: the tag !secret is not understood`},
		{"binary tag", "text: !!binary aGk=", `1:7: the tag !!binary is not understood`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, problems := decode(c.in)
			if diff := cmp.Diff(c.want, brief(problems)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// brief lists problems without their file and excerpts.
func brief(problems Problems) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(p.String(), "f.yaml:"), " "))
	}
	return strings.Join(lines, "\n")
}

func TestMergeKeys(t *testing.T) {
	for _, c := range []struct{ name, in, want, problems string }{
		{"own keys win", "base: &b {a: 1, b: 2}\nraw: {b: 3, <<: *b}", `{"b":3,"a":1}`, ""},
		{"own keys win wherever they stand", "raw: {<<: {a: 1, b: 2}, b: 3}", `{"b":3,"a":1}`, ""},
		{"earlier of several wins", "raw: {<<: [{a: 1}, {a: 2, b: 3}]}", `{"a":1,"b":3}`, ""},
		{"nested", "raw: {<<: {<<: {a: 1}, b: 2}}", `{"b":2,"a":1}`, ""},
		{"a quoted << is a key", `raw: {"<<": 1}`, `{"<<":1}`, ""},
		{"not a mapping", "raw: {<<: 1}", ``, `1:11: a merge key (<<) of the mapping is the number 1, want a mapping`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v struct {
				Raw  json.RawMessage `yaml:"raw"`
				Base yaml.Node       `yaml:"base"`
			}
			d, n := Parse("f.yaml", []byte(c.in))
			d.Decode(n, &v, "the file")
			if diff := cmp.Diff(c.want, string(v.Raw)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.problems, brief(d.Problems)); diff != "" {
				t.Errorf("problems (-want +got)\n%s", diff)
			}
		})
	}
}

func TestMembersOfLongMapping(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "k%d: %d\n", i%90, i)
	}
	d, n := Parse("f.yaml", []byte(b.String()))
	members, ok := d.Members(n, "the file")
	if !ok || len(members) != 90 || len(d.Problems) != 10 {
		t.Fatalf("%d members, %d problems", len(members), len(d.Problems))
	}
	if got, want := d.Problems[0].String(), `f.yaml:91:1: "k0" stands twice in the file, first on line 1`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	d, n := Parse("f.yaml", []byte("words: ["+strings.Repeat("1, ", 5000)+"]"))
	d.Decode(n, &everything{}, "the file")
	if len(d.Problems) != maxProblems+1 {
		t.Fatalf("%d problems", len(d.Problems))
	}
	if got, want := d.Problems[maxProblems].String(), "f.yaml: there are more than 1000 problems; the rest is not listed"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"order is kept", "{z: 1, a: 2}", `{"z":1,"a":2}`},
		{"numbers keep their digits", "[1.50, 1e5, -0, 12345678901234567890, 0.1]", `[1.50,1e5,-0,12345678901234567890,0.1]`},
		{"numbers that JSON writes otherwise", "[+5, .5, 5., 0x1F, 0o17, 1_000]", `[5,0.5,5,31,15,1000]`},
		{"words of YAML 1.1 stay words", "[yes, no, on, off, y]", `["yes","no","on","off","y"]`},
		{"truth values", "[true, True, FALSE]", `[true,true,false]`},
		{"nothing", "[~, null, ]", `[null,null]`},
		{"dates stay text", "[2026-07-28, 2026-07-28T10:00:00Z]", `["2026-07-28","2026-07-28T10:00:00Z"]`},
		{"no HTML escapes", `["a<b>&c"]`, `["a<b>&c"]`},
		{"control characters", `["a\tb\0\e"]`, `["a\tb\u0000\u001b"]`},
		{"keys of other types", "{1: a, true: b, ~: c, 1.5: d}", `{"1":"a","true":"b","~":"c","1.5":"d"}`},
		{"block text", "|\n  a\n  b", `"a\nb"`},
		{"empty collections", "{a: {}, b: []}", `{"a":{},"b":[]}`},
		{"aliases", "{a: &x [1], b: *x, c: *x}", `{"a":[1],"b":[1],"c":[1]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, n := Parse("f.yaml", []byte(c.in))
			if len(d.Problems) > 0 {
				t.Fatal(d.Problems)
			}
			got := d.JSON(n)
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !json.Valid(got) {
				t.Error("not valid JSON")
			}
		})
	}
}

func TestDurationText(t *testing.T) {
	b, err := json.Marshal(struct{ D Duration }{Duration(90 * time.Second)})
	if got, want := string(b), `{"D":"1m30s"}`; err != nil || got != want {
		t.Fatalf("got %s %v, want %s", got, err, want)
	}
	var back struct{ D Duration }
	if err := json.Unmarshal(b, &back); err != nil || back.D != Duration(90*time.Second) {
		t.Errorf("read back %v %v", back.D, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"text: abc\ncount: 3\nraw: {a: [1, ~]}\n", "list: [&a {name: x}, *a]\n", "a: &a [*a]", "{<<: {a: 1}}", "? [a]\n: b",
		"wait: 1s\nmaybeInt: -1\nany: .nan\nown: [", "\"\\ud83d\\ude00\"", "a\u2028b: c", "\tx", "--- a\n--- b", "!!set {a}", "&a &b c",
	} {
		f.Add("f.yaml", []byte(s))
		f.Add("f.json", []byte(s))
	}
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		d, n := Parse(file, data)
		if n == nil {
			if len(d.Problems) == 0 {
				t.Fatal("nothing to decode and no problem")
			}
		} else {
			d.Decode(n, &everything{}, "the file")
			if raw := d.JSON(n); raw != nil && !json.Valid(raw) {
				t.Fatalf("not valid JSON: %s", raw)
			}
		}
		lines := len(d.lines)
		for _, p := range d.Problems.Sort() {
			if p.Line > lines+1 {
				t.Fatalf("%s: the file has %d lines", p, lines)
			}
		}
		if strings.ContainsAny(d.Problems.Error(), "\x00\x1b\r") {
			t.Fatalf("control characters in %q", d.Problems.Error())
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	type rule struct {
		Type  string `yaml:"type" check:"required"`
		Chars int    `yaml:"chars"`
		Value string `yaml:"value"`
	}
	type test struct {
		ID       string          `yaml:"id" check:"required"`
		Name     string          `yaml:"name"`
		Tool     string          `yaml:"tool"`
		Level    string          `yaml:"difficulty" check:"enum=basic|intermediate|advanced"`
		Input    json.RawMessage `yaml:"input"`
		Expected struct {
			Rules    []rule   `yaml:"validations"`
			Keywords []string `yaml:"expectedKeywords"`
		} `yaml:"expected"`
		Tags []string `yaml:"tags"`
	}
	type file struct {
		Name  string `yaml:"name"`
		Tests []test `yaml:"tests"`
	}
	text := []byte("name: bench\ntests:\n")
	for i := range 1000 {
		text = fmt.Appendf(text, `  - id: "case-%d"
    name: "What is number %d?"
    tool: ask_docs
    difficulty: basic
    input: {question: "What is number %d and what is it used for?", limit: 5}
    expected:
      validations:
        - type: min_length
          chars: 200
        - type: contains
          value: number
      expectedKeywords: [one, two, three]
    tags: [a, b]
`, i, i, i)
	}
	run := func(decode bool) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				d, n := Parse("bench.yaml", text)
				var v file
				if decode {
					d.Decode(n, &v, "the suite")
				}
				if len(d.Problems) > 0 || (decode && len(v.Tests) != 1000) {
					b.Fatal(d.Problems)
				}
			}
		}
	}
	b.Run("parse", run(false))
	b.Run("whole", run(true))
}
