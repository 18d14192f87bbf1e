package code

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// seed adds the inputs of all archives of a folder under testdata.
func seed(f *testing.F, dir string, add func(archive, input string)) {
	f.Helper()
	paths, err := archivePaths(dir)
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if !strings.HasSuffix(file.Name, ".want") {
				add(archiveName(path), string(file.Data))
			}
		}
	}
}

func FuzzBlocks(f *testing.F) {
	seed(f, "blocks", func(_, input string) { f.Add(input) })
	f.Fuzz(func(t *testing.T, doc string) {
		end := 0
		for _, b := range Blocks(doc) {
			if b.Start < end || b.End < b.Start || b.End > len(doc) {
				t.Fatalf("range %d to %d overlaps or leaves the text", b.Start, b.End)
			}
			end = b.End
			if !strings.HasPrefix(doc[b.Start:], b.Fence) {
				t.Fatalf("%q does not start with the fence %q", doc[b.Start:], b.Fence)
			}
			if line, col := source.NewPlaces(doc).At(b.Start); line != b.Line || col != b.Col && b.Line > 1 {
				t.Fatalf("fence at %d:%d, reported at %d:%d", line, col, b.Line, b.Col)
			}
			lines := strings.Count(b.Text, "\n")
			if b.Closed {
				lines++
			}
			if b.EndLine-b.Line != lines {
				t.Fatalf("block of lines %d to %d has %d lines", b.Line, b.EndLine, lines)
			}
		}
	})
}

func FuzzImports(f *testing.F) {
	seed(f, "imports", func(archive, input string) { f.Add(archive, input) })
	f.Fuzz(func(t *testing.T, lang, src string) {
		checkImports(t, src, Imports(lang, src))
		for _, l := range languages {
			if l.imports != nil {
				checkImports(t, src, l.imports(src))
			}
		}
	})
}

func FuzzTextImports(f *testing.F) {
	seed(f, "text", func(_, input string) { f.Add(input) })
	f.Fuzz(func(t *testing.T, doc string) {
		last := 0
		for _, i := range TextImports(doc) {
			if i.Path == "" || i.Col < 1 || i.Line < last || find(i.Lang) == nil {
				t.Fatalf("odd import %+v after line %d", i, last)
			}
			last = i.Line
			i.Matches(doc)
		}
	})
}

// checkImports holds what is true of every list: it is in order, and each statement stands where it says.
func checkImports(t *testing.T, src string, imports []Import) {
	t.Helper()
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src), "\n")
	for n, i := range imports {
		if i.Path == "" || !strings.Contains(src, i.Text) {
			t.Fatalf("odd import %+v", i)
		}
		if n > 0 && i.Line < imports[n-1].Line {
			t.Fatalf("%+v comes after line %d", i, imports[n-1].Line)
		}
		if !i.Matches(i.Path) && strings.TrimSpace(i.Path) == i.Path && i.Lang != "rust" {
			t.Fatalf("%q does not match itself", i.Path)
		}
		if !utf8.ValidString(src) || strings.Contains(src, "diff") {
			continue
		}
		first, _ := source.CutLine(i.Text)
		if at := string([]rune(lines[i.Line-1])[i.Col-1:]); !strings.HasPrefix(at, first) {
			t.Fatalf("statement %q is not at %d:%d, there is %q", i.Text, i.Line, i.Col, at)
		}
	}
}

func FuzzSyntax(f *testing.F) {
	seed(f, "syntax", func(archive, input string) { f.Add(archive, input) })
	f.Fuzz(func(t *testing.T, lang, src string) {
		for _, name := range append(Languages(), lang) {
			problems, checked := Syntax(name, src)
			if !checked && len(problems) > 0 {
				t.Fatalf("%s was not checked and has problems %v", name, problems)
			}
			for _, p := range problems {
				if p.Line < 1 || p.Col < 1 || p.Message == "" || p.Checker == "" {
					t.Fatalf("odd problem %+v", p)
				}
			}
		}
	})
}

func FuzzCalls(f *testing.F) {
	seed(f, "calls", func(archive, input string) { f.Add(archive, input) })
	f.Fuzz(func(t *testing.T, lang, src string) {
		for _, name := range append(Languages(), lang) {
			line := 0
			for _, c := range Calls(name, src) {
				if c.Name == "" || c.Line < line || c.Col < 1 {
					t.Fatalf("%s: odd call %+v after line %d", name, c, line)
				}
				line = c.Line
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	seed(f, "answer", func(archive, input string) { f.Add(archive, strings.ReplaceAll(input, "¬", "```")) })
	f.Fuzz(func(t *testing.T, lang, text string) {
		a := ReadAnswer(text, lang)
		lines := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") + 1
		for _, b := range append(a.Blocks, a.Other...) {
			if b.Line < 1 || b.EndLine < b.Line || b.EndLine > lines {
				t.Fatalf("block of lines %d to %d in a text of %d", b.Line, b.EndLine, lines)
			}
			if line, col := b.Place(1, 1); line < b.Line || col < 1 {
				t.Fatalf("the code begins at %d:%d, the block in line %d", line, col, b.Line)
			}
		}
		if a.Foreign() != "" && len(a.Blocks) > 0 {
			t.Fatal("foreign, but there is code")
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, p := range []string{".invoke(", "call:a.b", "re:a+b", "text:x", `"gpt-4"`, "// x", "`${a}`", "f'{x}'"} {
		f.Add(p, "typescript", "a.b(c) // x\n'gpt-4' `${a}`")
		f.Add(p, "python", "a.b(c) # x\n'gpt-4' f'{x}'")
	}
	f.Fuzz(func(t *testing.T, pattern, lang, src string) {
		p, err := ParsePattern(pattern)
		if err != nil || strings.HasPrefix(pattern, "re:") && len(pattern) > 20 {
			return
		}
		for _, o := range []FindOptions{{}, {Everywhere: true}} {
			matches, err := p.Find(lang, src, o)
			for _, m := range matches {
				if m.Line < 1 || m.Col < 1 || err != nil {
					t.Fatalf("odd match %+v, %v", m, err)
				}
			}
		}
	})
}

// FuzzData runs the parsers of data formats without the net that [Syntax] puts under them.
func FuzzData(f *testing.F) {
	seed(f, "syntax", func(_, input string) { f.Add(input) })
	f.Fuzz(func(t *testing.T, src string) {
		for _, lang := range []string{"json", "jsonc", "toml", "yaml"} {
			problems, checked := find(lang).syntax(src)
			for _, p := range problems {
				if !checked || p.Line < 1 || p.Col < 1 || p.Message == "" {
					t.Fatalf("%s: odd problem %+v", lang, p)
				}
			}
		}
	})
}
