package scan

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// jsxState is where a lexer stands in JSX. Elements nest in elements, and code in braces nests in both their tags and
// their text; the frames follow that.
type jsxState struct {
	frames  []jsxFrame
	closers map[string]int // the last closing tag of each name, once it was asked for
}

// jsxFrame is an element that is open, or a hole in one: code between braces.
type jsxFrame struct {
	hole  bool
	tag   bool // inside the brackets of a tag
	close bool // of a closing tag
	depth int  // for a hole, how many substitutions are open in it, itself counted
}

func (l *Lexer) top() *jsxFrame {
	if n := len(l.frames); n > 0 && !l.frames[n-1].hole {
		return &l.frames[n-1]
	}
	return nil
}

func (l *Lexer) inTag() bool  { f := l.top(); return f != nil && f.tag }
func (l *Lexer) inText() bool { f := l.top(); return f != nil && !f.tag }

// opensElement tells an element from a type between angle brackets: the name must be followed by what only a tag has.
func (l *Lexer) opensElement() bool {
	rest := l.Src[l.pos+1:]
	n := 0
	for n < len(rest) && (source.IsIdentPart(rest[n]) || n > 0 && strings.IndexByte(".-:", rest[n]) >= 0) {
		n++
	}
	name := rest[:n]
	after := strings.TrimLeft(rest[n:], " \t\r\n")
	switch {
	case after == "" || name != "" && !source.IsIdentStart(name[0]) || source.HasWord("const in out", name): // of a type's parameter
		return false
	case after[0] == '>':
		return l.lastCloser(name) > l.pos
	case name == "":
		return false
	case after[0] == '/':
		return strings.HasPrefix(after, "/>")
	case after[0] != '{' && (!source.IsIdentStart(after[0]) || strings.HasPrefix(after, "extends")), len(after) == len(rest[n:]):
		return false // attributes follow a space: <Tag name=…>, <Tag {...props}>
	}
	return l.lastCloser(name) > l.pos || l.lastCloser("/>") > l.pos
}

// lastCloser is the offset of the last closing tag with a name, or of the last "/>"; 0 when there is none.
func (l *Lexer) lastCloser(name string) int {
	if l.closers == nil {
		l.closers = map[string]int{"/>": strings.LastIndex(l.Src, "/>")}
		for at := 0; ; {
			i := strings.Index(l.Src[at:], "</")
			if i < 0 {
				break
			}
			at += i + 2
			end := at
			for end < len(l.Src) && (source.IsIdentPart(l.Src[end]) || strings.IndexByte(".-:", l.Src[end]) >= 0) {
				end++
			}
			l.closers[l.Src[at:end]] = at - 2
		}
	}
	return l.closers[name]
}

func (l *Lexer) openElement() {
	l.frames = append(l.frames, jsxFrame{tag: true})
	l.pos++
}

// scanTag reads a token inside the brackets of a tag.
func (l *Lexer) scanTag(c byte) Kind {
	f := l.top()
	switch {
	case source.IsIdentStart(c):
		for l.pos < len(l.Src) && (source.IsIdentPart(l.Src[l.pos]) || l.Src[l.pos] == '-') {
			l.pos++
		}
		return Ident
	case c == '"' || c == '\'':
		return l.attribute(c)
	case c == '{':
		l.openHole()
		return Punct
	case c == '>':
		l.pos++
		f.tag = false
		if f.close {
			l.closeElement()
		}
		return Punct
	case strings.HasPrefix(l.Src[l.pos:], "/>"):
		l.pos += 2
		l.closeElement()
		return Punct
	}
	l.pos++
	return Punct
}

// attribute reads the quoted value of an attribute, which knows no escapes and may span lines.
func (l *Lexer) attribute(quote byte) Kind {
	end := strings.IndexByte(l.Src[l.pos+1:], quote)
	if end < 0 {
		l.pos = len(l.Src)
		return Literal
	}
	l.pos += end + 2
	return String
}

// scanText reads between tags: text up to the next tag or brace, or that itself.
func (l *Lexer) scanText() Kind {
	rest := l.Src[l.pos:]
	switch {
	case strings.HasPrefix(rest, "</"):
		l.top().tag, l.top().close = true, true
		l.pos += 2
		return Punct
	case rest[0] == '<':
		l.openElement()
		return Punct
	case rest[0] == '{':
		l.openHole()
		return Punct
	}
	n := strings.IndexAny(rest, "<{")
	if n < 0 {
		n = len(rest)
	}
	l.pos += n
	return Text
}

// closeElement ends the innermost element.
func (l *Lexer) closeElement() {
	if n := len(l.frames); n > 0 {
		l.frames = l.frames[:n-1]
	}
}

// openHole starts code between braces, which ends with the brace that matches, as a template's substitution does.
func (l *Lexer) openHole() {
	l.pos++
	l.Outer = append(l.Outer, l.braces)
	l.braces = 0
	l.frames = append(l.frames, jsxFrame{hole: true, depth: len(l.Outer)})
}

// closesHole ends the innermost hole if the substitution that just ended was it.
func (l *Lexer) closesHole() bool {
	n := len(l.frames)
	if n == 0 || !l.frames[n-1].hole || l.frames[n-1].depth != len(l.Outer)+1 {
		return false
	}
	l.frames = l.frames[:n-1]
	return true
}
