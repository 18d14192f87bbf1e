package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/skill"
)

func TestScopeText(t *testing.T) {
	blanks := func(n int) string { return strings.Repeat(" ", n) }
	for _, c := range []struct {
		name, text, want string // want is empty when the source cannot be put into a scope
	}{
		{"plain", "const a = 1;\n", "const a = 1;\n"},
		{"import", "import { a } from \"b\";\na();\n", blanks(22) + "\na();\n"},
		{"import of a whole module", "import * as a from 'b'\na();\n", blanks(22) + "\na();\n"},
		{"import of a default and names", "import a, { b as c, type D } from \"b\";\n", blanks(38) + "\n"},
		{"import of types", "import type { A } from \"b\";\n", blanks(27) + "\n"},
		{"import of a type named type", "import { type } from \"b\";\n", blanks(25) + "\n"},
		{"import of nothing", "import \"b\"; // why\n", blanks(12) + "// why\n"},
		{"import over lines", "import {\n  a,\n  b,\n} from \"b\";\n", blanks(8) + "\n" + blanks(4) + "\n" + blanks(4) + "\n" + blanks(11) + "\n"},
		{"export of a declaration", "export const a = 1;\n", blanks(6) + " const a = 1;\n"},
		{"export of a value", "export default a;\n", ""},
		{"export of names", "export { a };\n", ""},
		{"import that is a call", "import(\"b\");\n", ""},
		{"import with attributes", "import a from \"b\" with { type: \"json\" };\n", ""},
		{"import that breaks off", "import { a from \"b\";\n", ""},
		{"import of a number", "import { 1 } from \"b\";\n", ""},
		{"two on a line", "import a from \"b\"; import c from \"d\";\n", ""},
		{"name that begins like import", "imported();\n", ""},
		{"open template", "const a = `b;\n", ""},
		{"open comment", "/* a\n", ""},
		{"markup", "const a = <b></b>;\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := scopeText(c.text)
			if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != "") {
				t.Errorf("%v (-want +got)\n%s", ok, diff)
			}
		})
	}
}

// TestTogetherHidesNothing puts each broken example between good ones: the program must fail, whatever it begins or leaves
// open.
func TestTogetherHidesNothing(t *testing.T) {
	const good = "import { a } from \"b\";\nconst c = a();\n"
	for _, bad := range []string{
		"const a = ;", "if (a)", "a =", "export", "function f() {", "}", "f(", ")", "[1,", "foo:", "@x", "type A =", "class A {", "} {",
		"const a = `b", "/* a", "\"a", "import { a } from", "import { a }", "export const", "for (;;)", "else {}", "a.", "x => ",
	} {
		blocks := []*skill.Block{}
		for _, text := range []string{good, bad, good} {
			blocks = append(blocks, &skill.Block{Block: code.Block{Lang: "typescript", Text: text + "\n", Closed: true}})
		}
		if problems, _ := code.Syntax("typescript", bad); len(problems) == 0 {
			t.Errorf("%q parses by itself", bad)
		}
		if parsedTogether(blocks)[blocks[1]] {
			t.Errorf("%q was taken for good", bad)
		}
	}
}

// TestManyProblemsAreListed holds the other package to what parseTogether relies on: so many problems are listed before
// the list is cut.
func TestManyProblemsAreListed(t *testing.T) {
	problems, _ := code.Syntax("typescript", strings.Repeat("let a;", 2*manyProblems))
	if len(problems) < manyProblems {
		t.Errorf("%d problems are listed, want %d", len(problems), manyProblems)
	}
}

// FuzzTogether checks that what is taken for good because the whole is, is good by itself.
func FuzzTogether(f *testing.F) {
	for _, s := range [][2]string{
		{"import { a } from \"b\";\nexport const c = a();\n", "const c = `${a}`;\n"},
		{"if (a)\n", "}\n"},
		{"/* a */ b\n", "{\n"},
		{"export\n", "x\n"},
		{"class A {\n", "}\n"},
		{"import a, { b } from 'c'\n", "await a()\n"},
		{"a => {\n", "};\n"},
	} {
		f.Add(s[0], s[1], true)
	}
	f.Fuzz(func(t *testing.T, a, b string, typed bool) {
		lang := "javascript"
		if typed {
			lang = "typescript"
		}
		blocks := []*skill.Block{
			{Block: code.Block{Lang: lang, Text: a, Closed: true}},
			{Block: code.Block{Lang: lang, Text: b, Closed: true}},
		}
		for x := range parsedTogether(blocks) {
			if problems, checked := code.Syntax(lang, x.Text); checked && len(withoutRepeats(problems)) > 0 {
				t.Fatalf("%q: %v, together with %q and %q", x.Text, problems, a, b)
			}
		}
	})
}
