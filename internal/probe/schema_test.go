package probe

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	seven = `"$schema":"http://json-schema.org/draft-07/schema#",`
	four  = `"$schema":"http://json-schema.org/draft-04/schema#",`
)

// schemas are schemas with the first problem of each; "" is a valid one.
var schemas = []struct{ schema, problem string }{
	{`{}`, ""},
	{`true`, ""},
	{`{"type":"object"}`, ""},
	{`{"type":["string","null"]}`, ""},
	{`{"type":[]}`, "type is empty"},
	{`{"type":"text"}`, `type "text" does not exist`},
	{`{"type":["string","text"]}`, `type "text" does not exist`},
	{`{"type":1}`, "type is a number instead of a string or a list of them"},
	{`{"type":[1]}`, "type is a number instead of a string or a list of them"},
	{`{"properties":{"a":{"type":"string"},"b":true}}`, ""},
	{`{"properties":{"a":"string"}}`, "#/properties/a: it is a string instead of a schema"},
	{`{"properties":{"a/b~c":{"type":3}}}`, "#/properties/a~1b~0c: type is a number instead of a string or a list of them"},
	{`{"properties":[]}`, "properties is an array instead of an object"},
	{`{"properties":null}`, "properties is null instead of an object"},
	{`{"required":["a","b"]}`, ""},
	{`{"required":["a","a"]}`, `required has "a" twice`},
	{`{"required":"a"}`, "required is a string instead of a list of names"},
	{`{"required":[1]}`, "required has a number among its names"},
	{`{"items":{"type":"string"}}`, ""},
	{`{"items":[{"type":"string"}]}`, "#/items: it is a list, which 2020-12 calls prefixItems"},
	{`{` + seven + `"items":[{"type":"string"}]}`, ""},
	{`{` + seven + `"items":[{"type":"strng"}]}`, `#/items/0: type "strng" does not exist`},
	{`{"prefixItems":[{"type":"string"}],"items":false}`, ""},
	{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, ""},
	{`{"anyOf":[]}`, "anyOf is empty"},
	{`{"oneOf":{"type":"string"}}`, "oneOf is an object instead of an array"},
	{`{"allOf":[{"minimum":"1"}]}`, "#/allOf/0: minimum is a string instead of a number"},
	{`{"minLength":3,"maxLength":5.0}`, ""},
	{`{"minLength":-1}`, "minLength is -1, want a whole number of 0 or more"},
	{`{"maxItems":1.5}`, "maxItems is 1.5, want a whole number of 0 or more"},
	{`{"minItems":"2"}`, "minItems is a string instead of a number"},
	{`{"multipleOf":0}`, "multipleOf is 0, want more than 0"},
	{`{"exclusiveMinimum":0}`, ""},
	{`{"exclusiveMinimum":true}`, "exclusiveMinimum is a boolean instead of a number"},
	{`{` + four + `"minimum":0,"exclusiveMinimum":true}`, ""},
	{`{` + four + `"minimum":0,"exclusiveMinimum":1}`, "exclusiveMinimum is a number instead of a boolean"},
	{`{` + four + `"additionalProperties":false,"type":"object"}`, ""},
	{`{` + four + `"properties":{"a":true}}`, "#/properties/a: it is a boolean instead of a schema"},
	{`{"uniqueItems":"yes"}`, "uniqueItems is a string instead of a boolean"},
	{`{"enum":"a"}`, "enum is a string instead of an array"},
	{`{"enum":["a",1,null]}`, ""},
	{`{"title":1}`, "title is a number instead of a string"},
	{`{"description":["a"]}`, "description is an array instead of a string"},
	{`{"pattern":"^[a-z]+$"}`, ""},
	{`{"pattern":"^(?=.*x).*$"}`, ""},
	{`{"pattern":"\\p{L}+"}`, ""},
	{`{"pattern":"[a"}`, `the pattern "[a" is not a regular expression`},
	{`{"patternProperties":{"*":{}}}`, `#/patternProperties: the pattern "*" is not a regular expression`},
	{`{"patternProperties":{"^x-":{"type":"string"}}}`, ""},
	{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, ""},
	{`{"$ref":"#/$defs/b","$defs":{"a":{"type":"string"}}}`, `$ref "#/$defs/b" leads nowhere`},
	{`{"$ref":"#/$defs/a%20b","$defs":{"a b":{}}}`, ""},
	{`{"properties":{"a":{"$ref":"#"}}}`, ""},
	{`{"properties":{"a":{"$ref":"#here"}},"$defs":{"x":{"$anchor":"here"}}}`, ""},
	{`{"properties":{"a":{"$ref":"#there"}}}`, `#/properties/a: $ref "#there" leads nowhere`},
	{`{"$ref":5}`, "$ref is a number instead of a string"},
	{`{"dependentRequired":{"a":["b"]}}`, ""},
	{`{"dependentRequired":{"a":"b"}}`, "#/dependentRequired: a is a string instead of a list of names"},
	{`{` + seven + `"dependencies":{"a":["b"],"c":{"type":"object"}}}`, ""},
	{`{` + seven + `"definitions":{"a":{"type":"objekt"}}}`, `#/definitions/a: type "objekt" does not exist`},
	{`{"not":{"type":"string"},"if":{},"then":{},"else":true}`, ""},
	{`{"not":5}`, "#/not: it is a number instead of a schema"},
	{`{"default":{"type":"nonsense"},"const":[1],"x-anything":{"type":7}}`, ""},
	{`{"additionalProperties":{"type":"string"}}`, ""},
	{`{"additionalProperties":"no"}`, "#/additionalProperties: it is a string instead of a schema"},
}

func TestSchemaProblems(t *testing.T) {
	for _, test := range schemas {
		v, err := parseValue([]byte(test.schema))
		if err != nil {
			t.Fatalf("%s: %v", test.schema, err)
		}
		got := ""
		if w := walkSchema(v); len(w.problems) > 0 {
			got = w.problems[0]
		}
		if got != test.problem {
			t.Errorf("%s\n got %q\nwant %q", test.schema, got, test.problem)
		}
	}
}

// TestSchemaProblemsAgree holds the rules against a validator that knows the
// meta-schemas.
func TestSchemaProblemsAgree(t *testing.T) {
	for _, test := range schemas {
		if err := validSchema(test.schema); (err == nil) != (test.problem == "") {
			t.Errorf("%s: %q, but the meta-schema says %v", test.schema, test.problem, err)
		}
	}
}

func validSchema(schema string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp2.Compile(s, regexp2.ECMAScript|regexp2.Unicode)
		if err != nil {
			return nil, err
		}
		re.MatchTimeout = time.Second
		return jsRegexp{re}, nil
	})
	if err := c.AddResource("schema.json", doc); err != nil {
		return err
	}
	_, err = c.Compile("schema.json")
	return err
}

type jsRegexp struct{ *regexp2.Regexp }

func (r jsRegexp) MatchString(s string) bool {
	ok, err := r.Regexp.MatchString(s)
	return ok && err == nil
}

func TestManyProblemsAreCutShort(t *testing.T) {
	v, err := parseValue([]byte(`{"anyOf":[` + strings.Repeat(`{"type":1},`, 50) + `{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(walkSchema(v).problems); n != maxProblems+1 {
		t.Errorf("%d problems", n)
	}
}

func TestHostileSchemasEnd(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000)
	long := `{"description":"` + strings.Repeat("x", maxSchema) + `"}`
	for name, text := range map[string]string{"deep": deep, "long": long, "cut off": `{"a":`, "two": `{} {}`, "nothing": ``} {
		if _, err := parseValue([]byte(text)); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
	// Each name needs four of the next: 4^30 values if nobody counted.
	var b strings.Builder
	b.WriteString(`{"type":"object","$ref":"#/$defs/0","$defs":{`)
	for i := range 30 {
		next := string(rune('0' + i + 1))
		prop := func(n string) string { return `"` + n + `":{"$ref":"#/$defs/` + next + `"}` }
		b.WriteString(`"` + string(rune('0'+i)) + `":{"type":"object","required":["a","b","c","d"],"properties":{` +
			prop("a") + "," + prop("b") + "," + prop("c") + "," + prop("d") + `}},`)
	}
	b.WriteString(`"x":{}}}`)
	v, err := parseValue([]byte(strings.ReplaceAll(b.String(), `\`, `\\`)))
	if err != nil {
		t.Fatal(err)
	}
	args := &value{kind: isObject, members: exampleArguments(v)}
	if n := args.weight(); n > 20_000 {
		t.Errorf("an example of %d bytes", n)
	}
	loop, err := parseValue([]byte(`{"$ref":"#/a","a":{"$ref":"#/b"},"b":{"$ref":"#/a"}}`))
	if err != nil {
		t.Fatal(err)
	}
	walkSchema(loop)
	exampleArguments(loop)
}

func FuzzSchema(f *testing.F) {
	for _, s := range schemas {
		f.Add([]byte(s.schema))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := parseValue(raw)
		if err != nil {
			return
		}
		walkSchema(v)
		typeName(v, v)
		arguments(v)
		args := &value{kind: isObject, members: exampleArguments(v)}
		if args.weight() > 1<<20 {
			t.Errorf("an example of %d bytes", args.weight())
		}
		if json.Valid(raw) && v.is(isObject) {
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err == nil && len(m) > len(v.members) {
				t.Error("members were lost")
			}
		}
	})
}

func TestExamples(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"nothing", `{"type":"object"}`, `{}`},
		{"only what is required, in the schema's order", `{"type":"object","required":["b","a"],"properties":{"a":{"type":"string"},"b":{"type":"boolean"},"c":{"type":"string"}}}`, `{"a": "example", "b": false}`},
		{"what the schema offers", `{"type":"object","required":["a","b","c","d"],"properties":{"a":{"enum":["x","y"]},"b":{"default":5},"c":{"examples":["ex"]},"d":{"const":null,"type":"integer"}}}`, `{"a": "x", "b": 5, "c": "ex", "d": 1}`},
		{"formats", `{"type":"object","required":["a","b"],"properties":{"a":{"type":"string","format":"uri"},"b":{"type":"string","format":"date"}}}`, `{"a": "https://example.com/", "b": "2026-01-31"}`},
		{"limits", `{"type":"object","required":["a","b","c","d","e","f"],"properties":{"a":{"type":"integer","minimum":5},"b":{"type":"number","maximum":0.5},"c":{"type":"string","maxLength":3},"d":{"type":"string","minLength":10},"e":{"type":"integer","exclusiveMinimum":1},"f":{"type":"integer","minimum":7,"multipleOf":5}}}`, `{"a": 5, "b": 0.5, "c": "exa", "d": "example example", "e": 2, "f": 10}`},
		{"lists", `{"type":"object","required":["a","b","c"],"properties":{"a":{"type":"array","items":{"type":"integer"}},"b":{"type":"array","minItems":2,"items":{"enum":["q"]}},"c":{"type":"array","maxItems":0}}}`, `{"a": [1], "b": ["q", "q"], "c": []}`},
		{"objects", `{"type":"object","required":["a"],"properties":{"a":{"type":"object","required":["b"],"properties":{"b":{"type":"object","required":["c"],"properties":{"c":{"type":"string"}}}}}}}`, `{"a": {"b": {"c": "example"}}}`},
		{"references", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer","minimum":3}}}`, `{"a": 3}`},
		{"alternatives", `{"type":"object","required":["a","b"],"properties":{"a":{"anyOf":[{"type":"null"},{"type":"integer","minimum":9}]},"b":{"type":["null","boolean"]}}}`, `{"a": 9, "b": false}`},
		{"required but unknown", `{"type":"object","required":["a"]}`, `{"a": "example"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := parseValue([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			got := flow(&value{kind: isObject, members: exampleArguments(v)})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			conforms(t, test.schema, got)
		})
	}
}

// conforms holds an example against its schema.
func conforms(t *testing.T, schema, example string) {
	t.Helper()
	if strings.Contains(schema, `"const":null`) {
		return // which asks for a null, of type integer
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	inst, err := jsonschema.UnmarshalJSON(strings.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("schema.json").Validate(inst); err != nil {
		t.Error(err)
	}
}
