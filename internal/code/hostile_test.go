package code

import (
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/code/javascript"
	"github.com/mettle-eval/mettle/internal/code/shell"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// hostile are pieces that, repeated, make a careless reader take quadratic time or run out of stack.
var hostile = []string{
	"```\n", "~~~", "> ", ">", "- ", "- - ", "1. ", "-\n", "\n", "\r", " ", "\t", "- a\n\n", "* * x ", "<!--", "<!--\n", "`", "``` `\n", "#",
	"(", "[", "{", "<", "a<", "!", "a=>", "if(x)", "<a>", "'", "\"", "'\"", "`${", "${`", "/", "(/[", "/*", "*/", "//", "\\",
	"import ", "import {", "import {a,", "import(", "import '", "import \"", "import /*", "import ` ", "import a, {", "import (\"a\"", "import type ",
	"export {", "export * from ", "require(", "require('", "from ", "from a import (", "from a import b,", "from . ", "import a.", "import a,",
	"use ", "use a::", "use a::{", "use a::{b,", "use {", "use r#\"", "r#\"", "r####", "extern crate ", "b'", "'a", "\"\"\"", "'''", ">>> ",
	"lambda:", "not ", "a if b else ", "f\"{", "f'{a:", "if x:\n ", "try:\n", "match x:\n case ", "@a\n", "\\\n", "... ", "%a\n", "!a\n",
	"a::<", "|a|", "..", "&&", "match x {", "where T:", "#[", "///", "->", "impl<", "dyn A+", "assembly {", "mapping(", "let a :=", "a{b:", "a?b:",
	"select ", "select (", "from (", "with a as (", "values (", "case when ", "$$", "--", "# ", "a.b", "$(", "$((", "<<a\n", "[a]\n", "[[a]]\n", "a={",
	"{\"a\":", "[1,", "a: ", "? ", "&a ", "*a ", "func f() {", "x := ", "package p;", "é", "\xff", "\x00", "\ufeff",
}

// TestHostile runs every entry point over large inputs. What it asserts is that they end: a step that looks back over the
// whole input for each piece would take minutes at this size.
func TestHostile(t *testing.T) {
	size := 1 << 14
	if testing.Short() {
		size = 1 << 13
	}
	for _, piece := range hostile {
		for _, unit := range []string{piece, piece + "\n"} {
			doc := strings.Repeat(unit, size/len(unit))
			Blocks(doc)
			TextImports(doc)
			ReadAnswer(doc[:len(doc)/8], "typescript") // it asks several parsers
			for _, l := range languages {
				if l.calls != nil && l.is == "" {
					Calls(l.name, doc)
				}
				if l.imports != nil && l.is == "" {
					Imports(l.name, doc)
				}
				if l.syntax != nil {
					Syntax(l.name, doc)
				}
			}
		}
	}
}

// TestSyntaxBounds holds that a source beyond a parser's bounds is not checked, rather than crashed on or blamed.
func TestSyntaxBounds(t *testing.T) {
	for name, test := range map[string]struct{ lang, src string }{
		"large":            {"ts", strings.Repeat("a();\n", javascript.MaxSize/5+1)},
		"brackets":         {"ts", strings.Repeat("(", 1000) + strings.Repeat(")", 1000)},
		"arrows":           {"ts", "f = " + strings.Repeat("a => ", 1000) + "a"},
		"templates":        {"js", strings.Repeat("`${", 1000)},
		"operators":        {"js", strings.Repeat("!", 1000) + "a"},
		"type arguments":   {"ts", strings.Repeat("a<b,", 1000)},
		"go":               {"go", "x := " + strings.Repeat("(", 1_000_000)},
		"json":             {"json", strings.Repeat("[", 100_000)},
		"yaml":             {"yaml", strings.Repeat("[", 100_000)},
		"python":           {"python", strings.Repeat("(", 10_000) + strings.Repeat(")", 10_000)},
		"python operators": {"python", strings.Repeat("not ", 10_000) + "a"},
		"python choices":   {"python", "a = " + strings.Repeat("a if b else ", 10_000) + "c"},
		"python strings":   {"python", strings.Repeat("f\"{", 10_000) + "a" + strings.Repeat("}\"", 10_000)},
		"rust":             {"rust", "let a = " + strings.Repeat("(", 10_000) + strings.Repeat(")", 10_000) + ";"},
		"rust types":       {"rust", "type A = " + strings.Repeat("&", 10_001) + "u8;"},
		"rust operators":   {"rust", "let a = " + strings.Repeat("!", 10_000) + "a;"},
		"solidity":         {"solidity", strings.Repeat("{", 10_000) + strings.Repeat("}", 10_000)},
		"toml":             {"toml", "a = " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)},
		"toml tables":      {"toml", "a = " + strings.Repeat("{a=", 20_000)},
		"jsonc":            {"jsonc", strings.Repeat("[", 900_000)},
		"jsonc objects":    {"jsonc", strings.Repeat(`{"a":`, 20_000)},
		"long jsonc":       {"jsonc", strings.Repeat("\n", 2*source.MaxSource)},
		"json5":            {"json5", "{a: 1}"},
		"long python":      {"python", strings.Repeat("a\n", source.MaxSource)},
		"long rust":        {"rust", strings.Repeat("a;\n", source.MaxSource)},
		"long solidity":    {"solidity", strings.Repeat("a;\n", source.MaxSource)},
		"long toml":        {"toml", strings.Repeat("\n", maxTOML+1)},
		"long bash":        {"bash", strings.Repeat("a\n", shell.MaxSize)},
		"no parser":        {"java", "class A {}"},
		"sql":              {"sql", "SELECT 1;"},
		"unknown language": {"brainfuck", "+"},
		"no language":      {"", "x"},
	} {
		if problems, checked := Syntax(test.lang, test.src); checked {
			t.Errorf("%s: checked, with %v", name, problems)
		}
	}
}

// TestSyntaxWithinBounds holds that ordinary large sources are checked.
func TestSyntaxWithinBounds(t *testing.T) {
	for name, src := range map[string]string{
		"many arrows without semicolons": strings.Repeat("const f = x => y(x => z)\n", 2000),
		"many comparisons":               strings.Repeat("if (a < b && c <= d) e(f << 1);\n", 1500),
		"many elements":                  "const a = <p>" + strings.Repeat("<b className='x' id=\"y\">it is {z}</b>\n", 1000) + "</p>",
		"long list":                      "const a = [" + strings.Repeat("x => y, ", 5000) + "]",
		"long sum":                       "const a = 1" + strings.Repeat(" + 1", 5000),
		"generics":                       strings.Repeat("const m: Map<string, Array<Set<number>>> = new Map<string, X<Y>>()\n", 500),
	} {
		if problems, checked := Syntax("typescript", src); !checked {
			t.Errorf("%s: not checked", name)
		} else if len(problems) > 0 && !strings.Contains(problems[0].Message, "already been declared") {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
