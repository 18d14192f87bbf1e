package suite_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/suite"
)

// BenchmarkLoad reads a file of 10,000 cases with four checks each, as large
// as a file may be, and reports what the loaded suite keeps of it.
func BenchmarkLoad(b *testing.B) {
	data := manyCases(10_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var set *suite.Set
	for b.Loop() {
		var err error
		if set, err = suite.Load([]suite.File{{Path: "s.yaml", Data: data}}); err != nil {
			b.Fatal(err)
		}
	}
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	runtime.KeepAlive(set)
	runtime.GC()
	runtime.ReadMemStats(&without)
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/10_000, "kept-B/case")
}

// manyCases is a suite file of n cases.
func manyCases(n int) []byte {
	var b strings.Builder
	b.WriteString("name: bench\nproject: mina\nversion: \"1\"\ntests:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - id: bench-%06d
    name: What is o1js?
    tool: ask_docs
    difficulty: basic
    input: {question: "What is o1js, for the %dth time?"}
    expected:
      validations:
        - {type: min_length, chars: 100}
        - {type: contains, value: zero-knowledge}
        - {type: has_citation}
        - {type: matches_regex, pattern: "circuit|proof"}
`, i, i)
	}
	return []byte(b.String())
}
