package code

import "strings"

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

func (l *lexer) top() *jsxFrame {
	if n := len(l.frames); n > 0 && !l.frames[n-1].hole {
		return &l.frames[n-1]
	}
	return nil
}

func (l *lexer) inTag() bool  { f := l.top(); return f != nil && f.tag }
func (l *lexer) inText() bool { f := l.top(); return f != nil && !f.tag }

// opensElement tells an element from a type between angle brackets: the name must be followed by what only a tag has.
func (l *lexer) opensElement() bool {
	rest := l.src[l.pos+1:]
	n := 0
	for n < len(rest) && (isIdentPart(rest[n]) || n > 0 && strings.IndexByte(".-:", rest[n]) >= 0) {
		n++
	}
	name := rest[:n]
	after := strings.TrimLeft(rest[n:], " \t\r\n")
	switch {
	case after == "" || name != "" && !isIdentStart(name[0]) || hasWord("const in out", name): // of a type's parameter
		return false
	case after[0] == '>':
		return l.lastCloser(name) > l.pos
	case name == "":
		return false
	case after[0] == '/':
		return strings.HasPrefix(after, "/>")
	case after[0] != '{' && (!isIdentStart(after[0]) || strings.HasPrefix(after, "extends")), len(after) == len(rest[n:]):
		return false // attributes follow a space: <Tag name=…>, <Tag {...props}>
	}
	return l.lastCloser(name) > l.pos || l.lastCloser("/>") > l.pos
}

// lastCloser is the offset of the last closing tag with a name, or of the last "/>"; 0 when there is none.
func (l *lexer) lastCloser(name string) int {
	if l.closers == nil {
		l.closers = map[string]int{"/>": strings.LastIndex(l.src, "/>")}
		for at := 0; ; {
			i := strings.Index(l.src[at:], "</")
			if i < 0 {
				break
			}
			at += i + 2
			end := at
			for end < len(l.src) && (isIdentPart(l.src[end]) || strings.IndexByte(".-:", l.src[end]) >= 0) {
				end++
			}
			l.closers[l.src[at:end]] = at - 2
		}
	}
	return l.closers[name]
}

func (l *lexer) openElement() {
	l.frames = append(l.frames, jsxFrame{tag: true})
	l.pos++
}

// scanTag reads a token inside the brackets of a tag.
func (l *lexer) scanTag(c byte) tokenKind {
	f := l.top()
	switch {
	case isIdentStart(c):
		for l.pos < len(l.src) && (isIdentPart(l.src[l.pos]) || l.src[l.pos] == '-') {
			l.pos++
		}
		return tokIdent
	case c == '"' || c == '\'':
		return l.attribute(c)
	case c == '{':
		l.openHole()
		return tokPunct
	case c == '>':
		l.pos++
		f.tag = false
		if f.close {
			l.closeElement()
		}
		return tokPunct
	case strings.HasPrefix(l.src[l.pos:], "/>"):
		l.pos += 2
		l.closeElement()
		return tokPunct
	}
	l.pos++
	return tokPunct
}

// attribute reads the quoted value of an attribute, which knows no escapes and may span lines.
func (l *lexer) attribute(quote byte) tokenKind {
	end := strings.IndexByte(l.src[l.pos+1:], quote)
	if end < 0 {
		l.pos = len(l.src)
		return tokLiteral
	}
	l.pos += end + 2
	return tokString
}

// scanText reads between tags: text up to the next tag or brace, or that itself.
func (l *lexer) scanText() tokenKind {
	rest := l.src[l.pos:]
	switch {
	case strings.HasPrefix(rest, "</"):
		l.top().tag, l.top().close = true, true
		l.pos += 2
		return tokPunct
	case rest[0] == '<':
		l.openElement()
		return tokPunct
	case rest[0] == '{':
		l.openHole()
		return tokPunct
	}
	n := strings.IndexAny(rest, "<{")
	if n < 0 {
		n = len(rest)
	}
	l.pos += n
	return tokText
}

// closeElement ends the innermost element.
func (l *lexer) closeElement() {
	if n := len(l.frames); n > 0 {
		l.frames = l.frames[:n-1]
	}
}

// openHole starts code between braces, which ends with the brace that matches, as a template's substitution does.
func (l *lexer) openHole() {
	l.pos++
	l.outer = append(l.outer, l.braces)
	l.braces = 0
	l.frames = append(l.frames, jsxFrame{hole: true, depth: len(l.outer)})
}

// closesHole ends the innermost hole if the substitution that just ended was it.
func (l *lexer) closesHole() bool {
	n := len(l.frames)
	if n == 0 || !l.frames[n-1].hole || l.frames[n-1].depth != len(l.outer)+1 {
		return false
	}
	l.frames = l.frames[:n-1]
	return true
}
