package python

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// str reads a string literal behind its prefix; of a formatted one only the opening quotes, the rest follows as tokens.
func (l *lexer) str(prefix string) {
	start := l.pos
	l.pos += len(prefix)
	quote := l.src[l.pos : l.pos+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(l.src[l.pos:], triple) {
		quote = triple
	}
	l.pos += len(quote)
	prefix = strings.ToLower(prefix)
	raw := strings.Contains(prefix, "r")
	if strings.ContainsAny(prefix, "ft") {
		l.add(tokFStart, start)
		l.strings = append(l.strings, fString{quote: quote, raw: raw, start: start})
		return
	}
	body := l.pos
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case strings.HasPrefix(l.src[l.pos:], quote):
			if l.literal(body, raw, strings.Contains(prefix, "b")); l.problem == nil {
				l.pos += len(quote)
				l.add(tokString, start)
			}
			return
		case c == '\\':
			l.pos += 1 + max(source.LineEnd(l.src[l.pos+1:]), 1)
		case (c == '\n' || c == '\r') && len(quote) == 1:
			l.fail(start, "string is not closed on its line")
			return
		default:
			l.pos++
		}
	}
	l.fail(start, "string is not closed")
}

// literal checks what stands in a string from body to pos.
func (l *lexer) literal(body int, raw, bytes bool) {
	text := l.src[body:l.pos]
	if bytes {
		for i := range len(text) {
			if text[i] >= 0x80 {
				l.fail(body+i, "bytes can hold ASCII characters only")
				return
			}
		}
	}
	if !raw {
		l.escapes(body, text, bytes)
	}
}

// escapes checks the escape sequences that need something behind them. Unknown ones are only warned about.
func (l *lexer) escapes(at int, text string, bytes bool) {
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return
		}
		at, text = at+i, text[i:]
		digits := 0
		switch text[1] {
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		}
		if bytes && digits > 2 {
			digits = 0
		}
		if hex := text[2:]; len(hex) < digits || strings.Trim(hex[:digits], "0123456789abcdefABCDEF") != "" || digits == 8 && hex[:8] > "0010FFFF" && hex[:8] > "0010ffff" {
			l.fail(at, "incomplete escape \\%c in a string", text[1])
			return
		}
		if text[1] == 'N' && !bytes && !namedCharacter(text[2:]) {
			l.fail(at, "incomplete escape \\N in a string")
			return
		}
		at, text = at+2, text[2:]
	}
}

// namedCharacter reports whether {NAME} follows. Whether there is a character of this name is not checked.
func namedCharacter(s string) bool {
	end := strings.IndexByte(s, '}')
	return strings.HasPrefix(s, "{") && end > 1
}

// field is the innermost open field of a formatted string.
func (l *lexer) field() *field {
	n := len(l.strings)
	if n == 0 {
		return nil
	}
	f := &l.strings[n-1]
	if len(f.fields) == 0 {
		return nil
	}
	return &f.fields[len(f.fields)-1]
}

// inFormatText reports whether the lexer stands in the text of a formatted string, not in the code of a field.
func (l *lexer) inFormatText() bool {
	if len(l.strings) == 0 {
		return false
	}
	f := l.field()
	return f == nil || f.format
}

// fieldPunct reads what has a meaning of its own at the top level of a field: its end, its format, its conversion.
func (l *lexer) fieldPunct(f *field, rest string) bool {
	start := l.pos
	switch {
	case rest[0] == '}':
		l.bracket('}')
		s := &l.strings[len(l.strings)-1]
		s.fields = s.fields[:len(s.fields)-1]
		return true
	case rest[0] == ':':
		f.format = true
	case rest[0] == '!' && !strings.HasPrefix(rest, "!="):
	default:
		return false
	}
	l.pos++
	l.add(tokOp, start)
	return true
}

// formatText reads the text of a formatted string up to a field, the end of the string, or the end of the field whose
// format the text is.
func (l *lexer) formatText() {
	s := &l.strings[len(l.strings)-1]
	inFormat := l.field() != nil
	start := l.pos
	middle := func() {
		if l.pos > start {
			l.add(tokFMiddle, start)
		}
	}
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case strings.HasPrefix(rest, s.quote):
			if inFormat {
				l.fail(l.pos, "'}' is missing in a formatted string")
				return
			}
			l.endFormatted(start, middle)
			return
		case rest[0] == '\\':
			l.pos += l.formatEscape(s, rest)
		case !inFormat && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
			l.pos += 2
		case rest[0] == '{':
			middle()
			l.bracket('{')
			s.fields = append(s.fields, field{depth: len(l.brackets)})
			return
		case rest[0] == '}' && inFormat:
			middle()
			l.bracket('}')
			s.fields = s.fields[:len(s.fields)-1]
			return
		case rest[0] == '}':
			l.fail(l.pos, "a single '}' in a formatted string")
			return
		case source.LineEnd(rest) > 0 && len(s.quote) == 1:
			l.fail(s.start, "string is not closed on its line")
			return
		default:
			l.pos++
		}
	}
	l.fail(s.start, "string is not closed")
}

// formatEscape is the length of what a backslash begins. In \N{NAME} the braces are no field.
func (l *lexer) formatEscape(s *fString, rest string) int {
	if len(rest) > 1 && (rest[1] == '{' || rest[1] == '}') {
		return 1
	}
	if !s.raw && strings.HasPrefix(rest, `\N`) && namedCharacter(rest[2:]) {
		return strings.IndexByte(rest, '}') + 1
	}
	return min(1+max(source.LineEnd(rest[1:]), 1), len(rest))
}

func (l *lexer) endFormatted(start int, middle func()) {
	s := l.strings[len(l.strings)-1]
	middle()
	if !s.raw {
		if l.escapes(start, l.src[start:l.pos], false); l.problem != nil {
			return
		}
	}
	at := l.pos
	l.pos += len(s.quote)
	l.strings = l.strings[:len(l.strings)-1]
	l.add(tokFEnd, at)
}

// tokNumber reads a numeric literal. A keyword may follow without space: 1if x else 2.
func (l *lexer) number() {
	start := l.pos
	if l.src[l.pos] == '0' && l.pos+1 < len(l.src) && strings.IndexByte("xXoObB", l.src[l.pos+1]) >= 0 {
		digits := "01"
		switch l.src[l.pos+1] | 0x20 {
		case 'x':
			digits = "0123456789abcdefABCDEF"
		case 'o':
			digits = "01234567"
		}
		l.pos += 2
		if l.pos < len(l.src) && l.src[l.pos] == '_' {
			l.pos++
		}
		if !l.digits(digits) {
			l.fail(start, "invalid number")
			return
		}
	} else if !l.decimal() {
		l.fail(start, "invalid number")
		return
	}
	end := l.pos
	for l.pos < len(l.src) && (source.IsIdentPart(l.src[l.pos]) && l.src[l.pos] != '$') {
		l.pos++
	}
	if word := l.src[end:l.pos]; word != "" && !source.HasWord("and else for if in is not or", word) {
		l.fail(start, "invalid number %s", source.Clip(l.src[start:l.pos]))
		return
	}
	l.pos = end
	l.add(tokNumber, start)
}

// digits reads digits with single underscores between them; false when there are none or an underscore is out of place.
func (l *lexer) digits(set string) bool {
	n := 0
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c == '_' && n > 0 && l.pos+1 < len(l.src) && strings.IndexByte(set, l.src[l.pos+1]) >= 0 {
			l.pos++
			continue
		}
		if strings.IndexByte(set, c) < 0 {
			break
		}
		l.pos++
		n++
	}
	return n > 0
}

// decimal reads an integer, a fraction or an imaginary number.
func (l *lexer) decimal() bool {
	const ten = "0123456789"
	start := l.pos
	whole := l.digits(ten)
	text := l.src[start:l.pos]
	float := false
	if l.pos < len(l.src) && l.src[l.pos] == '.' {
		float = true
		l.pos++
		if !l.digits(ten) && !whole {
			return false
		}
	}
	if l.pos < len(l.src) && l.src[l.pos]|0x20 == 'e' {
		mark := l.pos
		l.pos++
		if l.pos < len(l.src) && (l.src[l.pos] == '+' || l.src[l.pos] == '-') {
			l.pos++
		}
		if l.digits(ten) {
			float = true
		} else {
			l.pos = mark // 1else: the e is a keyword's
		}
	}
	if l.pos < len(l.src) && l.src[l.pos]|0x20 == 'j' {
		l.pos++
		return true
	}
	return float || len(text) == 1 || text[0] != '0' || strings.Trim(text, "0_") == ""
}
