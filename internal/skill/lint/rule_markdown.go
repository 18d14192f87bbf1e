package lint

import (
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

var markdownControl = Rule{
	ID: "markdown-control", Family: "markdown", Severity: Warning,
	Doc:     "The file has control characters.",
	Explain: "They are invisible, some parsers stop at them, and the reference validator crashes on some. They are mostly the remains of a wrong conversion.",
	check: func(p *pass) {
		for _, offset := range p.Facts.Controls {
			r := []rune(p.Text[offset:min(offset+4, len(p.Text))])[0]
			p.at(offset, offset+len(string(r)), nil, "control character U+%04X", r)
		}
	},
}

var markdownEmptySection = Rule{
	ID: "markdown-empty-section", Family: "markdown", Severity: Warning,
	Doc:     "A section has no content, neither of its own nor below it.",
	Explain: "A heading alone tells the model nothing, and often text was meant to follow. A heading directly above a sub-heading with content is not meant.",
	check: func(p *pass) {
		for _, s := range p.Root.All()[1:] {
			if s.Empty() && (s.Parent.Level == 0 || !s.Parent.Empty()) && !p.saysEnough(s) {
				p.line(s.Line, nil, "the section %q is empty", skill.Shorten(s.Title, 60))
			}
		}
	},
}

// saysEnough reports whether a heading without a text is meant so: it is a sentence of its own, a place in a template, one
// of several that make an outline, or a line of a second frontmatter. So is one with a comment below it, which models read.
func (p *pass) saysEnough(s *skill.Section) bool {
	if len(strings.Fields(s.Title)) > 5 || strings.ContainsAny(s.Title, "[]{}<>:") || strings.Contains(p.Text[s.Start:s.End], "<!--") {
		return true
	}
	if from, to, ok := p.secondFrontmatter(); ok && s.Line >= from && s.Line <= to {
		return true
	}
	siblings := s.Parent.Children
	i := slices.Index(siblings, s)
	return i > 0 && siblings[i-1].Empty() || i+1 < len(siblings) && siblings[i+1].Empty()
}

var markdownEncoding = Rule{
	ID: "markdown-encoding", Family: "markdown", Severity: Error,
	Doc:     "The file is not UTF-8.",
	Explain: "Readers that insist on UTF-8 do not load it, others show wrong characters. Save it as UTF-8.",
	check: func(p *pass) {
		if p.Facts.UTF16 {
			p.file(nil, "the file is UTF-16, want UTF-8; nothing else was looked at")
		} else if offset := p.Facts.InvalidUTF8; offset >= 0 {
			p.at(offset, offset+1, nil, "the file is not UTF-8: byte 0x%02X", p.Text[offset])
		}
	},
}

var markdownFence = Rule{
	ID: "markdown-fence", Family: "markdown", Severity: Warning,
	Doc:     "A code block is never closed.",
	Explain: "Everything after the opening fence is code, headings and instructions included. A fence is closed by at least as many marks as opened it; to show fences inside a block, open it with four.",
	check: func(p *pass) {
		for _, b := range p.Blocks {
			if !b.Closed {
				p.at(b.Start, b.Start+len(b.Fence), nil, "the code block is not closed")
			}
		}
	},
}

var markdownIrregular = Rule{
	ID: "markdown-irregular", Family: "markdown", Severity: Info,
	Doc:     "Part of the text was not searched for links.",
	Explain: "It nests quotes or lists very deeply, or has very many brackets that nothing closes, so it was passed over to keep reading fast.",
	check: func(p *pass) {
		for _, line := range p.Facts.Irregular {
			p.line(line, nil, "this text is too irregular to be searched for links")
		}
	},
}

var markdownLineEnds = Rule{
	ID: "markdown-line-ends", Family: "markdown", Severity: Warning, Fixes: true,
	Doc:     "The file mixes line ends.",
	Explain: "Some lines end as on Windows and some do not, which shows as changes nobody made. The fix uses the kind that most lines have.",
	check: func(p *pass) {
		f := &p.Facts
		if f.CRLF == 0 || f.LF == 0 {
			return
		}
		crlfIsOdd := f.CRLF <= f.LF
		few, odd := f.CRLF, "CRLF"
		if !crlfIsOdd {
			few, odd = f.LF, "LF"
		}
		p.line(p.firstEnd(crlfIsOdd), p.sameEnds(crlfIsOdd, few), "%d of %d lines end with %s, the others do not", few, f.CRLF+f.LF, odd)
	},
}

// maxEnds bounds the edits of one fix.
const maxEnds = 2000

// sameEnds changes the line ends that differ from the others.
func (p *pass) sameEnds(crlfIsOdd bool, few int) *Fix {
	if few > maxEnds {
		return nil
	}
	fix := &Fix{Message: "make all line ends the same"}
	for i := range len(p.Text) {
		if p.Text[i] != '\n' {
			continue
		}
		switch crlf := i > 0 && p.Text[i-1] == '\r'; {
		case crlf && crlfIsOdd:
			fix.Edits = append(fix.Edits, Edit{Start: i - 1, End: i})
		case !crlf && !crlfIsOdd:
			fix.Edits = append(fix.Edits, Edit{Start: i, End: i, New: "\r"})
		}
	}
	return fix
}

// firstEnd is the first line that ends with CRLF, or with LF alone.
func (p *pass) firstEnd(crlf bool) int {
	for i := range len(p.Text) {
		if p.Text[i] == '\n' && (i > 0 && p.Text[i-1] == '\r') == crlf {
			return p.LineAt(i)
		}
	}
	return 1
}

var markdownMerge = Rule{
	ID: "markdown-merge", Family: "markdown", Severity: Error,
	Doc:     "The file has markers of an unresolved merge conflict.",
	Explain: "Both versions are in the file, and the model is told both.",
	check: func(p *pass) {
		for _, line := range p.Facts.MergeMarkers {
			if !p.inBlock(line) {
				p.line(line, nil, "unresolved merge conflict")
				return
			}
		}
	},
}

// inBlock reports whether a line stands in a code block.
func (p *pass) inBlock(line int) bool {
	for _, b := range p.Blocks {
		if b.Line <= line && line <= b.EndLine {
			return true
		}
	}
	return false
}

var markdownTag = Rule{
	ID: "markdown-tag", Family: "markdown", Severity: Warning,
	Doc:     "A tag is closed that was never opened.",
	Explain: "Tags such as <example> … </example> mark parts of a prompt. A closing tag without its opening one is mostly a misspelt or mixed-up pair, and the model cannot tell what it ends. Tags in code are not meant.",
	check:   checkTags,
}

// checkTags counts the tags that stand alone on a line, by name. Opening ones may be placeholders, so only closing ones
// are judged.
func checkTags(p *pass) {
	if !strings.Contains(p.Body(), "</") {
		return
	}
	open := map[string]int{}
	block := 0
	for n := p.BodyLine(); n <= p.Lines() && !p.full(); n++ {
		for block < len(p.Blocks) && p.Blocks[block].EndLine < n {
			block++
		}
		if block < len(p.Blocks) && p.Blocks[block].Line <= n {
			continue
		}
		line := p.Line(n)
		countOpened(line, open)
		tag := strings.TrimSpace(line)
		inner, closes := strings.CutPrefix(tag, "</")
		name, whole := strings.CutSuffix(inner, ">")
		if !closes || !whole || !isTagName(name) || isOptional(name) {
			continue
		}
		if open[name]--; open[name] < 0 {
			open[name] = 0
			start, _ := p.Bounds(n)
			start += strings.Index(line, tag)
			p.at(start, start+len(tag), nil, "</%s> closes a tag that was never opened", skill.Shorten(name, 40))
		}
	}
}

// countOpened counts the tags that a line opens and does not close again.
func countOpened(line string, open map[string]int) {
	for rest := line; ; {
		_, after, ok := strings.Cut(rest, "<")
		if !ok {
			return
		}
		rest = after
		n := 0
		for n < len(after) && (isAlnum(after[n]) || strings.IndexByte("-_:.", after[n]) >= 0) {
			n++
		}
		// An opening tag may go on in the next line, so its end is not looked for.
		if name := after[:n]; isTagName(name) && (n == len(after) || strings.IndexByte("> \t/", after[n]) >= 0) && !strings.Contains(line, "</"+name+">") {
			open[name]++
		}
	}
}

func isTagName(name string) bool {
	return name != "" && len(name) <= 60 && isLetterASCII(name[0]) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) && !strings.ContainsRune("-_:.", r) })
}

// isOptional reports whether HTML lets the opening tag be left out, or browsers mend it.
func isOptional(name string) bool {
	switch strings.ToLower(name) {
	case "p", "li", "br", "body", "head", "html", "tbody", "thead", "tr", "td", "th", "dt", "dd":
		return true
	}
	return false
}

var markdownTitle = Rule{
	ID: "markdown-title", Family: "markdown", Severity: Info, Profiles: []string{Strict},
	Doc:     "The body has no title, or several.",
	Explain: "One heading of level 1 names the skill; the rest are sections of it.",
	check: func(p *pass) {
		first := 0
		for _, s := range p.Root.All()[1:] {
			if s.Level != 1 {
				continue
			}
			if first > 0 {
				p.line(s.Line, nil, "a second heading of level 1; the title is on line %d", first)
				return
			}
			first = s.Line
		}
		if first == 0 && !p.Root.Empty() {
			p.line(p.textLine(), nil, "the body has no heading of level 1")
		}
	},
}
