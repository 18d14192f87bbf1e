package kind

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainWords says what the parser's words mean to someone who writes a suite.
var plainWords = map[string]string{
	"did not find expected key":                      misplaced,
	"did not find expected '-' indicator":            misplaced,
	"did not find expected node content":             "a value is missing here, or a [ or { before it is not closed",
	"did not find expected ',' or ']'":               "a list in [] does not end here: quote text with a ? or any of ,[]{} in it",
	"did not find expected ',' or '}'":               "a mapping in {} does not end here: quote text with a ? or any of ,[]{} in it",
	"mapping values are not allowed in this context": "a colon stands where none can: quote text that has one in it, and look at the indentation",
	"found unexpected end of stream":                 "a quote that opens here is not closed",
	"could not find expected ':'":                    "a colon is missing",
	"found character that cannot start any token":    "a value cannot start like this: quote it",
}

const misplaced = "the line does not fit: look at its indentation and its quotes"

// syntax keeps the problem of text that is no YAML. The parser names a line at
// best, and for a broken structure the line before the one where the structure
// began; this finds the place a person has to look at.
func (d *Decoder) syntax(data []byte, err error) {
	line, msg := parserWords(err)
	p := Problem{Line: max(1, line), Message: "not valid YAML: " + msg}
	if plain, ok := plainWords[msg]; ok {
		p.Message = "not valid YAML: " + plain
	}
	switch {
	case strings.HasPrefix(msg, "unknown anchor"):
		d.unknownAnchor(&p, msg)
		d.Add(p)
		return
	case plainWords[msg] == misplaced:
		p.Line = d.breaksAt(data, msg)
	case strings.HasPrefix(msg, "did not find expected"):
		p.Line = min(line+1, len(d.lines))
	case strings.HasPrefix(strings.TrimLeft(d.line(p.Line), " "), "\t"):
		p.Message = "not valid YAML: a tab cannot indent: use spaces"
		p.Col = len(d.line(p.Line)) - len(strings.TrimLeft(d.line(p.Line), " ")) + 1
		d.Add(p)
		return
	}
	p.Col = indent(d.line(p.Line)) + 1
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
