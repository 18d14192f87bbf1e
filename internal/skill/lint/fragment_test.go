package lint

import (
	"testing"

	"github.com/mettle-eval/mettle/internal/skill"
)

// fragments are pieces of programs as documentation shows them.
var fragments = map[string][]string{
	"python": {
		"    x = 1\n    y = 2\n", "def f(a, b):\n", "@app.get(\"/\")\n", "\"a\": 1,\n\"b\": 2,\n", "model=\"x\",\ntemperature=0,\n", ">>> f(1)\n2\n",
		"class A:\n", "return x\n", "await f()\n", "except ValueError:\n    pass\n", "for x in y:\n", "async with a() as b:\n    c\n", "{{ cookiecutter.name }} = 1\n",
		"-    x = 1\n+    x = 2\n", "else:\n    f()\n",
	},
	"typescript": {
		"async run() {\n  return 1;\n}\n", "private x: string;\nconstructor() {}\n", "case 'a':\n  break;\n", "onClick={f}\n", "return x;\n", "a: string;\nb?: number;\n", "{ a: 1, b: 2 },\n{ a: 2, b: 3 }\n",
		"catch (e) {\n}\n", "else {\n}\n", ".then(x => x)\n", "await f();\n", "import x from 'y'\n\nreturn x\n", "@Input() x: string;\n", "function f(a: string): number\n", "| 'a'\n| 'b'\n", "-  a();\n+  b();\n",
	},
	"javascript": {"async run() {\n  return 1;\n}\n", "return x;\n", "case 'a':\n  break;\n", ".map(x => x)\n", "key: value,\nother: 1\n", "catch (e) {\n}\n"},
	"json":       {"{\"a\": 1}\n{\"b\": 2}\n", "\"a\": 1,\n\"b\": 2\n", "{\"a\": 1},\n{\"b\": 2}\n", "{\n  \"a\": {{value}}\n}\n", "{\"a\": 1}\n\n{\"b\": 2}\n"},
	"yaml":       {"a: {{ .Values.x }}\n", "a: 1\n---\nb: 2\n", "{% if x %}\na: 1\n{% endif %}\n"},
	"go":         {"x := 1\nreturn x\n", "case 1:\n\tf()\n", "import \"fmt\"\n\nx := 1\n", "a, b := f()\nif err != nil {\n\treturn err\n}\n", "\"a\": 1,\n", "func f(a int) error\n"},
	"rust":       {"let x = 1;\nx\n", "fn f(&self) {}\n", "Some(x) => 1,\nNone => 2,\n", "#[derive(Debug)]\n"},
	"bash":       {"cmd [options] <file>\n", "$ ls\na b (c)\n", "FOO=bar \\\n"},
	"html":       {"<div>\n", "</div>\n"},
	"css":        {"color: red;\n"},
	"sql":        {"WHERE a = 1\n"},
}

// TestFragments: a piece of a program is no mistake.
func TestFragments(t *testing.T) {
	for lang, list := range fragments {
		for _, text := range list {
			d := skill.Parse("skills/notes/SKILL.md", []byte(neutralSkill+"```"+lang+"\n"+text+"```\n"))
			found, err := Lint([]*skill.Document{d}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if f.Rule == "code-syntax" {
					t.Errorf("%s: %q: %s", lang, text, f.Message)
				}
			}
		}
	}
}

// TestNotFragments: what no program has in it is one, in whatever it is put.
func TestNotFragments(t *testing.T) {
	for lang, text := range map[string]string{
		"python": "pip install x\n", "typescript": "const rows = ;\n", "javascript": "function (\n", "json": "{\"a\": }\n", "go": "func f( {\n", "rust": "fn f( {\n", "bash": "if x; then\n",
	} {
		d := skill.Parse("skills/notes/SKILL.md", []byte(neutralSkill+"```"+lang+"\n"+text+"```\n"))
		found, err := Lint([]*skill.Document{d}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || found[0].Rule != "code-syntax" {
			t.Errorf("%s: %q: %v", lang, text, messages(found))
		}
	}
}
