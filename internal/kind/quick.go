package kind

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// quick parses the YAML that nearly all items of suites are written in: block
// mappings and lists whose values are on the line of their key, plain, quoted
// or in flow style. For everything else it gives up, and the YAML parser, which
// takes ten times as long, reads the item. What it does read it reads as that
// parser does, which a fuzz test compares. The values are parts of the lines,
// and the nodes are those of the item before.
type quick struct {
	lines  []string
	line   int // the current one; its indentation is column
	column int
	nodes  []*yaml.Node
	used   int // of the nodes
}

// maxQuickDepth is far below maxDepth, which counts from the file's root.
const maxQuickDepth = 50

// item parses the list item whose dash is at a column of line from. It gives
// nil when it cannot, or when there is more than the item up to the last line.
func (q *quick) item(lines []string, from, column int) *yaml.Node {
	q.lines, q.line, q.column, q.used = lines, from, column, 0
	n := q.afterDash(0)
	if n == nil || q.line < len(lines) {
		return nil
	}
	return n
}

func (q *quick) node(kind yaml.Kind, tag, value string, at int) *yaml.Node {
	if q.used == len(q.nodes) {
		q.nodes = append(q.nodes, new(yaml.Node))
	}
	n := q.nodes[q.used]
	q.used++
	*n = yaml.Node{
		Kind: kind, Tag: tag, Value: value, Content: n.Content[:0],
		Line: q.line + 1, Column: utf8.RuneCountInString(q.lines[q.line][:at]) + 1,
	}
	return n
}

// next goes to the next line that has something on it.
func (q *quick) next() {
	for q.line++; q.line < len(q.lines); q.line++ {
		if line := q.lines[q.line]; !empty(line) {
			q.column = indentation(line)
			return
		}
	}
	q.column = -1
}

// afterDash parses what stands after a dash on the same line.
func (q *quick) afterDash(depth int) *yaml.Node {
	text := q.lines[q.line]
	at := q.column + 1
	for at < len(text) && text[at] == ' ' {
		at++
	}
	if at == len(text) || depth > maxQuickDepth {
		return nil
	}
	if keyEnd(text, at) > 0 {
		q.column = at
		return q.mapping(depth)
	}
	column := q.column
	n := q.value(at, depth)
	if n == nil || q.column > column {
		return nil // a text of several lines
	}
	return n
}

// mapping parses a block mapping whose first key is at the current column.
func (q *quick) mapping(depth int) *yaml.Node {
	column := q.column
	n := q.node(yaml.MappingNode, "!!map", "", column)
	for q.column == column {
		text := q.lines[q.line]
		end := keyEnd(text, column)
		if end == 0 {
			return nil
		}
		key := q.plain(text[column:end], column)
		value := q.after(end+1, column, depth)
		if value == nil || key.Tag == "!!merge" {
			return nil
		}
		n.Content = append(n.Content, key, value)
	}
	if q.column > column {
		return nil
	}
	return n
}

// after parses the value after a key's colon.
func (q *quick) after(at, column, depth int) *yaml.Node {
	text := q.lines[q.line]
	for at < len(text) && text[at] == ' ' {
		at++
	}
	if at < len(text) && text[at] != '#' {
		n := q.value(at, depth)
		if q.column > column {
			return nil // a text of several lines
		}
		return n
	}
	if q.next(); q.line == len(q.lines) || depth > maxQuickDepth {
		return nil
	}
	switch text := q.lines[q.line]; {
	case isDash(text[q.column:]) && q.column >= column:
		return q.sequence(depth + 1)
	case q.column > column && keyEnd(text, q.column) > 0:
		return q.mapping(depth + 1)
	}
	return nil
}

func (q *quick) sequence(depth int) *yaml.Node {
	column := q.column
	n := q.node(yaml.SequenceNode, "!!seq", "", column)
	for q.column == column && isDash(q.lines[q.line][column:]) {
		item := q.afterDash(depth + 1)
		if item == nil {
			return nil
		}
		n.Content = append(n.Content, item)
	}
	if q.column > column {
		return nil
	}
	return n
}

// value parses a value that ends on its line, and goes to the next line.
func (q *quick) value(at, depth int) *yaml.Node {
	text := q.lines[q.line]
	var n *yaml.Node
	end := len(text)
	switch text[at] {
	case '"', '\'', '{', '[':
		if n, end = q.flow(at, depth); n == nil {
			return nil
		}
	default:
		if comment := strings.Index(text[at:], " #"); comment >= 0 {
			end = at + comment
		}
		word := strings.TrimRight(text[at:end], " ")
		if !plainStart(word) || strings.Contains(word, ": ") || strings.HasSuffix(word, ":") || strings.Contains(word, "\t") {
			return nil
		}
		n = q.plain(word, at)
	}
	if rest := text[end:]; !empty(rest) || (rest != "" && rest[0] == '#') {
		return nil
	}
	q.next()
	return n
}

func (q *quick) plain(word string, at int) *yaml.Node {
	n := q.node(yaml.ScalarNode, "!!str", word, at)
	if !strings.ContainsRune("abcdeghijklmpqrsuvwxzABCDEGHIJKLMPQRSUVWXZ", rune(word[0])) {
		n.Tag = "" // it may be a number, a truth value or a date
		n.Tag = n.ShortTag()
	}
	return n
}

// flow parses a quoted text or a flow collection, and gives where it ends.
func (q *quick) flow(at, depth int) (n *yaml.Node, end int) {
	text := q.lines[q.line]
	switch {
	case text[at] == '"' || text[at] == '\'':
		return q.quoted(at)
	case text[at] != '{' && text[at] != '[':
		end = at + strings.IndexAny(text[at:], ",[]{}:#?\t\"'&*!|>%@`")
		if end < at {
			return nil, 0
		}
		word := strings.TrimRight(text[at:end], " ")
		if !plainStart(word) {
			return nil, 0
		}
		return q.plain(word, at), end
	case depth > maxQuickDepth:
		return nil, 0
	case text[at] == '{':
		n = q.node(yaml.MappingNode, "!!map", "", at)
	default:
		n = q.node(yaml.SequenceNode, "!!seq", "", at)
	}
	n.Style = yaml.FlowStyle
	closing := text[at] + 2 // } after {, ] after [
	at = skipBlanks(text, at+1)
	if text[at:] != "" && text[at] == closing {
		return n, at + 1
	}
	for at < len(text) {
		if closing == '}' {
			key, end := q.flow(at, depth+1)
			if key == nil || key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || !strings.HasPrefix(text[end:], ": ") || end-at > 200 {
				return nil, 0
			}
			n.Content = append(n.Content, key)
			if at = skipBlanks(text, end+1); at == len(text) {
				return nil, 0
			}
		}
		item, end := q.flow(at, depth+1)
		if item == nil {
			return nil, 0
		}
		n.Content = append(n.Content, item)
		at = skipBlanks(text, end)
		switch {
		case at < len(text) && text[at] == closing:
			return n, at + 1
		case !strings.HasPrefix(text[at:], ", "):
			return nil, 0
		}
		at = skipBlanks(text, at+1)
	}
	return nil, 0
}

// quoted parses a quoted text that has no more than the common escapes.
func (q *quick) quoted(at int) (n *yaml.Node, end int) {
	text, quote := q.lines[q.line], q.lines[q.line][at]
	length := strings.IndexByte(text[at+1:], quote)
	if length < 0 {
		return nil, 0
	}
	end = at + 1 + length
	value := text[at+1 : end]
	if strings.Contains(value, "\t") || (quote == '"' && strings.Contains(value, `\`)) || strings.HasPrefix(text[end:], "''") {
		if value, end = unquoted(text, at); end == 0 {
			return nil, 0
		}
	}
	n = q.node(yaml.ScalarNode, "!!str", value, at)
	if n.Style = yaml.DoubleQuotedStyle; quote == '\'' {
		n.Style = yaml.SingleQuotedStyle
	}
	return n, end + 1
}

// unquoted resolves the escapes of a quoted text, and gives the place of the
// closing quote, or 0 when there are others.
func unquoted(text string, at int) (value string, end int) {
	quote := text[at]
	var b strings.Builder
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\t':
			return "", 0
		case c == '\\' && quote == '"':
			if i++; i == len(text) {
				return "", 0
			}
			escaped := strings.IndexByte(`"\nt/`, text[i])
			if escaped < 0 {
				return "", 0
			}
			b.WriteByte("\"\\\n\t/"[escaped])
		case c == quote && quote == '\'' && strings.HasPrefix(text[i+1:], "'"):
			b.WriteByte(c)
			i++
		case c == quote:
			return b.String(), i
		default:
			b.WriteByte(c)
		}
	}
	return "", 0
}

// keyEnd is the place of the colon after the plain key at a place of a line, or
// 0 when there is none. Keys are words of letters, digits and _.
func keyEnd(text string, at int) int {
	i := at
	for i < len(text) && (isLetter(text[i]) || (i > at && '0' <= text[i] && text[i] <= '9')) {
		i++
	}
	if i == at || i-at > 200 || i == len(text) || text[i] != ':' || (i+1 < len(text) && text[i+1] != ' ') {
		return 0
	}
	return i
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

// plainStart tells whether a plain text starts with a character that has no
// other meaning.
func plainStart(word string) bool {
	if word == "" {
		return false
	}
	c := word[0]
	if c == '-' && len(word) > 1 {
		c = word[1]
	}
	return isLetter(c) || '0' <= c && c <= '9' || c >= utf8.RuneSelf || strings.IndexByte("/(.^$+", c) >= 0
}

func skipBlanks(text string, at int) int {
	for at < len(text) && text[at] == ' ' {
		at++
	}
	return at
}
