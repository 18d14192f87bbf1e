package skill

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/mettle-eval/mettle/internal/code"
)

// Section is a heading and everything up to the next heading of its level or above.
type Section struct {
	Title     string
	Level     int // 1 to 6; 0 for the root, which holds what comes before the first heading
	Line, Col int
	EndLine   int
	Own       int // words of prose between the heading and the next one of any level; code is not counted
	Total     int // words of prose in the section and below it
	Children  []*Section
	Parent    *Section

	Start, End           int // byte range in the file, heading and sub-sections included
	contentStart, ownEnd int
	filled               bool // has content of its own: words, code, a table, a rule …
}

// Empty reports whether the section has no content, neither of its own nor below it.
func (s *Section) Empty() bool {
	if s.filled {
		return false
	}
	for _, c := range s.Children {
		if !c.Empty() {
			return false
		}
	}
	return true
}

// All lists the section and those below it in the order of the file.
func (s *Section) All() []*Section {
	list := []*Section{s}
	for _, c := range s.Children {
		list = append(list, c.All()...)
	}
	return list
}

// markdown is the CommonMark parser. Emphasis is left out: nothing here asks for it, and it is the costliest part of the
// inline grammar. So are the extensions, whose patterns alone would take a millisecond of every start; tables are read
// by [paragraphs].
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(paragraphs{}, 200),
		),
	)
})

// readBody fills in everything that stands below the frontmatter.
func (d *Document) readBody() {
	blocks := code.Blocks(d.Body())
	source := d.tame(blocks)
	context := parser.NewContext()
	root := markdown().Parse(text.NewReader(source), parser.WithContext(context))
	d.readSections(root, source)
	d.readBlocks(blocks)
	d.measure(source)
	d.readTables(context)
	d.readInlines(root, source)
}

// readBlocks moves the blocks from places in the body to places in the file.
func (d *Document) readBlocks(blocks []code.Block) {
	shift := d.BodyLine() - 1
	cursor := d.sectionCursor()
	for _, b := range blocks {
		b.Line, b.TextLine, b.EndLine = b.Line+shift, b.TextLine+shift, b.EndLine+shift
		b.Start, b.End = b.Start+d.BodyStart, b.End+d.BodyStart
		s := cursor(b.Start)
		s.filled = true
		d.Blocks = append(d.Blocks, Block{Block: b, Section: s})
	}
}

// sectionCursor returns a function that finds the section of an offset. Offsets that grow from call to call are found
// without looking at a section twice.
func (d *Document) sectionCursor() func(offset int) *Section {
	all, i := d.Root.All(), 0
	return func(offset int) *Section {
		if offset < all[i].Start {
			i = 0
		}
		for i+1 < len(all) && all[i+1].Start <= offset {
			i++
		}
		return all[i]
	}
}

// readSections builds the tree of sections from the headings that stand at the top level of the text. A heading in a
// quote or a list item divides only that.
func (d *Document) readSections(root ast.Node, source []byte) {
	d.Root = &Section{Line: d.BodyLine(), Col: 1, Start: d.BodyStart, contentStart: d.BodyStart, End: d.BodyEnd}
	last, open := d.Root, d.Root
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Pos() < 0 {
			continue
		}
		s := d.section(h, source)
		last.ownEnd = s.Start
		for open.Level >= s.Level {
			d.closeSection(open, s.Start)
			open = open.Parent
		}
		s.Parent = open
		open.Children = append(open.Children, s)
		last, open = s, s
	}
	last.ownEnd = d.BodyEnd
	for ; open != nil; open = open.Parent {
		d.closeSection(open, d.BodyEnd)
	}
}

func (d *Document) closeSection(s *Section, end int) {
	s.End = end
	s.EndLine = max(d.LineAt(max(end-1, s.Start)), s.Line)
}

func (d *Document) section(h *ast.Heading, source []byte) *Section {
	start := h.Pos()
	line := d.LineAt(d.BodyStart + start)
	last := line
	if n := h.Lines().Len(); n > 0 && !isATX(source[start:]) {
		last = d.LineAt(d.BodyStart+h.Lines().At(n-1).Start) + 1 // the underline
	}
	s := &Section{Title: headingText(h, source), Level: h.Level, Start: d.BodyStart + start, contentStart: d.BodyEnd}
	s.Line, s.Col = d.Place(s.Start)
	if last < d.Lines() {
		s.contentStart = min(d.starts[last], d.BodyEnd)
	}
	return s
}

// isATX reports whether a heading is written with # signs.
func isATX(s []byte) bool {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	return n >= 1 && n <= 6 && (n == len(s) || s[n] == ' ' || s[n] == '\t' || s[n] == '\n' || s[n] == '\r')
}

func headingText(h *ast.Heading, source []byte) string {
	title := plainText(h, source)
	if strings.ContainsAny(title, "*_") {
		title = strings.NewReplacer("**", "", "__", "").Replace(title)
		title = strings.Trim(title, "*")
	}
	return strings.TrimSpace(title)
}

// plainText joins the text below a node, markup left out.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// measure counts the words of each section. Source has its code blocks and comments blanked out, so what is left is prose.
func (d *Document) measure(source []byte) {
	all := d.Root.All()
	for _, s := range all {
		from, to := s.contentStart-d.BodyStart, s.ownEnd-d.BodyStart
		if from >= to {
			continue
		}
		own := source[from:to]
		s.Own = countWords(own)
		s.filled = s.filled || len(bytes.TrimSpace(own)) > 0
	}
	for i := len(all) - 1; i >= 0; i-- { // children come after their parents
		s := all[i]
		s.Total += s.Own
		if s.Parent != nil {
			s.Parent.Total += s.Total
		}
	}
}

// wordByte is 1 for letters and digits and 2 for white space.
var wordByte = func() (t [utf8.RuneSelf]uint8) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case isAlnum(c):
			t[c] = 1
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = 2
		}
	}
	return t
}()

// countWords counts the runs between white space that hold a letter or a digit. Scripts that do not put spaces between
// words (Chinese, Japanese) count each character as half a word, which is about what their translations have.
func countWords(b []byte) int {
	words, ideographs := 0, 0
	in := uint8(0) // 1 inside of a word; kept as a number because a branch per byte costs most of the time
	for i := 0; i < len(b); {
		if c := b[i]; c < utf8.RuneSelf {
			now := (in | wordByte[c]&1) &^ (wordByte[c] >> 1)
			words += int(now &^ in)
			in = now
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		i += size
		switch {
		case unicode.IsSpace(r):
			in = 0
		case r >= 0x3040 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x3ffff:
			ideographs++
			in = 0
		case in == 0 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			words++
			in = 1
		}
	}
	return words + ideographs/2
}
