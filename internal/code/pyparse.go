package code

import "fmt"

// pyParser reads Python by recursive descent over the tokens of one source. It knows the grammar of Python 3 up to 3.14
// and the rules CPython's own parser adds to it, such as what can be assigned to; like ast.parse it does not look at where
// return, await or break stand. After the first problem every look ahead sees the end of the source, so all loops end.
type pyParser struct {
	src     string
	tokens  []pyToken
	pos     int
	depth   int
	deep    bool // nesting went beyond the bound: no verdict
	problem *pyProblem
}

// maxPythonDepth bounds the nesting of expressions and blocks. CPython gives up at 200 brackets.
const maxPythonDepth = 200

// parsePython finds the first problem of a source; false when it is nested too deep to say.
func parsePython(src string) (*pyProblem, bool) {
	l := lexPython(src)
	p := &pyParser{src: src, tokens: l.tokens}
	p.statements(pyEOF)
	switch {
	case p.deep:
		return nil, false
	case l.problem != nil && (p.problem == nil || l.problem.offset <= p.problem.offset || p.atLexerEnd(l)):
		return l.problem, true
	}
	return p.problem, true
}

// atLexerEnd reports whether the parser only stumbled over the place where the lexer gave up.
func (p *pyParser) atLexerEnd(l *pyLexer) bool {
	last := 0
	for i := len(l.tokens) - 1; i >= 0; i-- {
		if k := l.tokens[i].kind; k != pyEOF && k != pyDedent && k != pyNewline {
			last = l.tokens[i].end
			break
		}
	}
	return p.problem.offset >= last
}

func (p *pyParser) tok() pyToken { return p.tokens[p.pos] }

func (p *pyParser) text() string { return p.src[p.tok().start:p.tok().end] }

// peekText is the token n ahead, as written; empty for one that has no text or is not there.
func (p *pyParser) peekText(n int) string {
	if p.pos+n >= len(p.tokens) {
		return ""
	}
	t := p.tokens[p.pos+n]
	return p.src[t.start:t.end]
}

func (p *pyParser) kind() pyKind { return p.tok().kind }

// next moves on; at the end it stays.
func (p *pyParser) next() {
	if p.pos < len(p.tokens)-1 {
		p.pos++
	}
}

// op reports whether the current token is this operator.
func (p *pyParser) op(text string) bool { return p.kind() == pyOp && p.text() == text }

// word reports whether the current token is this keyword.
func (p *pyParser) word(text string) bool { return p.kind() == pyKeyword && p.text() == text }

func (p *pyParser) takeOp(text string) bool {
	if !p.op(text) {
		return false
	}
	p.next()
	return true
}

func (p *pyParser) takeWord(text string) bool {
	if !p.word(text) {
		return false
	}
	p.next()
	return true
}

func (p *pyParser) wantOp(text string) {
	if !p.takeOp(text) {
		p.unexpected("'" + text + "'")
	}
}

func (p *pyParser) wantWord(text string) {
	if !p.takeWord(text) {
		p.unexpected("'" + text + "'")
	}
}

// wantName reads a name and returns whether it was there.
func (p *pyParser) wantName() bool {
	if p.kind() != pyName {
		p.unexpected("a name")
		return false
	}
	p.next()
	return true
}

// fail records the first problem and moves to the end.
func (p *pyParser) fail(offset int, format string, args ...any) {
	if p.problem == nil && !p.deep {
		p.problem = &pyProblem{offset, fmt.Sprintf(format, args...)}
	}
	p.pos = len(p.tokens) - 1
}

// unexpected says that the current token is not what can stand here.
func (p *pyParser) unexpected(want string) {
	found := clip(p.text())
	switch p.kind() {
	case pyNewline, pyEOF:
		found = "the end of the line"
	case pyIndent:
		p.fail(p.tok().start, "unexpected indentation")
		return
	case pyDedent:
		found = "the end of the block"
	}
	p.fail(p.tok().start, "want %s, found %s", want, found)
}

// enter counts a level of nesting; leave must follow.
func (p *pyParser) enter() {
	if p.depth++; p.depth > maxPythonDepth && p.problem == nil {
		p.deep = true
		p.pos = len(p.tokens) - 1
	}
}

func (p *pyParser) leave() { p.depth-- }

// statements reads up to the token that ends them.
func (p *pyParser) statements(end pyKind) {
	for p.kind() != end && p.kind() != pyEOF {
		p.statement()
	}
}

func (p *pyParser) statement() {
	switch {
	case p.op("@"):
		p.decorated()
	case p.kind() == pyKeyword:
		p.keywordStatement()
	case p.kind() == pyName && p.isMatch():
		p.match()
	case p.kind() == pyIndent:
		p.unexpected("")
	default:
		p.simpleLine()
	}
}

func (p *pyParser) keywordStatement() {
	line := p.tok()
	switch p.text() {
	case "if":
		p.ifStatement()
	case "while":
		p.next()
		p.namedExpression()
		p.block(line)
		p.elseBlock()
	case "for":
		p.forStatement()
	case "try":
		p.try()
	case "with":
		p.with()
	case "def":
		p.function()
	case "class":
		p.class()
	case "async":
		p.next()
		if !p.word("def") && !p.word("for") && !p.word("with") {
			p.unexpected("def, for or with behind async")
			return
		}
		p.keywordStatement()
	case "else", "elif", "except", "finally":
		p.fail(line.start, "'%s' without the statement it belongs to", p.text())
	default:
		p.simpleLine()
	}
}

// block reads a colon and what it opens: statements on the same line, or lines indented below.
func (p *pyParser) block(opener pyToken) {
	p.enter()
	defer p.leave()
	p.wantOp(":")
	if p.kind() != pyNewline {
		p.simpleLine()
		return
	}
	p.next()
	if p.kind() != pyIndent {
		p.fail(p.tok().start, "want an indented block behind '%s'", p.src[opener.start:opener.end])
		return
	}
	p.next()
	p.statements(pyDedent)
	if p.kind() == pyDedent {
		p.next()
	}
}

func (p *pyParser) ifStatement() {
	for {
		opener := p.tok()
		p.next()
		p.namedExpression()
		p.block(opener)
		if !p.word("elif") {
			break
		}
	}
	p.elseBlock()
}

func (p *pyParser) elseBlock() {
	if opener := p.tok(); p.takeWord("else") {
		p.block(opener)
	}
}

func (p *pyParser) forStatement() {
	opener := p.tok()
	p.next()
	p.targets()
	p.wantWord("in")
	p.starExpressions()
	p.block(opener)
	p.elseBlock()
}

func (p *pyParser) try() {
	opener := p.tok()
	p.next()
	p.block(opener)
	handlers := 0
	groups := false
	for p.word("except") {
		handler := p.tok()
		p.next()
		star := p.op("*")
		if handlers > 0 && star != groups {
			p.fail(p.tok().start, "except and except* in one statement")
		}
		groups = star
		p.takeOp("*")
		handlers++
		if !p.op(":") || star {
			p.handled()
		}
		p.block(handler)
	}
	if handlers > 0 {
		p.elseBlock()
	}
	if final := p.tok(); p.takeWord("finally") {
		p.block(final)
	} else if handlers == 0 {
		p.fail(p.tok().start, "try without except or finally")
	}
}

// handled reads what an except handles: a class, a tuple of them that may go without brackets, and its name.
func (p *pyParser) handled() {
	p.expression()
	several := false
	for p.takeOp(",") {
		several = true
		p.expression()
	}
	if p.word("as") {
		if several {
			p.fail(p.tok().start, "several exceptions with a name need brackets")
		}
		p.next()
		p.wantName()
	}
}

// with reads the items, which may all be in one pair of brackets.
func (p *pyParser) with() {
	opener := p.tok()
	p.next()
	if mate := p.tok().mate; p.op("(") && mate > 0 && p.followedByColon(mate) && p.peekText(1) != "yield" {
		p.next()
		for !p.op(")") {
			p.withItem()
			if p.word("for") || p.word("async") {
				p.comprehension()
			}
			if !p.takeOp(",") {
				break
			}
		}
		p.wantOp(")")
	} else {
		p.withItem()
		for p.takeOp(",") {
			p.withItem()
		}
	}
	p.block(opener)
}

func (p *pyParser) followedByColon(i int) bool {
	t := p.tokens[min(i+1, len(p.tokens)-1)]
	return t.kind == pyOp && p.src[t.start:t.end] == ":"
}

func (p *pyParser) withItem() {
	p.starOrNamed()
	if p.takeWord("as") {
		e := p.starTarget()
		p.mustAssign(e)
	}
}

func (p *pyParser) decorated() {
	for p.op("@") {
		p.next()
		p.namedExpression()
		if p.kind() != pyNewline {
			p.unexpected("the end of the line behind the decorator")
			return
		}
		p.next()
	}
	if !p.word("def") && !p.word("class") && !(p.word("async") && p.peekText(1) == "def") {
		p.unexpected("a function or class behind the decorator")
		return
	}
	p.keywordStatement()
}

func (p *pyParser) function() {
	opener := p.tok()
	p.next()
	p.wantName()
	p.typeParameters()
	p.wantOp("(")
	p.parameters(")", true)
	p.wantOp(")")
	if p.takeOp("->") {
		p.expression()
	}
	p.block(opener)
}

func (p *pyParser) class() {
	opener := p.tok()
	p.next()
	p.wantName()
	p.typeParameters()
	if p.takeOp("(") {
		p.arguments()
		p.wantOp(")")
	}
	p.block(opener)
}

// typeParameters reads [T: bound = default, *Ts, **P].
func (p *pyParser) typeParameters() {
	if !p.takeOp("[") {
		return
	}
	for {
		if !p.takeOp("*") {
			p.takeOp("**")
		}
		p.wantName()
		if p.takeOp(":") {
			p.expression()
		}
		if p.takeOp("=") {
			p.starOrNamed()
		}
		if !p.takeOp(",") || p.op("]") {
			break
		}
	}
	p.wantOp("]")
}

// parameters reads the parameters of a function or, without annotations, of a lambda, up to the token that ends them.
func (p *pyParser) parameters(end string, annotated bool) {
	var slash, star, optional, bare bool
	for first := true; !p.op(end); first = false {
		at := p.tok().start
		switch {
		case p.takeOp("/"):
			if slash || star || first {
				p.fail(at, "'/' is out of place")
			}
			slash = true
		case p.takeOp("**"):
			p.parameter(annotated)
			p.takeOp(",")
			if bare || !p.op(end) {
				p.unexpected("the end of the parameters")
			}
			return
		case p.takeOp("*"):
			if star {
				p.fail(at, "'*' stands twice")
			}
			star, bare = true, p.op(",")
			if !bare {
				p.parameter(annotated)
			}
		default:
			p.parameter(annotated)
			bare = false
			if p.takeOp("=") {
				p.expression()
				optional = true
			} else if optional && !star {
				p.fail(at, "a parameter without default follows one with a default")
			}
		}
		if !p.takeOp(",") {
			break
		}
	}
	if bare {
		p.unexpected("a parameter behind '*'")
	}
}

func (p *pyParser) parameter(annotated bool) {
	p.wantName()
	if annotated && p.takeOp(":") {
		if p.takeOp("*") {
			p.bitOr()
			return
		}
		p.expression()
	}
}
