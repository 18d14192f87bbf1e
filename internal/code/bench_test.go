package code

import (
	"strings"
	"testing"
)

const sampleAnswer = "To make a counter, derive from `SmartContract` and don't forget the decorators:\n\n" +
	"1. Install it:\n\n   ```bash\n   npm install o1js\n   ```\n\n2. Write it:\n\n```ts\n" +
	"import { Field, SmartContract, State, method, state } from 'o1js';\n\n" + sampleClass + "```\n\n" +
	"> Rust instead: `use anchor_lang::prelude::*;`\n\n```rust\nuse anchor_lang::{prelude::*, Key};\n```\n\n"

const sampleClass = `export class Counter extends SmartContract {
  @state(Field) num = State<Field>();

  @method async increment(by: Field) {
    const current = this.num.getAndRequireEquals();
    this.num.set(current.add(by)); // it's stored on chain
  }
}

`

func large(unit string) string { return strings.Repeat(unit, 5<<20/len(unit)) }

func BenchmarkBlocks(b *testing.B) {
	doc := large(sampleAnswer)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		Blocks(doc)
	}
}

func BenchmarkImports(b *testing.B) {
	for lang, unit := range map[string]string{
		"typescript": "import { Field } from 'o1js';\n" + sampleClass,
		"rust":       "use anchor_lang::{prelude::*, Key};\nfn main() { println!(\"it's {}\", 'x'); }\n",
		"go":         "import (\n\t\"fmt\"\n\t_ \"embed\"\n)\nfunc main() { fmt.Println(`x`, 'y') }\n",
		"python":     "from a.b import (c, d)\ndef f(x):\n    \"\"\"Doc.\"\"\"\n    return x + 'y'\n",
		"":           "import { Field } from 'o1js';\n" + sampleClass,
	} {
		name := lang
		if name == "" {
			name = "unknown"
		}
		b.Run(name, func(b *testing.B) {
			src := large(unit)
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Imports(lang, src)
			}
		})
	}
}

func BenchmarkTextImports(b *testing.B) {
	doc := large(sampleAnswer)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		TextImports(doc)
	}
}

// BenchmarkSyntaxTypeScript checks a block of about 60 lines, the size of a long example in an answer.
func BenchmarkSyntaxTypeScript(b *testing.B) {
	src := "import { Field, SmartContract, State, method, state } from 'o1js';\n\n"
	for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
		src += strings.Replace(sampleClass, "Counter", "Counter"+name, 1)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if problems, checked := Syntax("typescript", src); !checked || len(problems) > 0 {
			b.Fatal(problems, checked)
		}
	}
}

func BenchmarkSyntaxGo(b *testing.B) {
	src := strings.Repeat("x := foo(a, b)\nif x > 0 {\n\treturn x\n}\n", 15)
	for b.Loop() {
		Syntax("go", src)
	}
}

// BenchmarkSyntax checks a block of about 60 lines of each language that has a parser here.
func BenchmarkSyntax(b *testing.B) {
	for lang, unit := range map[string]string{
		"python":   "def f(a: int, b=1):\n    \"\"\"Doc.\"\"\"\n    x = [g(i, k=2) for i in range(a) if i > b]\n    if x:\n        return f\"{x[0]!r} of {len(x)}\"\n\n",
		"rust":     "fn f<T: Clone>(a: &T, b: u8) -> Result<Vec<T>, Error> {\n    let x = (0..b).map(|i| a.clone()).collect::<Vec<_>>();\n    if x.is_empty() {\n        return Err(Error::Empty { b });\n    }\n    Ok(x)\n}\n",
		"solidity": "contract C is B {\n    mapping(address => uint256) public m;\n    function f(uint256 a) external returns (uint256) {\n        require(a > 0, \"zero\");\n        m[msg.sender] += a;\n        return m[msg.sender];\n    }\n}\n",
		"toml":     "[[a.b]]\nname = \"x\"\nlist = [1, 2.5, \"y\"]\ntable = { c = true, d = 1979-05-27 }\n\n",
		"bash":     "for f in *.txt; do\n  if [[ -f \"$f\" ]]; then\n    echo \"${f%.txt}\" | tee -a out\n  fi\ndone\n",
	} {
		b.Run(lang, func(b *testing.B) {
			src := strings.Repeat(unit, max(60/strings.Count(unit, "\n"), 1))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if problems, checked := Syntax(lang, src); !checked || len(problems) > 0 {
					b.Fatal(problems, checked)
				}
			}
		})
	}
}

func BenchmarkCalls(b *testing.B) {
	src := "import { Field } from 'o1js';\n" + strings.Repeat(sampleClass, 6)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Calls("typescript", src)
	}
}
