package kind

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseProblems(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "the file is empty"},
		{"only comments", "# nothing\n\n# here\n", "the file is empty"},
		{"only blank lines", "\n\n", "the file is empty"},
		{"binary", "a: \x00\x01", "the file is not text"},
		{"UTF-16", "\xff\xfea\x00:\x00", "the file is not text"},
		{"Latin-1", "a: b\nc: caf\xe9", "2:7: the byte 0xE9 is not UTF-8"},
		{"control character", "a: b\nc: \x1b[31m", "2:4: the character U+001B does not belong in a text file"},
		{"replacement character is text", "a: \uFFFD", ""},
		{"byte order mark", "\uFEFFtext: 1", `1:7: text is the number 1, want a string: write "1"`},
		{"second document", "a: b\n---\nc: d\n", "3:1: a second document: the file must hold one"},
		{"end marker is no second document", "---\ntext: abc\n...\n", ""},
		{"tab as indentation", "inner:\n\tname: x\n", "2:1: not valid YAML: a tab cannot indent: use spaces"},
		{"tab after spaces", "inner:\n  \tname: x\n", "2:3: not valid YAML: a tab cannot indent: use spaces"},
		{
			"list item too far out", "list:\n    - name: a\n   - name: b\n",
			"3:4: not valid YAML: the line does not fit: look at its indentation and its quotes",
		},
		{"key too far in", "text: abc\n  count: 1\n", "2:3: not valid YAML: a colon stands where none can: quote text that has one in it, and look at the indentation"},
		{
			"key too far out", "list:\n  - name: a\n    size: 1\n   more: 1\n",
			"4:4: not valid YAML: the line does not fit: look at its indentation and its quotes",
		},
		{
			"quote inside quotes", "a: b\ntext: \"a \"b\" c\"\n",
			"2:1: not valid YAML: the line does not fit: look at its indentation and its quotes",
		},
		{"unclosed quote", "a: b\ntext: \"abc\ncount: 1\n", "2:1: not valid YAML: a quote that opens here is not closed"},
		{"unclosed list", "a: b\nwords: [a,\n", "3:1: not valid YAML: a value is missing here, or a [ or { before it is not closed"},
		{"list closed by a brace", "a: b\nwords: [a}\n", "2:1: not valid YAML: a list in [] does not end here: quote text with a ? or any of ,[]{} in it"},
		{"question in braces", "a: b\nraw: {q: What is it?}\n", "2:1: not valid YAML: a mapping in {} does not end here: quote text with a ? or any of ,[]{} in it"},
		{"colon in plain text", "text: a: b\n", "1:1: not valid YAML: a colon stands where none can: quote text that has one in it, and look at the indentation"},
		{"missing colon", "a: b\ntext\ncount: 1\n", "2:1: not valid YAML: a colon is missing"},
		{"percent sign", "a: b\ntext: %x\n", "2:1: not valid YAML: a value cannot start like this: quote it"},
		{"unknown anchor", "a: b\nwords: [ä, *nowhere]\n", "2:12: the alias *nowhere has no anchor &nowhere before it"},
		{"anchor after its alias", "a: *x\nb: &x 1\n", "1:4: the alias *x has no anchor &x before it"},
		{"list contains itself", "raw: &a [*a]", `1:10: the anchor "a" contains itself`},
		{"mapping contains itself", "raw: &a {b: [*a]}", `1:14: the anchor "a" contains itself`},
		{"merge key contains itself", "inner: &a\n  <<: *a", `2:7: the anchor "a" contains itself`},
		{"merge list contains itself", "inner: {<<: &a [*a]}", `1:17: the anchor "a" contains itself`},
		{"two anchors around each other", "raw: &a {b: &b [*a]}", `1:17: the anchor "a" contains itself`},
		{"anchor used for something else later", "raw: [&a 1, &a [*a]]", `1:17: the anchor "a" contains itself`},
		{"too deep", strings.Repeat("[", 101), "1:1: not valid YAML: a value is missing here, or a [ or { before it is not closed"},
		{"far too deep", strings.Repeat("[", 20000), "1:1: not valid YAML: exceeded max depth of 10000"},
		{"too deep and closed", "raw: " + strings.Repeat("[", 101) + strings.Repeat("]", 101), "1:1: lists and mappings are nested more than 100 deep"},
		{"deep enough", "raw: " + strings.Repeat("[", 98) + strings.Repeat("]", 98), ""},
		{"too big", strings.Repeat("a", MaxFile+1), "the file is 4194305 bytes, more than the 4 MiB allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, n := Parse("f.yaml", []byte(c.in))
			if n != nil && strings.Contains(c.in, "text") {
				d.Decode(n, &everything{}, "the file")
			}
			if diff := cmp.Diff(c.want, brief(d.Problems)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAliasesAreBounded(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		alias := fmt.Sprintf("*a%d, ", i)
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(alias, 10))
	}
	chain := "a0: &a0 [x]\n"
	for i := range 200 {
		chain += fmt.Sprintf("a%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	for _, c := range []struct{ name, in, want string }{
		{"billion laughs", laughs, "7:25: the file's aliases expand to more than 4194304 values"},
		{"long text many times", "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 20) + "]", "2:69: the file's aliases expand to more than 16 MiB"},
		{"deep by aliases", chain, "101:7: lists and mappings are nested more than 100 deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, n := Parse("f.yaml", []byte(c.in))
			if n != nil {
				t.Error("there is something to decode")
			}
			if diff := cmp.Diff(c.want, brief(d.Problems)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The parser counts lines by more characters than editors do; places must be
// the editor's.
func TestPlacesWithRareLineBreaks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"line separator", "env: {a: \"x\u2028y\", b: 2}\ncount: x\n", `1:20: b is the number 2, want a string: write "2"
2:8: count is "x", want a whole number`},
		{"next line", "text: \"a\u0085b\"\ncount: x\n", `2:8: count is "x", want a whole number`},
		{"CRLF", "text: abc\r\ncount: x\r\n", `2:8: count is "x", want a whole number`},
		{"CR", "text: abc\rcount: x\r", `2:8: count is "x", want a whole number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, problems := decode(c.in)
			if diff := cmp.Diff(c.want, brief(problems)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, p := range problems {
				if p.Source == "" || strings.ContainsAny(p.Source, "\r\n") {
					t.Errorf("source %q", p.Source)
				}
			}
		})
	}
}

func TestJSONFiles(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"surrogate pairs", `{"a": "\ud83d\ude00 \\ud83d \u00e9\/"}`, `{"a":"😀 \\ud83d é/"}`},
		{"pair in capitals after an escape", `["\\\uD83D\uDE00"]`, `["\\😀"]`},
		{"tabs as indentation", "{\n\t\"a\": [\n\t\t1\n\t]\n}\n", `{"a":[1]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, n := Parse("f.json", []byte(c.in))
			if n == nil {
				t.Fatal(d.Problems)
			}
			if diff := cmp.Diff(c.want, string(d.JSON(n))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if d, n := Parse("f.json", []byte(`["\ud83d"]`)); n != nil || len(d.Problems) != 1 {
		t.Error("half a pair is accepted")
	}
}
