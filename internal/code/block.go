package code

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Block is one fenced code block of a Markdown text.
type Block struct {
	Info  string // what follows the opening fence, as written
	Lang  string // canonical language of Info (see [Canonical]); empty when it names none
	Text  string // content: container prefix and fence indentation removed, each line ended by "\n"
	Fence string // the opening run of backticks or tildes

	Line, Col int  // place of the opening fence
	TextLine  int  // line of the first content line, whether there is one or not
	EndLine   int  // line of the closing fence, or the last line of the block when it is not closed
	Closed    bool // false when the text, or the list item or quote around the block, ended first

	Start, End int // byte range in the text from the opening fence to the end of the closing line, its line end left out

	shifts []int // how many columns each line of Text stands to the left of its place in the document; nil when none does
}

// Place turns a place inside the block's Text into the place in the document, so that a problem of the code can be shown
// where its reader sees it.
func (b Block) Place(line, col int) (docLine, docCol int) {
	docLine = b.TextLine + line - 1
	if line >= 1 && line <= len(b.shifts) {
		col += b.shifts[line-1]
	}
	return docLine, max(col, 1)
}

// Blocks finds the fenced code blocks of a Markdown text by the rules of CommonMark, also inside block quotes and list
// items. A block that is never closed runs to the end of what contains it.
//
// Two rules are softer than CommonMark's, because a reader of the answer sees code there: an HTML element does not hide
// the fences below it, and a comment hides them only when it is closed.
func Blocks(markdown string) []Block {
	if !strings.Contains(markdown, "```") && !strings.Contains(markdown, "~~~") {
		return nil // as most answers
	}
	return scanBlocks(markdown, nil)
}

// scanBlocks is [Blocks] with some lines that close no block though they look like it.
func scanBlocks(markdown string, content map[int]bool) []Block {
	if !strings.Contains(markdown, "```") && !strings.Contains(markdown, "~~~") {
		return nil // as in most answers
	}
	s := blockScanner{text: markdown, contentLines: content}
	rest := strings.TrimPrefix(markdown, source.ByteOrderMark)
	for rest != "" {
		s.number++
		s.offset = len(markdown) - len(rest)
		var text string
		text, rest = source.CutLine(rest)
		s.line(&line{text: text})
	}
	s.finishFence(false)
	return s.blocks
}

// blockScanner reads a document line by line. It knows just enough of CommonMark's block structure to say where a fence
// may open and which prefix its lines carry: containers, whether a paragraph is open, and comments.
type blockScanner struct {
	text       string
	number     int // current line, from 1
	offset     int // byte offset of the current line
	containers []container
	paragraph  bool // the last line can be continued by a line without the containers' prefixes
	commentEnd int  // the current HTML comment covers the text up to here
	noComments bool // no comment ends after this point; asking again would only cost time

	blocks       []Block
	fence        *fence       // the open block, nil when none is
	contentLines map[int]bool // lines that are content even if they look like a closing fence
}

// fence is a block whose closing line has not been seen yet.
type fence struct {
	Block
	indent  int // columns in front of the opening fence, taken off each content line
	content strings.Builder
	shifted bool
	lastEnd int // end of the last line that belongs to the block
}

// line takes one line of the document in.
func (s *blockScanner) line(l *line) {
	if s.offset < s.commentEnd {
		return
	}
	matched := s.matchContainers(l)
	if s.fence != nil {
		if matched == len(s.containers) {
			s.fenceLine(l)
			return
		}
		s.finishFence(false)
	}
	lazy := s.paragraph && matched < len(s.containers)
	opened := s.openContainers(l, matched)
	if lazy && opened == 0 && s.continuesParagraph(l) {
		return
	}
	if opened == 0 {
		s.closeContainers(matched)
	}
	s.leaf(l)
}

// leaf decides what the rest of a line is, once its containers are off.
func (s *blockScanner) leaf(l *line) {
	if l.blank() {
		s.paragraph = false
		return
	}
	if n := len(s.containers); n > 0 {
		s.containers[n-1].empty = false
	}
	if l.indent() >= 4 {
		return // continues the paragraph or is indented code; in neither case can a fence open
	}
	rest := l.rest()
	switch {
	case s.openFence(l):
		s.paragraph = false
	case strings.HasPrefix(rest, "<!--") && s.openComment(l):
		s.paragraph = false
	case isHeading(rest), l.isBreak(), s.paragraph && isUnderline(rest):
		s.paragraph = false
	default:
		s.paragraph = true
	}
}

// continuesParagraph reports whether a line without the prefixes of the open containers still belongs to the paragraph
// inside them: CommonMark's lazy continuation.
func (s *blockScanner) continuesParagraph(l *line) bool {
	if l.blank() {
		return false
	}
	if l.indent() >= 4 {
		return true
	}
	rest := l.rest()
	_, _, isFence := fenceRun(rest)
	return !isFence && !isHeading(rest) && !l.isBreak() && !strings.HasPrefix(rest, "<!--")
}

// openFence starts a block if the line is an opening fence.
func (s *blockScanner) openFence(l *line) bool {
	run, info, ok := fenceRun(l.rest())
	if !ok {
		return false
	}
	start := s.offset + l.next
	s.fence = &fence{
		Block: Block{
			Info:     info,
			Lang:     infoLanguage(info),
			Fence:    run,
			Line:     s.number,
			Col:      l.next + 1, // only ASCII can stand in front of a fence
			TextLine: s.number + 1,
			EndLine:  s.number,
			Start:    start,
		},
		indent:  l.indent(),
		lastEnd: s.offset + len(l.text),
	}
	return true
}

// fenceLine adds a line to the open block or closes it.
func (s *blockScanner) fenceLine(l *line) {
	f := s.fence
	f.EndLine = s.number
	f.lastEnd = s.offset + len(l.text)
	if l.indent() < 4 && closesFence(l.rest(), f.Fence) && !s.contentLines[s.number] {
		s.finishFence(true)
		return
	}
	l.skipColumns(f.indent)
	padding := l.padding()
	f.content.WriteString("    "[:padding])
	f.content.WriteString(l.text[l.pos+min(padding, 1):])
	f.content.WriteByte('\n')
	shift := l.pos
	if padding > 0 {
		shift += 1 - padding
	}
	f.shifts = append(f.shifts, shift)
	f.shifted = f.shifted || shift != 0
}

// finishFence ends the open block, if there is one.
func (s *blockScanner) finishFence(closed bool) {
	f := s.fence
	if f == nil {
		return
	}
	f.Closed = closed
	f.End = f.lastEnd
	f.Text = f.content.String()
	if !f.shifted {
		f.shifts = nil
	}
	s.blocks = append(s.blocks, f.Block)
	s.fence = nil
}

// openComment hides everything up to the end of an HTML comment. A comment that never ends hides nothing: one stray
// "<!--" must not make all code of an answer disappear.
func (s *blockScanner) openComment(l *line) bool {
	if s.noComments {
		return false
	}
	from := s.offset + l.next + len("<!--")
	end := strings.Index(s.text[from:], "-->")
	if end < 0 {
		s.noComments = true
		return false
	}
	s.commentEnd = from + end + len("-->")
	return true
}

// fenceRun splits an opening fence into its run of markers and its info string.
func fenceRun(rest string) (run, info string, ok bool) {
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return "", "", false
	}
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	if n < 3 {
		return "", "", false
	}
	run, info = rest[:n], strings.Trim(rest[n:], " \t")
	if rest[0] == '`' && strings.Contains(info, "`") {
		return "", "", false // a code span
	}
	return run, info, true
}

// closesFence reports whether a line ends a block that was opened with run.
func closesFence(rest, run string) bool {
	after := strings.TrimLeft(rest, run[:1])
	return len(rest)-len(after) >= len(run) && strings.Trim(after, " \t") == ""
}

// isHeading reports whether a line is an ATX heading: one to six # and then a space or nothing.
func isHeading(rest string) bool {
	after := strings.TrimLeft(rest, "#")
	n := len(rest) - len(after)
	return n >= 1 && n <= 6 && (after == "" || after[0] == ' ' || after[0] == '\t')
}

// isUnderline reports whether a line makes the paragraph above it a heading.
func isUnderline(rest string) bool {
	rest = strings.TrimRight(rest, " \t")
	return rest != "" && (strings.Trim(rest, "=") == "" || strings.Trim(rest, "-") == "")
}
