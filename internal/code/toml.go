package code

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

var toml = language{
	name:    "toml",
	syntax:  tomlSyntax,
	checker: ownChecker,
	dialect: &dialect{hashComments: true, tripleQuotes: true},
}

// tomlSyntax checks a TOML 1.1 document; 1.0 differs only in what it does not allow yet. Tables and keys must not be
// defined twice.
func tomlSyntax(src string) ([]Problem, bool) {
	if len(src) > maxSource {
		return nil, false
	}
	p := &tomlParser{src: src, root: newTomlTable()}
	p.table = p.root
	for p.message == "" && p.pos < len(p.src) {
		p.line()
	}
	switch {
	case p.deep:
		return nil, false
	case p.message != "":
		return []Problem{problemAt(src, p.at, p.message, ownChecker)}, true
	}
	return nil, true
}

// maxTomlDepth bounds arrays and inline tables inside each other.
const maxTomlDepth = 200

// tomlTable is a table as far as it is defined.
type tomlTable struct {
	keys   map[string]*tomlTable // nil for a value that is no table
	closed bool                  // an inline table or an array: nothing may be added
	header bool                  // defined by a header of its own
	dotted bool                  // defined by dotted keys
	array  bool                  // an array of tables, of which this is the last
}

func newTomlTable() *tomlTable { return &tomlTable{keys: map[string]*tomlTable{}} }

type tomlParser struct {
	src     string
	pos     int
	at      int // where message applies
	message string
	deep    bool
	depth   int
	root    *tomlTable
	table   *tomlTable // the current one
}

func (p *tomlParser) fail(at int, format string, args ...any) {
	if p.message == "" {
		p.at, p.message = at, fmt.Sprintf(format, args...)
	}
	p.pos = len(p.src)
}

func (p *tomlParser) rest() string { return p.src[min(p.pos, len(p.src)):] }

func (p *tomlParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *tomlParser) take(c byte) bool {
	if p.peek() != c || p.pos >= len(p.src) {
		return false
	}
	p.pos++
	return true
}

func (p *tomlParser) spaces() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.pos++
	}
}

// lines skips white space, comments and line ends.
func (p *tomlParser) lines() {
	for {
		p.spaces()
		switch {
		case p.peek() == '#':
			p.comment()
		case lineEnd(p.rest()) > 0:
			p.pos += lineEnd(p.rest())
		default:
			return
		}
	}
}

func (p *tomlParser) comment() {
	text, _ := cutLine(p.rest())
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' || c == 0x7f {
			p.fail(p.pos+i, "control character in a comment")
			return
		}
	}
	p.pos += len(text)
}

// line reads one line of the document: a header, a key with its value, or neither.
func (p *tomlParser) line() {
	p.spaces()
	switch {
	case strings.HasPrefix(p.rest(), "[["):
		p.header(2)
	case p.peek() == '[':
		p.header(1)
	case p.peek() != '#' && p.pos < len(p.src) && lineEnd(p.rest()) == 0:
		p.pair(p.table)
	}
	p.spaces()
	if p.peek() == '#' {
		p.comment()
	}
	if p.pos < len(p.src) {
		n := lineEnd(p.rest())
		if n == 0 {
			p.fail(p.pos, "want the end of the line, found %s", clip(firstRune(p.rest())))
			return
		}
		p.pos += n
	}
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// header reads [a.b] or [[a.b]].
func (p *tomlParser) header(brackets int) {
	start := p.pos
	p.pos += brackets
	key := p.key()
	for range brackets {
		if !p.take(']') {
			p.fail(p.pos, "want ']'")
			return
		}
	}
	if p.message != "" {
		return
	}
	t := p.root
	for _, name := range key[:len(key)-1] {
		next, known := t.keys[name]
		if !known {
			next = newTomlTable()
			t.keys[name] = next
		}
		if next == nil || next.closed {
			p.fail(start, "%s is already a value", clip(name))
			return
		}
		t = next
	}
	p.define(t, key[len(key)-1], start, brackets == 2)
}

// define makes the table of a header the current one.
func (p *tomlParser) define(t *tomlTable, name string, start int, array bool) {
	old, known := t.keys[name]
	switch {
	case known && (old == nil || old.closed):
		p.fail(start, "%s is already a value", clip(name))
		return
	case array && known && !old.array:
		p.fail(start, "%s is already a table", clip(name))
		return
	case !array && known && (old.header || old.array || old.dotted):
		p.fail(start, "the table %s is already defined", clip(name))
		return
	case array || !known:
		old = newTomlTable()
		t.keys[name] = old
	}
	old.array, old.header = array, true
	p.table = old
}

// pair reads key = value into a table.
func (p *tomlParser) pair(t *tomlTable) {
	start := p.pos
	key := p.key()
	if !p.take('=') {
		p.fail(p.pos, "want '=' behind the key")
		return
	}
	p.spaces()
	value := p.value()
	if p.message != "" {
		return
	}
	for _, name := range key[:len(key)-1] {
		next, known := t.keys[name]
		if !known {
			next = newTomlTable()
			next.dotted = true
			t.keys[name] = next
		}
		if next == nil || next.closed || next.header || next.array {
			p.fail(start, "%s is already defined", clip(name))
			return
		}
		t = next
	}
	name := key[len(key)-1]
	if _, known := t.keys[name]; known {
		p.fail(start, "the key %s is already defined", clip(name))
		return
	}
	t.keys[name] = value
}

// key reads a.b."c d" with the white space around it.
func (p *tomlParser) key() []string {
	var names []string
	for {
		p.spaces()
		start := p.pos
		switch c := p.peek(); {
		case c == '"' || c == '\'':
			if strings.HasPrefix(p.rest(), strings.Repeat(string(c), 3)) {
				p.fail(start, "a key cannot span lines")
				return []string{""}
			}
			p.str()
			names = append(names, keyName(p.src[start:p.pos]))
		default:
			for p.pos < len(p.src) && (isIdentPart(p.src[p.pos]) && p.src[p.pos] != '$' && p.src[p.pos] < utf8.RuneSelf || p.src[p.pos] == '-') {
				p.pos++
			}
			if p.pos == start {
				p.fail(start, "want a key, found %s", clip(firstRune(p.rest())))
			}
			names = append(names, p.src[start:p.pos])
		}
		p.spaces()
		if p.message != "" || !p.take('.') {
			return names
		}
	}
}

// keyName is what a quoted key says.
func keyName(quoted string) string {
	if strings.HasPrefix(quoted, "'") || !strings.Contains(quoted, `\`) {
		return strings.Trim(quoted, `"'`)
	}
	if name, err := strconv.Unquote(quoted); err == nil {
		return name
	}
	return quoted
}
