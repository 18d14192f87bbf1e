package code

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/golang"
	"github.com/mettle-eval/mettle/internal/code/javascript"
	"github.com/mettle-eval/mettle/internal/code/python"
	"github.com/mettle-eval/mettle/internal/code/rust"
	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// maxMarkdownDepth bounds how deep Markdown shown inside a fenced block is read as Markdown again.
const maxMarkdownDepth = 3

// TextImports lists the imports of a Markdown text in order: those of each fenced block by its language, of blocks
// without a known language by all scanners, and outside of blocks only statements that cannot be prose: with a quoted
// module (JavaScript, Go, Solidity), a Rust path and its semicolon, Python's from … import … on a line of its own or in a
// code span. An answer that is bare code without any fence is read as code.
func TextImports(markdown string) []Import {
	return textImports(markdown, 0)
}

func textImports(markdown string, depth int) []Import {
	blocks := Blocks(markdown)
	if len(blocks) == 0 && looksLikeCode(markdown) {
		return anyImports(markdown)
	}
	var found []Import
	prose := proseScanner{text: markdown, places: source.NewPlaces(markdown)}
	for _, b := range blocks {
		found = append(found, prose.upTo(b.Start)...)
		prose.pos = b.End
		for _, i := range blockImports(b, depth) {
			i.Line, i.Col = b.Place(i.Line, i.Col)
			found = append(found, i)
		}
	}
	return append(found, prose.upTo(len(markdown))...)
}

func blockImports(b Block, depth int) []Import {
	if (b.Lang == "markdown" || b.Lang == "mdx") && depth < maxMarkdownDepth {
		return textImports(b.Text, depth+1)
	}
	return Imports(b.Lang, b.Text)
}

// looksLikeCode reports whether a text without fences is a program rather than an answer in words: at least two of three
// lines look like code.
func looksLikeCode(text string) bool {
	lines, code := 0, 0
	for text != "" {
		var l string
		l, text = source.CutLine(text)
		if l = strings.TrimSpace(l); l != "" {
			lines++
			if isCodeLine(l) {
				code++
			}
		}
	}
	return lines > 0 && 3*code >= 2*lines
}

// isCodeLine judges a single line by how it ends or begins. A lone "if" or "for" says nothing: sentences have them too.
func isCodeLine(l string) bool {
	if strings.IndexByte(";{}([", l[len(l)-1]) >= 0 {
		return true
	}
	if head, ok := strings.CutSuffix(l, ":"); ok && source.HasWord("if for while with elif except else try finally", firstWord(head)) {
		return true
	}
	for _, end := range [...]string{"},", "],", "),", "=>", "):", `",`, "',"} {
		if strings.HasSuffix(l, end) {
			return true
		}
	}
	for _, start := range [...]string{
		"//", "#[", "@", "import ", "package ", "const ", "let ", "var ", "def ", "class ",
		"fn ", "pub ", "func ", "export ", "return ", "async ", "await ",
	} {
		if strings.HasPrefix(l, start) {
			return true
		}
	}
	if strings.HasPrefix(l, "from ") && strings.Contains(l, " import ") {
		return true
	}
	for _, assign := range [...]string{" = ", " := "} {
		if left, _, ok := strings.Cut(l, assign); ok && strings.Count(left, " ") < 3 && !strings.Contains(left, "`") {
			return true
		}
	}
	called, _, _ := strings.Cut(l, "(")
	return strings.HasSuffix(l, ")") && called != "" && !strings.Contains(called, " ")
}

// proseScanner looks for import statements between words. Apostrophes and slashes mean nothing there, so the text is not
// cut into tokens as a whole: each keyword is tried on its own. All tries together stay linear, because in prose a token
// never runs past its line and no statement contains the keyword it starts with at a place where another could start.
type proseScanner struct {
	text   string
	pos    int
	places *source.Places
}

// upTo lists the statements from pos to end and moves there.
func (p *proseScanner) upTo(end int) []Import {
	var found []Import
	for p.pos < end {
		if !source.IsIdentPart(p.text[p.pos]) {
			p.pos++
			continue
		}
		start := p.pos
		for p.pos < end && source.IsIdentPart(p.text[p.pos]) {
			p.pos++
		}
		imports, next := p.statement(start, end)
		found = append(found, imports...)
		p.pos = max(p.pos, next)
	}
	p.pos = end
	return found
}

// statement tries to read a statement whose first word stands from start to pos.
func (p *proseScanner) statement(start, end int) (found []Import, next int) {
	if start > 0 && strings.IndexByte(".-@/#", p.text[start-1]) >= 0 {
		return nil, 0
	}
	var s *scan.Statements
	ok := false
	switch p.text[start:p.pos] {
	case "import":
		if s = p.at(start, end, "javascript", scan.Dialect{}); javascript.Import(s) {
			ok = true
		} else {
			s = p.at(start, end, "go", scan.Dialect{})
			ok = golang.Import(s)
		}
	case "export":
		s = p.at(start, end, "javascript", scan.Dialect{})
		ok = javascript.Export(s)
	case "require":
		s = p.at(start, end, "javascript", scan.Dialect{})
		ok = javascript.Require(s)
	case "use", "extern":
		s = p.at(start, end, "rust", scan.Dialect{})
		ok = rust.ProseUse(s, p.inSpan(start))
	case "from":
		if p.ownLine(start) || p.inSpan(start) {
			s = p.at(start, end, "python", scan.Dialect{HashComments: true})
			ok = python.From(s, func() bool { return python.StatementEnds(s) || s.StartsWith('`') })
		}
	}
	if !ok {
		return nil, 0
	}
	for i := range s.Found {
		s.Found[i].Line, s.Found[i].Col = p.places.At(start)
	}
	return s.Found, start + s.Prev.End
}

// at opens a statement reader on the text from start to end.
func (p *proseScanner) at(start, end int, lang string, d scan.Dialect) *scan.Statements {
	d.Prose = true
	return scan.NewStatements(p.text[start:end], lang, d)
}

// inSpan reports whether a code span begins right before start.
func (p *proseScanner) inSpan(start int) bool {
	return start > 0 && p.text[start-1] == '`'
}

// ownLine reports whether only white space, a quote marker or a prompt stands before start on its line.
func (p *proseScanner) ownLine(start int) bool {
	i := start
	for i > 0 && strings.IndexByte(" \t>", p.text[i-1]) >= 0 {
		i--
	}
	return i == 0 || p.text[i-1] == '\n' || p.text[i-1] == '\r'
}
