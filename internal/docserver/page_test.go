package docserver

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/code"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestPages cuts each page of testdata/page and compares the chunks with the
// file want.
func TestPages(t *testing.T) {
	eachArchive(t, "testdata/page/*.txtar", func(_ *testing.T, name string, files []txtar.File) string {
		var b strings.Builder
		for _, f := range files {
			if filepath.Base(f.Name) == "crlf.md" {
				f.Data = []byte("\uFEFF" + strings.ReplaceAll(string(f.Data), "\n", "\r\n"))
			}
			chunks, err := parsePage(f.Name, f.Data)
			if err != nil {
				fmt.Fprintf(&b, "error: %v\n", err)
			}
			for _, c := range chunks {
				b.WriteString(chunkText(&c))
			}
		}
		return b.String()
	})
}

// eachArchive runs a test for each archive: what it gives for the files before
// "want" has to be what is in that one.
func eachArchive(t *testing.T, glob string, run func(t *testing.T, name string, files []txtar.File) string) {
	t.Helper()
	archives, err := filepath.Glob(glob)
	if err != nil || len(archives) == 0 {
		t.Fatalf("%s: %d files, %v", glob, len(archives), err)
	}
	for _, file := range archives {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			last := len(a.Files) - 1
			if last < 1 || a.Files[last].Name != "want" {
				t.Fatalf("the last file of %s has to be want", file)
			}
			got := run(t, name, a.Files[:last])
			if *update {
				a.Files[last].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[last].Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func chunkText(c *chunk) string {
	trouble := ""
	if c.Trouble {
		trouble = ", trouble"
	}
	return fmt.Sprintf("[%s: %s] %s (%s%s)\nabove: %q\n%s\n\n", c.Project, c.Name(), c.URL, c.Type, trouble, c.Above, indent(c.Text))
}

// indent keeps a text apart from what is around it.
func indent(text string) string { return "  | " + strings.ReplaceAll(text, "\n", "\n  | ") }

func TestPageIsNoText(t *testing.T) {
	for name, b := range map[string]string{
		"png": "\x89PNG\r\n\x1a\n\x00\x00", "latin-1": "caf\xe9", "utf-16": "\xff\xfe#\x00 \x00a\x00", "nul": "a\x00b",
	} {
		if chunks, err := parsePage(name+".md", []byte(b)); err == nil {
			t.Errorf("%s: %d chunks and no error", name, len(chunks))
		}
	}
}

func TestLongTexts(t *testing.T) {
	program := "```go\n" + strings.Repeat("line()\n\n", 2000) + "```"
	words := strings.Repeat("word ", 20_000)
	for name, tc := range map[string]struct {
		text        string
		longest     int
		fewest, all int // chunks
	}{
		"long code is kept whole":        {"Intro.\n\n" + program + "\n\nAfter." + strings.Repeat(" More.", 60), len(program) + 20, 2, 2},
		"a small rest stays":             {"Intro.\n\n" + program + "\n\nAfter.", len(program) + 20, 1, 1},
		"one line is cut at blanks":      {words, longParagraph, 20, 22},
		"one word is cut anywhere":       {strings.Repeat("é", 20_000), longParagraph, 8, 10},
		"lines without blanks":           {strings.Repeat("- an item of a list\n", 2000), longParagraph, 8, 18},
		"paragraphs":                     {strings.Repeat("A paragraph of some length. Another sentence.\n\n", 500), chunkSize + 100, 9, 10},
		"code, then a line, then code":   {program + "\n\n" + words[:4000] + "\n\n" + program, len(program) + 4100, 2, 3},
		"nothing but blank lines":        {strings.Repeat("\n", 5000), 0, 0, 0},
		"a table is cut between rows":    {strings.Repeat("| a cell | another cell |\n", 1000), longParagraph, 5, 11},
		"fences that open and not close": {strings.Repeat("text\n\n```go\n", 1000), 12_100, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			chunks, err := parsePage("a/x.md", []byte("# T\n\n"+tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if len(chunks) < tc.fewest || len(chunks) > tc.all {
				t.Errorf("%d chunks, want %d to %d", len(chunks), tc.fewest, tc.all)
			}
			for i, c := range chunks {
				if len(c.Text) > tc.longest {
					t.Errorf("chunk %d has %d bytes, want %d at most", i, len(c.Text), tc.longest)
				}
				checkChunk(t, &c)
			}
		})
	}
}

// checkChunk holds a chunk against what every chunk promises.
func checkChunk(t *testing.T, c *chunk) {
	t.Helper()
	if !utf8.ValidString(c.Text) || strings.TrimSpace(c.Text) == "" {
		t.Errorf("text %.40q", c.Text)
	}
	for _, s := range []string{c.Title, c.Section, c.Above, c.URL, c.Project} {
		if strings.ContainsAny(s, "\n\r") {
			t.Errorf("a name with a line break: %q", s)
		}
	}
	if c.Project == "" {
		t.Errorf("no project: %+v", c)
	}
	// Text that follows is never inside of a block of the passage.
	const after = "\n\nEND"
	for _, b := range code.Blocks(c.Text + after) {
		if strings.Contains(b.Text, "END") && b.End == len(c.Text+after) {
			t.Errorf("a code block stays open: %.80q", c.Text)
		}
	}
}

// FuzzParsePage looks for pages that panic, hang or give chunks that break
// what is promised about them.
func FuzzParsePage(f *testing.F) {
	archives, _ := filepath.Glob("testdata/page/*.txtar")
	for _, file := range archives {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("a/x.md", string(a.Files[0].Data))
		f.Add("x.mdx", string(a.Files[0].Data))
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		chunks, err := parsePage(name, []byte(text))
		if err != nil {
			return
		}
		for _, c := range chunks {
			checkChunk(t, &c)
			for w := range tokens(c.Text) {
				wordOf(w)
			}
		}
	})
}

// TestPagesInLinearTime parses pages made to be slow. Each takes milliseconds;
// if one took time that grows faster than its length, the test would not end.
func TestPagesInLinearTime(t *testing.T) {
	for name, unit := range map[string]string{
		"comments": "<!--\n", "headings": "#\n", "brackets": "# [[[[\n", "links": "# [a](", "fences": "```\n", "underlines": "a\n-\n",
		"quotes": "> ", "tags": "<a>\n", "dashes": "---\n", "import": "import \n", "words": "y", "names": "aB", "carriage": "\r",
		"mdx comments": "{/*\n", "lists": "- ", "emphasis": "# *`\\\n", "apostrophes": "a'", "front": "---\na: b\n", "ids": "# {#a\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(unit, (1<<18)/len(unit))
			chunks, _ := parsePage("x.mdx", []byte(text))
			for _, c := range chunks {
				prose, source := c.split()
				for w := range tokens(prose + " " + source) {
					wordOf(w)
				}
			}
		})
	}
}
