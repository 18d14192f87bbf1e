package lint

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

const (
	ignoreWord     = "mettle-ignore"
	maxIgnores     = 1000 // suppressions read in one file
	maxIgnoreLines = 1000 // lines that one of them covers, unless it speaks of the whole file
)

// ignore is a suppression written into the file:
//
//	<!-- mettle-ignore rule-id: the reason -->
//	<!-- mettle-ignore-file rule-id, other-rule: the reason -->
//
// The first covers its own line and the paragraph, table, or code block after it, the second the whole file. Inside of
// the frontmatter the same is written as a YAML comment and covers the field below it.
type ignore struct {
	rules       []string
	reason      string
	whole       bool
	first, last int // lines covered
	start, end  int // byte range of the comment
}

// readIgnores finds the suppressions of a file. One inside a code block is an example, not a wish.
func readIgnores(d *skill.Document) (list []ignore) {
	block := 0
	for from := 0; len(list) < maxIgnores; {
		i := strings.Index(d.Text[from:], ignoreWord)
		if i < 0 {
			break
		}
		i += from
		from = i + len(ignoreWord)
		for block < len(d.Blocks) && d.Blocks[block].End <= i {
			block++
		}
		if block < len(d.Blocks) && d.Blocks[block].Start <= i {
			continue
		}
		if g, ok := readIgnore(d, i, d.Blocks[block:]); ok {
			list = append(list, g)
		}
	}
	return list
}

func readIgnore(d *skill.Document, at int, after []skill.Block) (ignore, bool) {
	line := d.LineAt(at)
	lineStart, lineEnd := d.Bounds(line)
	before := strings.TrimRight(d.Text[lineStart:at], " \t")
	rest := d.Text[at+len(ignoreWord) : lineEnd]
	inFrontmatter := at < d.BodyStart && d.Frontmatter.Closed
	var start int
	switch {
	case inFrontmatter && strings.HasSuffix(before, "#"):
		start = lineStart + len(before) - 1
	case !inFrontmatter && strings.HasSuffix(before, "<!--"):
		end := strings.Index(rest, "-->")
		if end < 0 {
			return ignore{}, false
		}
		start = lineStart + len(before) - len("<!--")
		if start > lineStart && d.Text[start-1] == '`' {
			return ignore{}, false // spoken about
		}
		lineEnd = at + len(ignoreWord) + end + len("-->")
		rest = rest[:end]
	default:
		return ignore{}, false
	}
	g := ignore{start: start, end: lineEnd, first: line}
	rest, g.whole = strings.CutPrefix(rest, "-file")
	ids, reason, _ := strings.Cut(rest, ":")
	// Copies: what is kept of a file must not keep all of it.
	g.rules = strings.FieldsFunc(strings.Clone(ids), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	g.reason = strings.Clone(strings.TrimSpace(reason))
	g.last = ignoreEnd(d, line, inFrontmatter, after)
	if g.whole {
		g.first, g.last = 1, d.Lines()
	}
	return g, true
}

// ignoreEnd is the last line that a suppression on this line covers.
func ignoreEnd(d *skill.Document, line int, inFrontmatter bool, after []skill.Block) int {
	if inFrontmatter {
		for _, f := range d.Frontmatter.Fields {
			if f.Line > line {
				return d.LineAt(f.ValueEnd)
			}
		}
		return line
	}
	last := line + 1
	for last < d.Lines() && last < line+maxIgnoreLines && strings.TrimSpace(d.Line(last)) == "" {
		last++
	}
	if len(after) > 0 && after[0].Line == last {
		return after[0].EndLine
	}
	for last < d.Lines() && last < line+maxIgnoreLines && strings.TrimSpace(d.Line(last+1)) != "" {
		last++
	}
	return last
}
