package docserver

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code"
)

// section is what stands under one heading of a page.
type section struct {
	heading  string // plain text, "" before the first heading
	level    int    // 1 to 6, 0 before the first heading
	above    string // the headings it is below, outermost first
	fragment string // #heading, "" for the page's own
	text     string
}

// codeLines walks along the lines of a text and tells which belong to code.
type codeLines struct {
	blocks []code.Block
	next   int
}

func newCodeLines(text string) *codeLines { return &codeLines{blocks: code.Blocks(text)} }

// has tells whether a line, counted from 1, is code. Lines are asked about in
// order, so that a page is read in linear time.
func (c *codeLines) has(line int) bool {
	for c.next < len(c.blocks) && c.blocks[c.next].EndLine < line {
		c.next++
	}
	return c.next < len(c.blocks) && c.blocks[c.next].Line <= line
}

// cutSections cuts a page at its headings; a # inside a code block is none. The
// title is its first heading of level 1, else its first heading.
func cutSections(body string) (sections []section, title string) {
	p := sectioner{anchors: map[string]int{}}
	lines := strings.SplitAfter(body, "\n")
	inCode := newCodeLines(body)
	for i, line := range lines {
		if inCode.has(i + 1) {
			p.write(line)
			p.paragraph = false
			continue
		}
		p.line(line)
	}
	p.flush()
	return p.sections, p.title
}

// sectioner collects the lines of one section after the other.
type sectioner struct {
	sections  []section
	title     string
	titled    bool // the title is of level 1
	current   section
	open      []section // headings that the current section is below, with its own
	anchors   map[string]int
	text      strings.Builder
	lastLine  int  // where in text the last line starts
	paragraph bool // the last line is a paragraph of one line, which an underline makes a heading
}

func (p *sectioner) write(line string) {
	p.lastLine = p.text.Len()
	p.text.WriteString(line)
}

func (p *sectioner) line(line string) {
	if level, title, ok := atxHeading(line); ok {
		p.start(level, title)
		return
	}
	if level := underline(line); level > 0 && p.paragraph {
		text := p.text.String()
		title := strings.TrimSpace(text[p.lastLine:])
		p.text.Reset()
		p.text.WriteString(text[:p.lastLine])
		p.start(level, title)
		return
	}
	trimmed := strings.TrimSpace(line)
	p.paragraph = trimmed != "" && p.afterBlank() && mayBeTitle(line, trimmed)
	p.write(line)
}

// afterBlank tells whether the next line starts a paragraph.
func (p *sectioner) afterBlank() bool {
	text := p.text.String()
	return strings.TrimSpace(text[min(p.lastLine, len(text)):]) == ""
}

// start ends the current section and begins the next.
func (p *sectioner) start(level int, title string) {
	p.flush()
	for len(p.open) > 0 && p.open[len(p.open)-1].level >= level {
		p.open = p.open[:len(p.open)-1]
	}
	title, id := plainHeading(title)
	if p.title == "" || level == 1 && !p.titled {
		p.title, p.titled = title, level == 1
	}
	s := section{heading: title, level: level, fragment: p.fragment(level, title, id)}
	var above []string
	for _, o := range p.open {
		if o.level > 1 { // that of level 1 is the page's title
			above = append(above, o.heading)
		}
	}
	s.above = strings.Join(above, " - ")
	p.open = append(p.open, s)
	p.current, p.paragraph = s, false
}

func (p *sectioner) flush() {
	p.current.text = trimBlankLines(p.text.String())
	if p.current.text != "" {
		p.sections = append(p.sections, p.current)
	}
	p.text.Reset()
	p.lastLine = 0
}

// fragment is what documentation sites call a heading in addresses: its words
// with dashes, a number behind one that was there before.
func (p *sectioner) fragment(level int, title, id string) string {
	if id == "" {
		id = anchor(title)
		n := p.anchors[id]
		if p.anchors[id]++; n > 0 {
			id += "-" + strconv.Itoa(n)
		}
	}
	if level == 1 || id == "" {
		return ""
	}
	return "#" + id
}

func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			b.WriteRune(r)
		case r == ' ' || r == '-':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// atxHeading reads a heading that starts with number signs.
func atxHeading(line string) (level int, title string, ok bool) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return 0, "", false
	}
	title = strings.TrimLeft(rest, "#")
	level = len(rest) - len(title)
	if level == 0 || level > 6 || (title != "" && !strings.ContainsRune(" \t\n", rune(title[0]))) {
		return 0, "", false
	}
	title = strings.TrimSpace(title)
	if cut := strings.TrimRight(title, "#"); cut == "" || strings.HasSuffix(cut, " ") || strings.HasSuffix(cut, "\t") {
		title = strings.TrimSpace(cut)
	}
	return level, title, true
}

// underline reads the line that makes a heading of the one above it.
func underline(line string) (level int) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return 0
	}
	switch rest = strings.TrimSpace(rest); {
	case rest == "":
		return 0
	case strings.Trim(rest, "=") == "":
		return 1
	case strings.Trim(rest, "-") == "":
		return 2
	}
	return 0
}

// mayBeTitle tells whether a line is one of plain text: an item of a list, a
// quote, a row of a table or a tag is not made a heading by dashes below it.
func mayBeTitle(line, trimmed string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.Contains(trimmed, "|") {
		return false
	}
	switch trimmed[0] {
	case '>', '<', ':':
		return false
	case '-', '*', '+':
		return len(trimmed) > 1 && trimmed[1] != ' ' && strings.Trim(trimmed, "-* ") != ""
	}
	return true
}

// plainHeading takes the markup out of a heading, and the id that some sites
// let its author give: "Title {#id}".
func plainHeading(title string) (plain, id string) {
	if head, rest, ok := strings.Cut(title, "{#"); ok && strings.HasSuffix(rest, "}") && !strings.ContainsAny(rest, " `") {
		title, id = head, strings.TrimSuffix(rest, "}")
	}
	var b strings.Builder
	for i := 0; i < len(title); {
		n := 1
		switch c := title[i]; {
		case c == '`' || c == '*':
		case c == '\\' && i+1 < len(title) && strings.IndexByte("\\`*_{}[]<>()#+-.!|", title[i+1]) >= 0:
			b.WriteByte(title[i+1])
			n = 2
		case c == '[' || c == '!' && strings.HasPrefix(title[i+1:], "["):
			n = writeLink(&b, title[i:])
		default:
			b.WriteByte(c)
		}
		i += n
	}
	return oneLine(b.String()), id
}

// writeLink writes the text of the link that s starts with, or else its first
// byte, and tells how much of s that was.
func writeLink(b *strings.Builder, s string) int {
	const longest = 500 // more is no link in a heading
	image := strings.HasPrefix(s, "!")
	text := strings.TrimPrefix(s[:min(len(s), longest)], "!")
	middle := strings.Index(text, "](")
	if end := strings.IndexByte(text, ')'); middle > 0 && end > middle {
		b.WriteString(strings.Trim(text[1:middle], "`*"))
		if image {
			end++
		}
		return end + 1
	}
	b.WriteByte(s[0])
	return 1
}

// trimBlankLines takes empty lines off both ends, and keeps the indentation of
// the first line with something on it.
func trimBlankLines(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}

// Sizes of chunks, in bytes. A section over chunkSize is cut at the next
// paragraph: short enough to answer with, long enough to stand alone. A
// paragraph over longParagraph is cut inside. A rest under smallRest stays with
// what is before it.
const (
	chunkSize     = 2400
	longParagraph = 2 * chunkSize
	smallRest     = 200
)

// cutText cuts the text of a section into chunks, code blocks whole.
func cutText(text string) (out []string) {
	if text == "" {
		return nil
	}
	if len(text) <= chunkSize {
		return []string{text}
	}
	var b strings.Builder
	flush := func() {
		if part := trimBlankLines(b.String()); part != "" {
			out = append(out, part)
		}
		b.Reset()
	}
	inCode := newCodeLines(text)
	left := len(text)
	for i, line := range strings.SplitAfter(text, "\n") {
		if inCode.has(i + 1) {
			b.WriteString(line)
			left -= len(line)
			continue
		}
		if b.Len()+len(line) > longParagraph && left > smallRest {
			flush()
		}
		for len(line) > longParagraph {
			at := breakBefore(line, longParagraph)
			if strings.TrimSpace(line[:at]) != "" {
				out = append(out, line[:at])
			}
			line, left = line[at:], left-at
		}
		b.WriteString(line)
		left -= len(line)
		if b.Len() > chunkSize && strings.TrimSpace(line) == "" && left > smallRest {
			flush()
		}
	}
	flush()
	return slices.Clip(out)
}

// breakBefore finds a place to cut a line that is longer than room: at a blank
// if there is one in the second half, else between two characters.
func breakBefore(line string, room int) int {
	if i := strings.LastIndexByte(line[:room], ' '); i > room/2 {
		return i + 1
	}
	for !utf8.RuneStart(line[room]) {
		room--
	}
	return room
}
