package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/text"

	"github.com/mettle-eval/mettle/internal/skill"
)

// median is a skill of the size and make of the median real one: about 6 kB with sections, code, a table and links.
func median() []byte {
	var b strings.Builder
	b.WriteString("---\nname: my-skill\ndescription: Extracts tables from PDF files. Use when the user asks for data in a PDF.\n---\n\n# My skill\n")
	for i := range 11 {
		fmt.Fprintf(&b, "\n## Section %d\n\n%s\n\n- see [the reference](https://example.com/%d)\n- run `scripts/run.py --n %d`\n\n", i,
			strings.Repeat("Read the whole file before you change it, and say what you did. ", 6), i, i)
		switch i % 4 {
		case 0:
			b.WriteString("```bash\nnpm install\nnpm test\n```\n")
		case 1:
			b.WriteString("```typescript\nimport { a } from \"b\";\n\nexport async function f(x: number): Promise<string> {\n  const y = await a(x);\n  return `${y}`;\n}\n```\n")
		case 2:
			b.WriteString("```python\nimport os\n\ndef f(x):\n    return os.path.join(\"a\", x)\n```\n")
		case 3:
			b.WriteString("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n")
		}
	}
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	data := median()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		skill.Parse("my-skill/SKILL.md", data)
	}
}

// BenchmarkLint is the work behind "files a second": from bytes to findings, one file like the median real one and the
// sample of real ones. Beside it stands what the CommonMark parser alone takes for the same bytes, measured in turn, so
// that the ratio holds on a busy machine too. Run it with -cpu 1 to get the numbers of one core.
func BenchmarkLint(b *testing.B) {
	for _, p := range Profiles() {
		b.Run("median/"+p.Name, func(b *testing.B) { benchmarkLint(b, p.Name, []string{"my-skill/SKILL.md"}, [][]byte{median()}) })
	}
	b.Run("sample/"+Strict, func(b *testing.B) {
		_, docs := sample(b)
		var paths []string
		var files [][]byte
		for _, d := range docs {
			paths, files = append(paths, d.Path), append(files, []byte(d.Text))
		}
		benchmarkLint(b, Strict, paths, files)
	})
}

func benchmarkLint(b *testing.B, profile string, paths []string, files [][]byte) {
	l, err := NewLinter(Options{Profile: profile})
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for _, f := range files {
		size += len(f)
	}
	commonMark := goldmark.DefaultParser()
	var ours, theirs time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for i, f := range files {
			l.File(skill.Parse(paths[i], f))
		}
		l.entries = nil
		ours += time.Since(start)
		b.StopTimer()
		start = time.Now()
		for _, f := range files {
			commonMark.Parse(text.NewReader(f))
		}
		theirs += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N*len(files))/ours.Seconds(), "files/s")
	b.ReportMetric(float64(b.N*size)/1e6/ours.Seconds(), "MB/s")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "x-commonmark")
}

// BenchmarkLintLarge shows that time grows with the size: the MB/s of both sizes are the same.
func BenchmarkLintLarge(b *testing.B) {
	for _, size := range []int{1 << 20, 5 << 20} {
		data := []byte(strings.Repeat(string(median()[120:]), size/len(median())))
		b.Run(fmt.Sprintf("%dMB", size>>20), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				lintEverything(b, data)
			}
		})
	}
}

// BenchmarkFirstFinding is what one file costs a fresh process beyond its start: looking for it, reading, parsing and
// checking it. The parsers and patterns made once are made in the first round only, so run it with -benchtime 1x.
func BenchmarkFirstFinding(b *testing.B) {
	folder := filepath.Join(b.TempDir(), "my-skill")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, skill.FileName), median(), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		files, err := skill.Find(folder)
		if err != nil {
			b.Fatal(err)
		}
		d, err := skill.Load(files[0])
		if err != nil {
			b.Fatal(err)
		}
		if found, err := Lint([]*skill.Document{d}, Options{Profile: Strict}); err != nil || len(found) == 0 {
			b.Fatal(found, err)
		}
	}
}

func BenchmarkScore(b *testing.B) {
	d := skill.Parse("x/SKILL.md", median())
	for _, compat := range []string{"", skill.CompatLangChain} {
		b.Run("compat="+compat, func(b *testing.B) {
			for b.Loop() {
				skill.Score(d, skill.ScoreOptions{Compat: compat})
			}
		})
	}
}
