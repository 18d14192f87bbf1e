package probe

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/mcpclient"
	"github.com/mettle-eval/mettle/internal/suite"
)

// uncommented takes every case out of its comment, as a person would.
func uncommented(text string) string {
	return regexp.MustCompile(`(?m)^  # `).ReplaceAllString(text, "  ")
}

// loaded reads a suite as mettle does.
func loaded(t *testing.T, text string) *eval.Suite {
	t.Helper()
	set, err := suite.Load([]suite.File{{Path: "suite.yaml", Data: []byte(text)}})
	if err != nil {
		t.Fatalf("the suite does not load: %v\n%s", err, text)
	}
	return set.Suites[0]
}

func TestScaffold(t *testing.T) {
	for _, a := range archives(t, "testdata/scaffold/*.txtar") {
		t.Run(filepath.Base(a.path), func(t *testing.T) {
			r, tools := inspect(t, a.server())
			s := &Scaffold{
				Server: r.Server.Name, Tools: tools, Notes: []string{"A note\nof two lines."},
				Target: []Setting{
					{"type", "mcp"},
					{"url", "http://localhost:3000/mcp"},
					{"token", "${TOKEN}"},
					{"headers", []Setting{{"X-Key", "${KEY}"}}},
				},
			}
			text := string(s.YAML())
			a.want(t, "suite.yaml", text)
			if n := len(loaded(t, text).Cases); n != 1 {
				t.Errorf("%d cases are active, want 1", n)
			}
			all := loaded(t, uncommented(text)).Cases
			var names []string
			for _, c := range all {
				names = append(names, c.Tool+" "+string(c.Input))
			}
			a.want(t, "cases", strings.Join(names, "\n")+"\n")
		})
	}
}

// TestScaffoldStops makes sure that a suite without a safe case names a tool
// that the server cannot have, whatever its tools are called.
func TestScaffoldStops(t *testing.T) {
	tools := []mcpclient.Tool{{Name: "uncomment_a_case_first"}, {Name: "x_uncomment_a_case_first_"}}
	c := loaded(t, string((&Scaffold{Tools: tools}).YAML())).Cases[0]
	for _, tool := range tools {
		if strings.HasSuffix(tool.Name, c.Tool) {
			t.Errorf("the case's tool is %s, which %s is found for", c.Tool, tool.Name)
		}
	}
}

func TestSafe(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		name        string
		annotations mcpclient.Annotations
		want        bool
	}{
		{"search", mcpclient.Annotations{ReadOnly: &yes}, true},
		{"search", mcpclient.Annotations{ReadOnly: &yes, Destructive: &no}, true},
		{"search", mcpclient.Annotations{}, false},
		{"search", mcpclient.Annotations{ReadOnly: &no}, false},
		{"search", mcpclient.Annotations{ReadOnly: &yes, Destructive: &yes}, false},
		{"delete_all", mcpclient.Annotations{ReadOnly: &yes}, false},
		{"get-env", mcpclient.Annotations{ReadOnly: &yes}, false},
		{"listSecrets", mcpclient.Annotations{ReadOnly: &yes}, false},
	} {
		if got := safe(mcpclient.Tool{Name: test.name, Annotations: test.annotations}); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

func TestManyCases(t *testing.T) {
	tools := make([]mcpclient.Tool, maxCases+200)
	for i := range tools {
		tools[i].Name = "same"
	}
	text := string((&Scaffold{Server: "many", Tools: tools}).YAML())
	if n := len(loaded(t, uncommented(text)).Cases); n != maxCases+1 {
		t.Errorf("%d cases", n)
	}
	if !strings.Contains(text, "# Left out: 200 tools") {
		t.Error("nobody is told that tools were left out")
	}
}

// FuzzScaffold makes sure that whatever a server calls things, the file holds
// one active case that is the one meant, and all others load when taken out
// of their comments.
func FuzzScaffold(f *testing.F) {
	f.Add("name", "tool", "text", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`)
	f.Add("x\n- id: evil", "a: b\n  tool: rm", "line\r\nline\u0085line\u2028tests: []", `{"required":["<<","a: b","&x","*x","!!int"]}`)
	f.Add("\"'\\", "\ufeff\x00\x7f", "# # {} %YAML", `{"required":["a"],"properties":{"a":{"default":{"b":"\u2029- c","b":1e999}}}}`)
	f.Add("no", "true", "~", `{"required":["null","1","-"],"properties":{"1":{"enum":[-0.0e-1]},"-":{"const":[[],{}]}}}`)
	f.Fuzz(func(t *testing.T, server, name, text, schema string) {
		if !json.Valid([]byte(schema)) {
			schema = `{}`
		}
		tool := mcpclient.Tool{Name: name, Description: text, InputSchema: json.RawMessage(schema)}
		read := tool
		read.Name, read.Annotations.ReadOnly = "search"+name, new(true)
		s := &Scaffold{
			Server: server, Tools: []mcpclient.Tool{tool, read, tool}, Notes: []string{text},
			Target: []Setting{{"type", "mcp"}, {"command", []string{"run", strings.ToValidUTF8(text, "")}}},
		}
		yaml := string(s.YAML())
		cases := loaded(t, yaml).Cases
		if len(cases) != 1 {
			t.Fatalf("%d active cases\n%s", len(cases), yaml)
		}
		if got := cases[0].Tool; got != strings.ToValidUTF8(got, "") || got != replaced(read.Name) && !strings.HasPrefix(got, "uncomment_a_case_first") {
			t.Errorf("the active case is of %q\n%s", got, yaml)
		}
		for _, c := range loaded(t, uncommented(yaml)).Cases {
			if c.Tool != replaced(name) && c.Tool != replaced(read.Name) && c.ID != stopID {
				t.Errorf("a case of %q came out of it", c.Tool)
			}
		}
	})
}

// replaced is text as JSON would carry it.
func replaced(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// TestEveryCharacter puts each character that fits 16 bits into a name; no
// others end a line or mean anything to YAML.
func TestEveryCharacter(t *testing.T) {
	var tools []mcpclient.Tool
	check := func() {
		cases := loaded(t, uncommented(string((&Scaffold{Tools: tools}).YAML()))).Cases[1:]
		for i, tool := range tools {
			if cases[i].Tool != tool.Name {
				t.Fatalf("%q became %q", tool.Name, cases[i].Tool)
			}
		}
		tools = nil
	}
	var name strings.Builder
	const last = rune(0xffff)
	for r := rune(0); r <= last; r++ {
		if utf8.ValidRune(r) {
			name.WriteRune(r)
		}
		if name.Len() >= 190 || r == last {
			tools = append(tools, mcpclient.Tool{Name: "x" + name.String()})
			name.Reset()
		}
		if len(tools) == maxCases || r == last {
			check()
		}
	}
}

func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"plain":           `"plain"`,
		"a \"b\" \\":      `"a \"b\" \\"`,
		"line\nbreak\t":   `"line\u000abreak\u0009"`,
		"\u0085\u2028":    `"\u0085\u2028"`,
		"日本 é 😀":          `"日本 é 😀"`,
		"\U000e0041\x00é": `"\U000e0041\u0000é"`,
	} {
		if diff := cmp.Diff(want, quoted(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
