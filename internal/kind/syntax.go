package kind

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// syntax keeps the problem of text that is no YAML. The parser names a line at
// best, and for a broken structure the line before the one where the structure
// began; this finds the place a person has to look at.
func (d *Decoder) syntax(data []byte, err error) {
	line, msg := parserWords(err)
	p := Problem{Line: max(1, line), Col: 1, Message: "not valid YAML: " + msg}
	switch {
	case strings.HasPrefix(msg, "unknown anchor"):
		d.unknownAnchor(&p, msg)
	case msg == "did not find expected key" || msg == "did not find expected '-' indicator":
		p.Line = d.breaksAt(data, msg)
		p.Col = indent(d.line(p.Line)) + 1
		p.Message = "not valid YAML: the line does not belong to what stands above it: look at the indentation and at quotes"
	case msg == "did not find expected node content":
		p.Line = min(line+1, len(d.lines))
		p.Col = indent(d.line(p.Line)) + 1
		p.Message = "not valid YAML: a value is missing here, or a [ or { before it is not closed"
	case strings.HasPrefix(msg, "did not find expected"):
		p.Line = min(line+1, len(d.lines))
		p.Col = indent(d.line(p.Line)) + 1
	case strings.HasPrefix(strings.TrimLeft(d.line(p.Line), " "), "\t"):
		p.Col = len(d.line(p.Line)) - len(strings.TrimLeft(d.line(p.Line), " ")) + 1
		p.Message = "not valid YAML: a tab cannot indent: use spaces"
	default:
		p.Col = indent(d.line(p.Line)) + 1
	}
	d.Add(p)
}

// parserWords takes the line and the message from the parser's error.
func parserWords(err error) (line int, msg string) {
	m := regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`).FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// breaksAt finds the first line with which the text breaks in this way. The
// parser reads from the top and stops at the first fault, so every text that
// holds the faulty line breaks in the same way and none without it does.
func (d *Decoder) breaksAt(data []byte, msg string) int {
	lines := strings.SplitAfter(string(data), "\n")
	n := sort.Search(len(lines), func(i int) bool {
		_, err := document([]byte(strings.Join(lines[:i+1], "")))
		if err == nil {
			return false
		}
		_, got := parserWords(err)
		return got == msg
	})
	return min(n+1, len(d.lines))
}

// unknownAnchor finds the alias whose anchor is not there.
func (d *Decoder) unknownAnchor(p *Problem, msg string) {
	_, name, _ := strings.Cut(msg, "'")
	name, _, _ = strings.Cut(name, "'")
	p.Message = "the alias *" + name + " has no anchor &" + name + " before it"
	alias := regexp.MustCompile(`(?:^|[\s,\[{])(\*` + regexp.QuoteMeta(name) + `)(?:$|[\s,\]}])`)
	for i, line := range d.lines {
		if at := alias.FindStringSubmatchIndex(line); at != nil {
			p.Line, p.Col = i+1, utf8.RuneCountInString(line[:at[2]])+1
			return
		}
	}
}

func (d *Decoder) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return d.lines[n-1]
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
