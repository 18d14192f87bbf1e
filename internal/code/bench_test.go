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
