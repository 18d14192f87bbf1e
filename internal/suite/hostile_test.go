package suite

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/kind"
)

// What is not a suite, or is meant to do harm, is refused with a message, soon
// and in little memory.
func TestHostileFiles(t *testing.T) {
	laughs := "name: laughs\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	one := "name: one\ntests:\n"
	many := one + strings.Repeat("  - {}\n", 10_000)
	wide := one + "  - {id: a, tool: t, input: {}, expected: {expectedKeywords: [x]}, tags: [" + strings.Repeat("1, ", 10_000) + "]}\n"
	var list strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&list, "w%d,", i)
	}
	words := list.String()
	var copied, shared strings.Builder
	copied.WriteString("name: copied\ndefaults: {tool: t, input: {a: " + strings.Repeat("x", 1<<20) + "}}\ntests:\n")
	for i := range 1000 {
		fmt.Fprintf(&copied, "  - {id: a%d, expected: {expectedKeywords: [x]}}\n", i)
	}
	shared.WriteString(one + "  - {id: a, tool: t, input: &in {a: " + strings.Repeat("x", 1<<20) + "}, expected: {expectedKeywords: [x]}}\n")
	for i := range 100 {
		fmt.Fprintf(&shared, "  - {id: b%d, tool: t, input: *in, expected: {expectedKeywords: [x]}}\n", i)
	}
	for _, c := range []struct{ name, in, want string }{
		{"binary", "\x7fELF\x02\x01\x01\x00\x00", "f.yaml: the file is not text"},
		{"image", "\x89PNG\r\n\x1a\n", "f.yaml:1:1: the byte 0x89 is not UTF-8"},
		{"5 MB", strings.Repeat("# comment\n", 500_000), "f.yaml: the file is 5000000 bytes, more than the 4 MiB allowed"},
		{"billion laughs", laughs, "f.yaml:8:25: the file's aliases expand to more than 4194304 values"},
		{"a large input shared by many", shared.String(), "f.yaml:18:5: the file's aliases expand to more than 16 MiB"},
		{"a large default copied by many", copied.String(), "f.yaml:2:28: the input is 1048582 bytes, which 1000 tests would each hold a copy of: more than the 64 MiB allowed"},
		{"deep", one + "  - {id: a, tool: t, expected: {expectedKeywords: [x]}, input: {a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}}", "f.yaml:3:4966: lists and mappings are nested more than 100 deep"},
		{"many problems", many, "f.yaml:3:5: the test has no id"},
		{"many problems in a line", wide, `f.yaml:3:75: the tag is the number 1, want a string: write "1"`},
		{"many rules", one + "  - {id: a, tool: t, input: {}, expected: {validations: [" + strings.Repeat("{type: has_citation}, ", 20_000) + "]}}", "f.yaml:3:57: validations is 20000 entries long, want 1000 or less"},
		{"many keywords", one + "  - {id: a, tool: t, input: {}, expected: {forbiddenKeywords: [" + words + "], expectedKeywords: [" + words + "]}}", "f.yaml:3:63: forbiddenKeywords is 20000 entries long, want 1000 or less"},
		{"many tags", one + "  - {id: a, tool: t, input: {}, expected: {expectedKeywords: [x]}, tags: [" + words + "]}", "f.yaml:3:74: tags is 20000 entries long, want 1000 or less"},
		{"nothing but brackets", strings.Repeat("[", 1<<20), "f.yaml:1:1: not valid YAML: exceeded max depth of 10000"},
		{"nothing but line ends", strings.Repeat("\n", 1<<20), "f.yaml: the file is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load([]File{{Path: "f.yaml", Data: []byte(c.in)}})
			var problems kind.Problems
			ok := errors.As(err, &problems)
			if !ok {
				t.Fatalf("got %v", err)
			}
			first := problems[0]
			if first.Line == 0 && len(problems) > 1 {
				first = problems[1] // that there are more stands first
			}
			if got := first.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if n := len(err.Error()); n > 1<<20 {
				t.Errorf("the message is %d bytes long", n)
			}
		})
	}
}

// A loaded suite must not hold on to the YAML it came from.
func TestLoadedSuiteIsLean(t *testing.T) {
	const cases = 2000
	file := bench(cases)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	set, err := Load([]File{file})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	perCase := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / cases
	t.Logf("%d bytes a case", perCase)
	const most = 800
	if perCase > most {
		t.Errorf("%d bytes a case, want %d or less", perCase, most)
	}
	runtime.KeepAlive(set)
	runtime.KeepAlive(file)
}

// bench is a suite file of n cases with four rules each.
func bench(n int) File {
	var b strings.Builder
	b.WriteString("name: bench\nproject: mina\ntests:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - id: case-%d
    name: What is number %d?
    tool: ask_docs
    difficulty: basic
    input: {question: "What is number %d and what is it used for?"}
    expected:
      validations:
        - {type: min_length, chars: 200}
        - {type: has_citation}
      expectedKeywords: [number]
      forbiddenKeywords: [solana]
    tags: [a, b]
`, i, i, i)
	}
	return File{Path: "bench.yaml", Data: []byte(b.String())}
}

func BenchmarkLoad(b *testing.B) {
	file := bench(1000)
	b.ReportAllocs()
	b.SetBytes(int64(len(file.Data)))
	for b.Loop() {
		if _, err := Load([]File{file}); err != nil {
			b.Fatal(err)
		}
	}
}
