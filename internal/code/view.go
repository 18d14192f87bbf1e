package code

import "strings"

// A source has three layers: code, what stands in strings, and comments. The functions here take layers away and keep
// the places of the rest.

// isText reports whether a token is a string, a piece of one, or the text of JSX.
func (z *tokenized) isText(i int) bool {
	t := z.tokens[i]
	switch t.kind {
	case tokString, tokText:
		return true
	case tokLiteral:
	default:
		return false
	}
	text := z.text(i)
	switch c := text[0]; {
	case c == '\'': // a character, but not a Rust lifetime
		return len(text) == 1 || !isIdentPart(text[len(text)-1])
	case c == '"', c == '`', c == '}': // the last goes on with a template behind a substitution
		return true
	case c >= '0' && c <= '9':
		return false
	}
	return strings.IndexByte(text, '"') > 0 && text[0] != '/' // r"…", br#"…"#
}

// content is the byte range of what a text token says, its quotes and the marks of a substitution left out.
func (z *tokenized) content(i int) (start, end int) {
	t := z.tokens[i]
	if t.kind == tokText {
		return t.start, t.end
	}
	text := z.text(i)
	start = strings.IndexAny(text, "\"'`}") + 1
	end = len(text)
	switch {
	case strings.HasSuffix(text, "${"):
		end -= 2
	case end > start && strings.IndexByte("\"'`", text[end-1]) >= 0:
		end--
	}
	return t.start + start, t.start + max(start, end)
}

// isModule reports whether a string names a module in an import. That is a name more than a text, so it counts as code.
func (z *tokenized) isModule(i int) bool {
	if z.tokens[i].kind != tokString {
		return false
	}
	if z.word(i-1, "from import") || z.is(i-1, "(") && z.word(i-2, "require import") {
		return true
	}
	p := z.parent[i]
	return z.ident(i-1) && z.word(i-2, "import") || p > 0 && z.is(p, "(") && z.word(p-1, "import")
}

// masked is the source with comments blank, and with them what strings say unless texts counts. Every byte that is
// left stands where it stood.
func (z *tokenized) masked(texts bool) string {
	out := []byte(z.src)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' && out[i] != '\t' {
				out[i] = ' '
			}
		}
	}
	at := 0
	for i, t := range z.tokens {
		blank(at, t.start)
		at = t.end
		if !texts && z.isText(i) && !z.isModule(i) {
			blank(z.content(i))
		}
	}
	blank(at, len(out))
	return string(out)
}

// squeezed is a source without the white space that means nothing, for comparing code that is laid out differently.
type squeezed struct {
	text    []byte
	offsets []int // where each byte stands in the source
}

func (s *squeezed) add(src string, from, to int) {
	for i := from; i < to; i++ {
		s.text = append(s.text, src[i])
		s.offsets = append(s.offsets, i)
	}
}

// squeeze joins the tokens of a source, with a space only where two names would become one. Quotes are all written the
// same. Comments are left out, and what strings say unless texts counts; what is kept of it is kept as written.
func (z *tokenized) squeeze(texts bool) *squeezed {
	s := &squeezed{}
	for i, t := range z.tokens {
		if i > 0 && t.start > z.tokens[i-1].end && isIdentPart(z.src[t.start]) && isIdentPart(z.src[t.start-1-gap(z, i)]) {
			s.text, s.offsets = append(s.text, ' '), append(s.offsets, t.start)
		}
		if !z.isText(i) {
			s.add(z.src, t.start, t.end)
			continue
		}
		from, to := z.content(i)
		s.quote(z.src, t.start, from)
		if texts || z.isModule(i) {
			s.add(z.src, from, to)
		}
		s.quote(z.src, to, t.end)
	}
	return s
}

// gap is how many bytes stand between a token and the one before it.
func gap(z *tokenized, i int) int { return z.tokens[i].start - z.tokens[i-1].end }

// quote adds the ends of a string; which of the quotes they are does not matter.
func (s *squeezed) quote(src string, from, to int) {
	s.add(src, from, to)
	for i := len(s.text) - (to - from); i < len(s.text); i++ {
		if s.text[i] == '\'' || s.text[i] == '`' {
			s.text[i] = '"'
		}
	}
}

// squeezeText does the same with a text that is not cut into tokens: all of it counts.
func squeezeText(text string) *squeezed {
	s := &squeezed{}
	for i := 0; i < len(text); i++ {
		if isSpace(text[i]) {
			continue
		}
		if n := len(s.text); i > 0 && isSpace(text[i-1]) && n > 0 && isIdentPart(text[i]) && isIdentPart(s.text[n-1]) {
			s.text, s.offsets = append(s.text, ' '), append(s.offsets, i)
		}
		s.quote(text, i, i+1)
	}
	return s
}
