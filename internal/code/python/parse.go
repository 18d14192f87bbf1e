package python

import (
	"fmt"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// parser reads Python by recursive descent over the tokens of one source. It knows the grammar of Python 3 up to 3.14
// and the rules CPython's own parser adds to it, such as what can be assigned to; like ast.parse it does not look at where
// return, await or break stand. After the first problem every look ahead sees the end of the source, so all loops end.
type parser struct {
	src     string
	tokens  []token
	pos     int
	depth   int
	deep    bool // nesting went beyond the bound: no verdict
	problem *syntaxError
}

// maxDepth bounds the nesting of expressions and blocks. CPython gives up at 200 brackets.
const maxDepth = 200

// parse finds the first problem of a source; false when it is nested too deep to say.
func parse(src string) (*syntaxError, bool) {
	l := lex(src)
	p := &parser{src: src, tokens: l.tokens}
	p.statements(tokEOF)
	switch {
	case p.deep:
		return nil, false
	case l.problem != nil && (p.problem == nil || l.problem.offset <= p.problem.offset || p.atLexerEnd(l)):
		return l.problem, true
	}
	return p.problem, true
}

// atLexerEnd reports whether the parser only stumbled over the place where the lexer gave up.
func (p *parser) atLexerEnd(l *lexer) bool {
	last := 0
	for i := len(l.tokens) - 1; i >= 0; i-- {
		if k := l.tokens[i].kind; k != tokEOF && k != tokDedent && k != tokNewline {
			last = l.tokens[i].end
			break
		}
	}
	return p.problem.offset >= last
}

func (p *parser) tok() token { return p.tokens[p.pos] }

func (p *parser) text() string { return p.src[p.tok().start:p.tok().end] }

// peekText is the token n ahead, as written; empty for one that has no text or is not there.
func (p *parser) peekText(n int) string {
	if p.pos+n >= len(p.tokens) {
		return ""
	}
	t := p.tokens[p.pos+n]
	return p.src[t.start:t.end]
}

func (p *parser) kind() tokenKind { return p.tok().kind }

// next moves on; at the end it stays.
func (p *parser) next() {
	if p.pos < len(p.tokens)-1 {
		p.pos++
	}
}

// op reports whether the current token is this operator.
func (p *parser) op(text string) bool { return p.kind() == tokOp && p.text() == text }

// word reports whether the current token is this keyword.
func (p *parser) word(text string) bool { return p.kind() == tokKeyword && p.text() == text }

func (p *parser) takeOp(text string) bool {
	if !p.op(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) takeWord(text string) bool {
	if !p.word(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) wantOp(text string) {
	if !p.takeOp(text) {
		p.unexpected("'" + text + "'")
	}
}

func (p *parser) wantWord(text string) {
	if !p.takeWord(text) {
		p.unexpected("'" + text + "'")
	}
}

// wantName reads a name and returns whether it was there.
func (p *parser) wantName() bool {
	if p.kind() != tokName {
		p.unexpected("a name")
		return false
	}
	p.next()
	return true
}

// fail records the first problem and moves to the end.
func (p *parser) fail(offset int, format string, args ...any) {
	if p.problem == nil && !p.deep {
		p.problem = &syntaxError{offset, fmt.Sprintf(format, args...)}
	}
	p.pos = len(p.tokens) - 1
}

// unexpected says that the current token is not what can stand here.
func (p *parser) unexpected(want string) {
	found := source.Clip(p.text())
	switch p.kind() {
	case tokNewline, tokEOF:
		found = "the end of the line"
	case tokIndent:
		p.fail(p.tok().start, "unexpected indentation")
		return
	case tokDedent:
		found = "the end of the block"
	}
	p.fail(p.tok().start, "want %s, found %s", want, found)
}

// enter counts a level of nesting; leave must follow.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth && p.problem == nil {
		p.deep = true
		p.pos = len(p.tokens) - 1
	}
}

func (p *parser) leave() { p.depth-- }

// statements reads up to the token that ends them.
func (p *parser) statements(end tokenKind) {
	for p.kind() != end && p.kind() != tokEOF {
		p.statement()
	}
}

func (p *parser) statement() {
	switch {
	case p.op("@"):
		p.decorated()
	case p.kind() == tokKeyword:
		p.keywordStatement()
	case p.kind() == tokName && p.isMatch():
		p.match()
	case p.kind() == tokIndent:
		p.unexpected("")
	default:
		p.simpleLine()
	}
}

func (p *parser) keywordStatement() {
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
func (p *parser) block(opener token) {
	p.enter()
	defer p.leave()
	p.wantOp(":")
	if p.kind() != tokNewline {
		p.simpleLine()
		return
	}
	p.next()
	if p.kind() != tokIndent {
		p.fail(p.tok().start, "want an indented block behind '%s'", p.src[opener.start:opener.end])
		return
	}
	p.next()
	p.statements(tokDedent)
	if p.kind() == tokDedent {
		p.next()
	}
}

func (p *parser) ifStatement() {
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

func (p *parser) elseBlock() {
	if opener := p.tok(); p.takeWord("else") {
		p.block(opener)
	}
}

func (p *parser) forStatement() {
	opener := p.tok()
	p.next()
	p.targets()
	p.wantWord("in")
	p.starExpressions()
	p.block(opener)
	p.elseBlock()
}

func (p *parser) try() {
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
func (p *parser) handled() {
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
func (p *parser) with() {
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

func (p *parser) followedByColon(i int) bool {
	t := p.tokens[min(i+1, len(p.tokens)-1)]
	return t.kind == tokOp && p.src[t.start:t.end] == ":"
}

func (p *parser) withItem() {
	p.starOrNamed()
	if p.takeWord("as") {
		e := p.starTarget()
		p.mustAssign(e)
	}
}

func (p *parser) decorated() {
	for p.op("@") {
		p.next()
		p.namedExpression()
		if p.kind() != tokNewline {
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

func (p *parser) function() {
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

func (p *parser) class() {
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
func (p *parser) typeParameters() {
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
func (p *parser) parameters(end string, annotated bool) {
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

func (p *parser) parameter(annotated bool) {
	p.wantName()
	if annotated && p.takeOp(":") {
		if p.takeOp("*") {
			p.bitOr()
			return
		}
		p.expression()
	}
}
