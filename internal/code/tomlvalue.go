package code

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// value reads a value and returns what may be added to it: nothing, for everything but a table.
func (p *tomlParser) value() *tomlTable {
	switch c := p.peek(); {
	case p.pos >= len(p.src) || lineEnd(p.rest()) > 0 || c == '#':
		p.fail(p.pos, "want a value")
	case c == '"' || c == '\'':
		p.str()
	case c == '[':
		p.array()
		return &tomlTable{closed: true}
	case c == '{':
		p.inline()
		return &tomlTable{closed: true}
	default:
		p.plain()
	}
	return nil
}

func (p *tomlParser) enter() bool {
	if p.depth++; p.depth > maxTomlDepth {
		p.deep = true
		p.fail(p.pos, "nested too deep")
		return false
	}
	return true
}

func (p *tomlParser) array() {
	defer func() { p.depth-- }()
	if !p.enter() {
		return
	}
	start := p.pos
	p.pos++
	for {
		p.lines()
		if p.take(']') {
			return
		}
		if p.pos >= len(p.src) {
			p.fail(start, "'[' is never closed")
			return
		}
		p.value()
		p.lines()
		if !p.take(',') && p.peek() != ']' {
			if p.pos >= len(p.src) {
				p.fail(start, "'[' is never closed")
			}
			p.fail(p.pos, "want ',' or ']'")
			return
		}
	}
}

func (p *tomlParser) inline() {
	defer func() { p.depth-- }()
	if !p.enter() {
		return
	}
	start := p.pos
	p.pos++
	t := newTomlTable()
	for {
		p.lines()
		if p.take('}') {
			return
		}
		if p.pos >= len(p.src) {
			p.fail(start, "'{' is never closed")
			return
		}
		p.pair(t)
		p.lines()
		if !p.take(',') && p.peek() != '}' {
			p.fail(min(p.pos, len(p.src)), "want ',' or '}'")
			return
		}
	}
}

// str reads a string of one of the four kinds.
func (p *tomlParser) str() {
	start := p.pos
	quote := p.src[p.pos : p.pos+1]
	literal := quote == "'"
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.rest(), triple) {
		quote = triple
	}
	p.pos += len(quote)
	for p.pos < len(p.src) {
		rest := p.rest()
		switch c := rest[0]; {
		case strings.HasPrefix(rest, quote):
			p.pos += len(quote)
			for n := 0; len(quote) == 3 && n < 2 && p.peek() == quote[0]; n++ {
				p.pos++ // up to two quotes may stand right before the closing ones
			}
			return
		case c == '\\' && !literal:
			p.escape(rest, len(quote) == 3)
		case lineEnd(rest) > 0:
			if len(quote) == 1 {
				p.fail(start, "string is not closed on its line")
				return
			}
			p.pos += lineEnd(rest)
		case c < ' ' && c != '\t' || c == 0x7f:
			p.fail(p.pos, "control character in a string")
			return
		default:
			p.pos++
		}
	}
	p.fail(start, "string is not closed")
}

// escape reads an escape sequence. In a string of several lines a backslash may end a line.
func (p *tomlParser) escape(rest string, lines bool) {
	if len(rest) < 2 {
		p.pos = len(p.src)
		return
	}
	digits := 0
	switch c := rest[1]; c {
	case 'b', 't', 'n', 'f', 'r', 'e', '"', '\\':
		p.pos += 2
		return
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		if trimmed := strings.TrimLeft(rest[1:], " \t"); lines && lineEnd(trimmed) > 0 {
			p.pos += len(rest) - len(trimmed) + lineEnd(trimmed)
			return
		}
		p.fail(p.pos, "unknown escape in a string")
		return
	}
	hex := rest[2:min(2+digits, len(rest))]
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) < digits || strings.ContainsAny(hex, "_+-") {
		p.fail(p.pos, "incomplete escape in a string")
		return
	}
	if !utf8.ValidRune(rune(n)) {
		p.fail(p.pos, "the escape stands for no character")
		return
	}
	p.pos += 2 + digits
}

// plain reads a number, a date or one of the words.
func (p *tomlParser) plain() {
	start := p.pos
	for p.pos < len(p.src) && (isIdentPart(p.src[p.pos]) || strings.IndexByte("+-.:", p.src[p.pos]) >= 0) {
		p.pos++
	}
	text := p.src[start:p.pos]
	if isTomlDate(text) && len(text) == len("2006-01-02") && len(p.rest()) > 2 && p.rest()[0] == ' ' && p.rest()[1] >= '0' && p.rest()[1] <= '9' {
		p.pos++ // a space may stand between date and time
		for p.pos < len(p.src) && (isIdentPart(p.src[p.pos]) || strings.IndexByte("+-.:", p.src[p.pos]) >= 0) {
			p.pos++
		}
		text = p.src[start:p.pos]
	}
	if text == "true" || text == "false" || isTomlNumber(text) || isTomlDate(text) {
		return
	}
	if text == "" {
		text = firstRune(p.src[start:])
	}
	p.fail(start, "%s is no value; a string needs quotes", clip(text))
}

func isTomlNumber(text string) bool {
	bare := strings.TrimLeft(text, "+-")
	if len(text)-len(bare) > 1 {
		return false
	}
	if bare == "inf" || bare == "nan" {
		return true
	}
	for prefix, digits := range map[string]string{"0x": "0123456789abcdefABCDEF", "0o": "01234567", "0b": "01"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return isTomlDigits(rest, digits)
		}
	}
	const ten = "0123456789"
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(bare), "e")
	if sign := strings.TrimLeft(exponent, "+-"); hasExponent && (len(exponent)-len(sign) > 1 || !isTomlDigits(sign, ten)) {
		return false
	}
	whole, fraction, hasFraction := strings.Cut(mantissa, ".")
	if hasFraction && !isTomlDigits(fraction, ten) {
		return false
	}
	return isTomlDigits(whole, ten) && (whole == "0" || whole[0] != '0')
}

// isTomlDigits accepts digits with single underscores between them.
func isTomlDigits(text, digits string) bool {
	if text == "" || strings.Contains(text, "__") || text[0] == '_' || text[len(text)-1] == '_' {
		return false
	}
	return strings.Trim(text, digits+"_") == "" && strings.Trim(strings.ReplaceAll(text, "_", ""), digits) == ""
}

// isTomlDate accepts dates, times and both, by their shape: 0 stands for any digit.
func isTomlDate(text string) bool {
	date, clock := "", text
	if len(text) >= 10 && text[4] == '-' {
		date, clock = text[:10], text[10:]
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			return false
		}
		if clock == "" {
			return true
		}
		if strings.IndexByte("Tt ", clock[0]) < 0 {
			return false
		}
		clock = clock[1:]
	}
	zone := strings.IndexAny(clock, "Zz+-")
	if zone >= 0 {
		if date == "" || !isTomlZone(clock[zone:]) {
			return false
		}
		clock = clock[:zone]
	}
	clock, fraction, has := strings.Cut(clock, ".")
	if has && (fraction == "" || strings.Trim(fraction, "0123456789") != "") {
		return false
	}
	if s := shape(clock); s != "00:00:00" && (s != "00:00" || has) {
		return false
	}
	return clock[:2] <= "23" && clock[3:5] <= "59" && (len(clock) == 5 || clock[6:8] <= "60")
}

func isTomlZone(text string) bool {
	if text == "Z" || text == "z" {
		return true
	}
	return shape(text[1:]) == "00:00" && text[1:3] <= "23" && text[4:6] <= "59"
}

// shape writes 0 for each digit.
func shape(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}
