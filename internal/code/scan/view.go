package scan

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// A source has three layers: code, what stands in strings, and comments. The functions here take layers away and keep
// the places of the rest.

// isText reports whether a token is a string, a piece of one, or the text of JSX.
func (z *List) isText(i int) bool {
	t := z.Tokens[i]
	switch t.Kind {
	case String, Text:
		return true
	case Literal:
	default:
		return false
	}
	text := z.text(i)
	switch c := text[0]; {
	case c == '\'': // a character, but not a Rust lifetime
		return len(text) == 1 || !source.IsIdentPart(text[len(text)-1])
	case c == '"', c == '`', c == '}': // the last goes on with a template behind a substitution
		return true
	case c >= '0' && c <= '9':
		return false
	}
	return strings.IndexByte(text, '"') > 0 && text[0] != '/' // r"…", br#"…"#
}

// content is the byte range of what a text token says, its quotes and the marks of a substitution left out.
func (z *List) content(i int) (start, end int) {
	t := z.Tokens[i]
	if t.Kind == Text {
		return t.Start, t.End
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
	return t.Start + start, t.Start + max(start, end)
}

// isModule reports whether a string names a module in an import. That is a name more than a text, so it counts as code.
func (z *List) isModule(i int) bool {
	if z.Tokens[i].Kind != String {
		return false
	}
	if z.Word(i-1, "from import") || z.Is(i-1, "(") && z.Word(i-2, "require import") {
		return true
	}
	p := z.Parent[i]
	return z.ident(i-1) && z.Word(i-2, "import") || p > 0 && z.Is(p, "(") && z.Word(p-1, "import")
}

// Masked is the source with comments blank, and with them what strings say unless texts counts. Every byte that is
// left stands where it stood.
func (z *List) Masked(texts bool) string {
	out := []byte(z.Src)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' && out[i] != '\t' {
				out[i] = ' '
			}
		}
	}
	at := 0
	for i, t := range z.Tokens {
		blank(at, t.Start)
		at = t.End
		if !texts && z.isText(i) && !z.isModule(i) {
			blank(z.content(i))
		}
	}
	blank(at, len(out))
	return string(out)
}

// Squeezed is a source without the white space that means nothing, for comparing code that is laid out differently.
type Squeezed struct {
	Text    []byte
	Offsets []int // where each byte stands in the source
}

func (s *Squeezed) add(src string, from, to int) {
	for i := from; i < to; i++ {
		s.Text = append(s.Text, src[i])
		s.Offsets = append(s.Offsets, i)
	}
}

// Squeeze joins the tokens of a source, with a space only where two names would become one. Quotes are all written the
// same. Comments are left out, and what strings say unless texts counts; what is kept of it is kept as written.
func (z *List) Squeeze(texts bool) *Squeezed {
	s := &Squeezed{}
	for i, t := range z.Tokens {
		if i > 0 && t.Start > z.Tokens[i-1].End && source.IsIdentPart(z.Src[t.Start]) && source.IsIdentPart(z.Src[t.Start-1-gap(z, i)]) {
			s.Text, s.Offsets = append(s.Text, ' '), append(s.Offsets, t.Start)
		}
		if !z.isText(i) {
			s.add(z.Src, t.Start, t.End)
			continue
		}
		from, to := z.content(i)
		s.quote(z.Src, t.Start, from)
		if texts || z.isModule(i) {
			s.add(z.Src, from, to)
		}
		s.quote(z.Src, to, t.End)
	}
	return s
}

// gap is how many bytes stand between a token and the one before it.
func gap(z *List, i int) int { return z.Tokens[i].Start - z.Tokens[i-1].End }

// quote adds the ends of a string; which of the quotes they are does not matter.
func (s *Squeezed) quote(src string, from, to int) {
	s.add(src, from, to)
	for i := len(s.Text) - (to - from); i < len(s.Text); i++ {
		if s.Text[i] == '\'' || s.Text[i] == '`' {
			s.Text[i] = '"'
		}
	}
}

// SqueezeText does the same with a text that is not cut into tokens: all of it counts.
func SqueezeText(text string) *Squeezed {
	s := &Squeezed{}
	for i := 0; i < len(text); i++ {
		if source.IsSpace(text[i]) {
			continue
		}
		if n := len(s.Text); i > 0 && source.IsSpace(text[i-1]) && n > 0 && source.IsIdentPart(text[i]) && source.IsIdentPart(s.Text[n-1]) {
			s.Text, s.Offsets = append(s.Text, ' '), append(s.Offsets, i)
		}
		s.quote(text, i, i+1)
	}
	return s
}
