package code

import (
	"strings"
	"unicode/utf8"
)

// JSON as people keep it in files: with comments and trailing commas.
var jsonComments = language{
	name:    "jsonc",
	aliases: "json-with-comments jsonwithcomments hujson",
	is:      "json",
	syntax:  func(src string) ([]Problem, bool) { return relaxedSyntax(src, false) },
	checker: "jsonc",
}

// JSON5 adds single quotes, names without quotes and JavaScript's numbers.
var json5 = language{
	name:    "json5",
	is:      "json",
	syntax:  func(src string) ([]Problem, bool) { return relaxedSyntax(src, true) },
	checker: "jsonc",
}

// relaxedSyntax accepts one value of JSON with comments or of JSON5.
func relaxedSyntax(src string, five bool) ([]Problem, bool) {
	p := relaxed{src: src, five: five}
	if message := p.value(); message != "" {
		return []Problem{problemAt(src, p.pos, message, "jsonc")}, true
	}
	return nil, true
}

// relaxed is a parser of relaxed JSON. Its stack is a slice and not the program's, so depth costs only memory.
type relaxed struct {
	src  string
	pos  int
	five bool
	open []byte // brackets not closed yet
}

// value reads the whole source and returns what is wrong at pos, or nothing.
func (p *relaxed) value() string {
	for {
		if m := p.begin(); m != "" {
			return m
		}
		done, m := p.end()
		if m != "" || done {
			return m
		}
	}
}

// begin reads up to and including the next scalar or empty container.
func (p *relaxed) begin() string {
	for {
		c, m := p.peek()
		if m != "" {
			return m
		}
		if c != '{' && c != '[' {
			return p.scalar(c)
		}
		p.open = append(p.open, c)
		p.pos++
		next, m := p.peek()
		if m != "" {
			return m
		}
		if next == closing(c) {
			return "" // end closes it
		}
		if c == '{' {
			if m := p.key(); m != "" {
				return m
			}
		}
	}
}

// end reads what follows a value: closing brackets, then the comma and key in front of the next value.
func (p *relaxed) end() (done bool, message string) {
	for {
		if m := p.skipSpace(); m != "" {
			return false, m
		}
		if len(p.open) == 0 {
			if p.pos < len(p.src) {
				return false, "more text after the value"
			}
			return true, ""
		}
		inside := p.open[len(p.open)-1]
		c, m := p.peek()
		switch {
		case m != "":
			return false, m
		case c == closing(inside):
			p.pos++
			p.open = p.open[:len(p.open)-1]
			continue
		case c != ',':
			return false, "want , or " + string(closing(inside))
		}
		p.pos++
		if c, m = p.peek(); m != "" {
			return false, m
		}
		if c == closing(inside) {
			continue // a trailing comma
		}
		if inside == '{' {
			return false, p.key()
		}
		return false, ""
	}
}

// key reads a name and its colon.
func (p *relaxed) key() string {
	c, m := p.peek()
	if m != "" {
		return m
	}
	switch {
	case c == '"' || c == '\'' && p.five:
		m = p.quoted(c)
	case p.five && isIdentStart(c):
		p.word()
	default:
		return "want a name in quotes"
	}
	if m != "" {
		return m
	}
	if c, m = p.peek(); m != "" {
		return m
	}
	if c != ':' {
		return "want : after the name"
	}
	p.pos++
	return ""
}

// scalar reads a string, number or one of the fixed words.
func (p *relaxed) scalar(c byte) string {
	if c == '"' || c == '\'' && p.five {
		return p.quoted(c)
	}
	start := p.pos
	for p.pos < len(p.src) && (isIdentPart(p.src[p.pos]) || strings.IndexByte("+-.", p.src[p.pos]) >= 0) {
		p.pos++
	}
	text := p.src[start:p.pos]
	switch {
	case text == "true", text == "false", text == "null":
		return ""
	case isNumber(text, p.five):
		return ""
	}
	p.pos = start
	if text == "" {
		return "want a value"
	}
	return "unknown value " + clip(text)
}

// quoted reads a string literal.
func (p *relaxed) quoted(quote byte) string {
	start := p.pos
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; {
		case c == quote:
			p.pos++
			return ""
		case c == '\\':
			if m := p.escape(); m != "" {
				return m
			}
		case c == '\n' || c == '\r':
			p.pos = start
			return "string is not closed"
		case c < ' ' && !p.five:
			return "control character in a string"
		}
	}
	p.pos = start
	return "string is not closed"
}

// escape checks the escape sequence at pos and stops on its last byte.
func (p *relaxed) escape() string {
	rest := p.src[p.pos+1:]
	switch {
	case rest == "":
		return "" // quoted reports the end of the source
	case rest[0] == 'u':
		if len(rest) < 5 || strings.Trim(rest[1:5], "0123456789abcdefABCDEF") != "" {
			return `want four hexadecimal digits after \u`
		}
		p.pos += 5
	case strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0:
		p.pos++
	case p.five:
		p.pos += max(lineEnd(rest), 1)
	default:
		return "unknown escape in a string"
	}
	return ""
}

func (p *relaxed) word() {
	for p.pos < len(p.src) && isIdentPart(p.src[p.pos]) {
		p.pos++
	}
}

// peek is the next byte that is neither space nor comment.
func (p *relaxed) peek() (byte, string) {
	if m := p.skipSpace(); m != "" {
		return 0, m
	}
	if p.pos == len(p.src) {
		return 0, "unexpected end"
	}
	return p.src[p.pos], ""
}

func (p *relaxed) skipSpace() string {
	for p.pos < len(p.src) {
		rest := p.src[p.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.pos++
		case strings.HasPrefix(rest, "//"):
			text, _ := cutLine(rest)
			p.pos += len(text)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return "comment is not closed"
			}
			p.pos += 2 + end + 2
		default:
			return ""
		}
	}
	return ""
}

func closing(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ']'
}

// isNumber accepts JSON's numbers, for JSON5 also +1, .5, 5., 0x1f, Infinity and NaN.
func isNumber(text string, five bool) bool {
	text = strings.TrimPrefix(text, "-")
	if five {
		text = strings.TrimPrefix(text, "+")
		if text == "Infinity" || text == "NaN" {
			return true
		}
		if hex, ok := cutPrefixFold(text, "0x"); ok {
			return hex != "" && strings.Trim(hex, "0123456789abcdefABCDEF") == ""
		}
	}
	whole := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	rest := text[len(whole):]
	if len(whole) > 1 && whole[0] == '0' {
		return false
	}
	fraction, dotted := "", strings.HasPrefix(rest, ".")
	if dotted {
		rest = rest[1:]
		fraction = rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		rest = rest[len(fraction):]
	}
	if five && whole+fraction == "" || !five && (whole == "" || dotted && fraction == "") {
		return false
	}
	exponent, ok := cutPrefixFold(rest, "e")
	if !ok {
		return rest == ""
	}
	if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
		exponent = exponent[1:]
	}
	return exponent != "" && strings.Trim(exponent, "0123456789") == ""
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// clip quotes foreign text for a message, shortened to what fits on a line.
func clip(text string) string {
	const most = 40
	if len(text) <= most {
		return `"` + text + `"`
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return `"` + text[:cut] + `…"`
}
