package docserver_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/docserver"
)

// book makes pages of 4.4 kB as documentation has them: words of which few are
// common and most are rare, under headings, with code. The same ones each time.
type book struct {
	random *rand.Rand
	zipf   *rand.Zipf
	words  []string
}

func newBook() *book {
	b := &book{random: rand.New(rand.NewPCG(1, 2))}
	b.zipf = rand.NewZipf(b.random, 1.1, 8, 7999)
	for range 8000 {
		var w strings.Builder
		for range 1 + b.random.IntN(3) {
			w.WriteByte("bcdfghjklmnprstvw"[b.random.IntN(17)])
			w.WriteByte("aeiou"[b.random.IntN(5)])
			w.WriteByte("lmnrst"[b.random.IntN(6)])
		}
		b.words = append(b.words, w.String())
	}
	return b
}

func (b *book) sentence(words int) string {
	var out []string
	for range words {
		out = append(out, b.words[b.zipf.Uint64()])
	}
	return strings.Join(out, " ")
}

func (b *book) page(n int) []byte {
	var p strings.Builder
	fmt.Fprintf(&p, "---\ntitle: %s\nurl: https://example.org/%d\nproject: book\n---\n\n", b.sentence(4), n)
	for p.Len() < 4400 {
		fmt.Fprintf(&p, "## %s\n\n%s.\n\n%s.\n\n```go\nfunc %s() { %s() }\n```\n\n",
			b.sentence(3), b.sentence(60), b.sentence(40), b.sentence(1), strings.ReplaceAll(b.sentence(12), " ", "("))
	}
	return []byte(p.String()[:4400])
}

func (b *book) pages(n int) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := range n {
		fsys[fmt.Sprintf("%04d.md", i)] = &fstest.MapFile{Data: b.page(i)}
	}
	return fsys
}

// BenchmarkIndex1000Pages is the time to read and index 1,000 pages; it has to
// stay under 2 s. heap-MB is what the index keeps in memory, on top of SQLite's.
func BenchmarkIndex1000Pages(b *testing.B) {
	pages := newBook().pages(1000)
	var heap float64
	for b.Loop() {
		before := heapInUse()
		ix := load(b, pages)
		heap = float64(heapInUse()-before) / 1e6
		if err := ix.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(heap, "heap-MB")
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkQuery is the time of a question to 1,000 pages, as a client on this
// machine sees it; its median (p50-ms) has to stay under 15 ms.
func BenchmarkQuery(b *testing.B) {
	book := newBook()
	client := connect(b, serve(b, book.pages(1000), nil))
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		call(b, client, "crypto_ask_docs", map[string]any{"question": "how do I " + book.sentence(7) + "?", "project": "book"})
		times = append(times, time.Since(start))
	}
	reportMedian(b, times)
}

func reportMedian(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(times[len(times)*95/100])/1e6, "p95-ms")
}

// BenchmarkBuiltinReady is the time from nothing to a server that can answer
// from the built-in pages; it has to stay under 150 ms.
func BenchmarkBuiltinReady(b *testing.B) {
	for b.Loop() {
		s := docserver.New(load(b, builtin.Docs), options())
		_ = s.Handler()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// builtinQuestions are asked in the benchmarks of the built-in server.
var builtinQuestions = []struct{ project, question string }{
	{"mina", "How do I create recursive proofs in o1js using ZkProgram?"},
	{"solana", "What is the SPL Token program and how do I use it?"},
	{"cosmos", "How does the bank module work in Cosmos SDK?"},
	{"solana", "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1"},
	{"mina", "create a simple counter smart contract that increments a number"},
	{"cosmos", "delegate tokens to a validator using the staking module"},
}

// BenchmarkBuiltinAsk is the time of a question to the built-in pages when
// eight are asked at a time, as a run does, in plain HTTP.
func BenchmarkBuiltinAsk(b *testing.B) {
	url := serve(b, builtin.Docs, nil)
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			q := builtinQuestions[i%len(builtinQuestions)]
			body := fmt.Sprintf(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
				"name": "crypto_ask_docs", "arguments": {"question": %q, "project": %q}}}`, q.question, q.project)
			res, err := http.Post(url, "application/json", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			reply, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if !strings.Contains(string(reply), "Source 1") {
				b.Errorf("%s", reply)
				return
			}
		}
	})
}

// BenchmarkBuiltinCompute is the time that the answer itself takes of that.
func BenchmarkBuiltinCompute(b *testing.B) {
	o := options()
	o.Now = time.Now
	ix, _, err := docserver.Load(context.Background(), builtin.Docs)
	if err != nil {
		b.Fatal(err)
	}
	s := docserver.New(ix, o)
	defer s.Close()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			q := builtinQuestions[i%len(builtinQuestions)]
			if err := docserver.Ask(context.Background(), s, q.question, q.project); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
