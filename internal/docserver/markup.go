package docserver

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
)

// withoutMarkup takes out of a page what its reader does not see: comments,
// lines that are nothing but tags and, in MDX, the imports and exports of
// components. Code blocks stay as they are.
func withoutMarkup(body string, mdx bool) string {
	if !strings.Contains(body, "<") && !mdx {
		return body
	}
	var b strings.Builder
	b.Grow(len(body))
	m := markup{mdx: mdx, out: &b}
	at := 0
	for _, block := range code.Blocks(body) {
		start := strings.LastIndexByte(body[:block.Start], '\n') + 1
		if start < at {
			continue
		}
		m.prose(body[at:start])
		b.WriteString(body[start:block.End])
		at, m.statement = block.End, false
	}
	m.prose(body[at:])
	return b.String()
}

// markup copies prose without what is not meant to be read.
type markup struct {
	mdx       bool
	statement bool // inside an import or export, which goes on to the next blank line
	unclosed  bool // no comment ends from here on; to look again would only cost time
	out       *strings.Builder
}

func (m *markup) prose(text string) {
	m.unclosed = false
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.TrimSpace(line)
		if n := m.comment(text, trimmed); n > 0 {
			text = text[n:]
			continue
		}
		switch {
		case m.mdx && isStatement(line):
			m.statement = true
		case trimmed == "":
			m.statement = false
		}
		if !m.statement && !isTags(trimmed) {
			m.write(text[:len(text)-len(rest)])
		}
		text = rest
	}
}

// write copies a line. A comment that never ends would hide whatever is put
// behind it, so it is written as text.
func (m *markup) write(line string) {
	if m.unclosed {
		line = strings.ReplaceAll(line, "<!--", "&lt;!--")
	}
	m.out.WriteString(line)
}

// comment is the length of the comment that text starts with, 0 if it starts
// with none or with one that does not end.
func (m *markup) comment(text, trimmed string) int {
	end := ""
	switch {
	case strings.HasPrefix(trimmed, "<!--"):
		end = "-->"
	case m.mdx && strings.HasPrefix(trimmed, "{/*"):
		end = "*/}"
	}
	if end == "" || m.unclosed {
		return 0
	}
	n := strings.Index(text, end)
	if n < 0 {
		m.unclosed = true
		return 0
	}
	return n + len(end)
}

// isStatement tells whether a line of MDX is code: it takes any line that
// starts with these words for it.
func isStatement(line string) bool {
	return strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "export ")
}

// isTags tells whether a line is made of tags alone, such as <Tabs> or
// </details>: layout that means nothing outside of the page.
func isTags(line string) bool {
	if !strings.HasPrefix(line, "<") || !strings.HasSuffix(line, ">") {
		return false
	}
	for line != "" {
		name, ok := strings.CutPrefix(line, "<")
		if !ok {
			return false
		}
		name = strings.TrimPrefix(name, "/")
		n := strings.IndexFunc(name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-'
		})
		if n < 1 || !strings.ContainsRune(" \t/>", rune(name[n])) {
			return false // an address in brackets, or no tag at all
		}
		end := strings.IndexByte(name, '>')
		if end < 0 {
			return false
		}
		line = strings.TrimSpace(name[end+1:])
	}
	return true
}
