package python

import (
	"github.com/mettle-eval/mettle/internal/code/source"
)

// expr is what must be known of an expression to say where it may stand.
type expr struct {
	start      int
	name       bool // a plain name
	single     bool // a name, attribute or item, brackets around it or not
	assignable bool // that, or a tuple or list of such
	deletable  bool
}

func (p *parser) starExpressions() expr {
	e := p.starExpression()
	if !p.op(",") {
		return e
	}
	e.single, e.name = false, false
	for p.takeOp(",") {
		if !p.startsExpression() {
			break
		}
		next := p.starExpression()
		e.assignable = e.assignable && next.assignable
		e.deletable = e.deletable && next.deletable
	}
	return e
}

func (p *parser) starExpression() expr {
	if start := p.tok().start; p.takeOp("*") {
		e := p.bitOr()
		return expr{start: start, assignable: e.assignable}
	}
	return p.expression()
}

// starOrNamed reads an element of a tuple, list or subscript.
func (p *parser) starOrNamed() expr {
	if p.op("*") {
		return p.starExpression()
	}
	return p.namedExpression()
}

// startsExpression reports whether an expression can begin with the current token.
func (p *parser) startsExpression() bool {
	switch p.kind() {
	case tokName, tokNumber, tokString, tokFStart:
		return true
	case tokKeyword:
		return source.HasWord("True False None not lambda await yield", p.text())
	case tokOp:
		return source.HasWord("( [ { + - ~ * ...", p.text())
	}
	return false
}

func (p *parser) namedExpression() expr {
	e := p.expression()
	if !p.op(":=") {
		return e
	}
	if !e.name {
		p.fail(p.tok().start, "':=' assigns to a plain name only")
	}
	p.next()
	p.expression()
	return expr{start: e.start}
}

func (p *parser) expression() expr {
	p.enter()
	defer p.leave()
	if p.word("lambda") {
		start := p.tok().start
		p.next()
		p.parameters(":", false)
		p.wantOp(":")
		p.expression()
		return expr{start: start}
	}
	e := p.binary(0)
	if !p.word("if") {
		return e
	}
	p.next()
	p.binary(0)
	p.wantWord("else")
	p.expression()
	return expr{start: e.start}
}

// Binary operators by rising precedence; not stands between and and the comparisons.
const (
	or = iota
	and
	not
	compare
	bitOr
)

var binary = [...]string{or: "or", and: "and", not: "", compare: "== != < <= > >= in not is", bitOr: "|", 5: "^", 6: "&", 7: "<< >>", 8: "+ -", 9: "* / // % @"}

// binary reads operators of this precedence and higher.
func (p *parser) binary(level int) expr {
	if level == not && p.word("not") {
		return p.not()
	}
	if level == len(binary) {
		return p.unary()
	}
	e := p.binary(level + 1)
	for p.binaryOperator(level) {
		p.binary(level + 1)
		e = expr{start: e.start}
	}
	return e
}

func (p *parser) not() expr {
	start := p.tok().start
	p.enter()
	defer p.leave()
	p.next()
	p.binary(not)
	return expr{start: start}
}

// binaryOperator takes an operator of this precedence.
func (p *parser) binaryOperator(level int) bool {
	if k := p.kind(); k != tokOp && k != tokKeyword || binary[level] == "" || !source.HasWord(binary[level], p.text()) {
		return false
	}
	switch first := p.text(); {
	case first == "not":
		if p.peekText(1) != "in" {
			return false
		}
		p.next()
	case first == "is" && p.peekText(1) == "not":
		p.next()
	}
	p.next()
	return true
}

func (p *parser) bitOr() expr { return p.binary(bitOr) }

func (p *parser) unary() expr {
	start := p.tok().start
	if p.op("+") || p.op("-") || p.op("~") {
		p.enter()
		defer p.leave()
		p.next()
		p.unary()
		return expr{start: start}
	}
	awaited := p.takeWord("await")
	e := p.primary()
	if awaited {
		e = expr{start: start}
	}
	if p.takeOp("**") {
		p.enter()
		defer p.leave()
		p.unary()
		return expr{start: start}
	}
	return e
}

// primary reads an atom and what is applied to it.
func (p *parser) primary() expr {
	e := p.atom()
	for {
		switch {
		case p.takeOp("."):
			p.wantName()
			e = expr{start: e.start, single: true, assignable: true, deletable: true}
		case p.takeOp("("):
			p.arguments()
			p.wantOp(")")
			e = expr{start: e.start}
		case p.takeOp("["):
			p.subscript()
			p.wantOp("]")
			e = expr{start: e.start, single: true, assignable: true, deletable: true}
		default:
			return e
		}
	}
}

func (p *parser) subscript() {
	for {
		p.slice()
		if !p.takeOp(",") || p.op("]") {
			return
		}
	}
}

func (p *parser) slice() {
	if !p.op(":") {
		p.starOrNamed()
	}
	for n := 0; n < 2 && p.takeOp(":"); n++ {
		if p.startsExpression() {
			p.expression()
		}
	}
}

func (p *parser) atom() expr {
	t := p.tok()
	switch t.kind {
	case tokName:
		p.next()
		return expr{start: t.start, name: true, single: true, assignable: true, deletable: true}
	case tokNumber:
		p.next()
	case tokString, tokFStart:
		p.stringLiterals()
	case tokKeyword:
		if !p.takeWord("True") && !p.takeWord("False") && !p.takeWord("None") {
			p.unexpected("an expression")
		}
	case tokOp:
		switch p.text() {
		case "(":
			return p.group()
		case "[":
			return p.list()
		case "{":
			p.braces()
		case "...":
			p.next()
		default:
			p.unexpected("an expression")
		}
	default:
		p.unexpected("an expression")
	}
	return expr{start: t.start}
}

// group reads (), (x), (x,), (x for …) and (yield).
func (p *parser) group() expr {
	p.enter()
	defer p.leave()
	start := p.tok().start
	p.next()
	switch {
	case p.takeOp(")"):
		return expr{start: start, assignable: true, deletable: true}
	case p.word("yield"):
		p.yield()
		p.wantOp(")")
		return expr{start: start}
	}
	star := p.op("*")
	e := p.starOrNamed()
	switch {
	case p.comprehends():
		p.comprehension()
		e = expr{}
	case p.op(","):
		e = p.elements(e, ")")
	case star:
		p.fail(start, "an unpacked value needs a comma behind it")
	}
	p.wantOp(")")
	e.start = start
	e.name = false
	return e
}

// elements reads what follows the first element of a tuple or list.
func (p *parser) elements(e expr, end string) expr {
	e.single, e.name = false, false
	for p.takeOp(",") && !p.op(end) {
		next := p.starOrNamed()
		e.assignable = e.assignable && next.assignable
		e.deletable = e.deletable && next.deletable
	}
	return e
}

func (p *parser) list() expr {
	p.enter()
	defer p.leave()
	start := p.tok().start
	p.next()
	if p.takeOp("]") {
		return expr{start: start, assignable: true, deletable: true}
	}
	e := p.starOrNamed()
	if p.comprehends() {
		p.comprehension()
		e = expr{}
	} else {
		e = p.elements(e, "]")
	}
	p.wantOp("]")
	e.start = start
	return e
}

// braces reads a dictionary or a set.
func (p *parser) braces() {
	p.enter()
	defer p.leave()
	p.next()
	if p.takeOp("}") {
		return
	}
	dict := false
	for first := true; !p.op("}"); first = false {
		at := p.tok().start
		isPair := p.pair(first || dict)
		if !first && isPair != dict {
			p.fail(at, "want a key and a value, as the entries before")
		}
		dict = isPair
		if p.comprehends() {
			if !first {
				p.unexpected("',' or '}'")
			}
			p.comprehension()
			break
		}
		if !p.takeOp(",") {
			break
		}
	}
	p.wantOp("}")
}

// pair reads one entry and reports whether it is one of a dictionary.
func (p *parser) pair(mayBePair bool) bool {
	if p.op("**") && mayBePair {
		p.next()
		p.bitOr()
		return true
	}
	star := p.op("*")
	p.starOrNamed()
	if star || !mayBePair || !p.takeOp(":") {
		return false
	}
	p.expression()
	return true
}

func (p *parser) comprehends() bool {
	return p.word("for") || p.word("async") && p.peekText(1) == "for"
}

// comprehension reads for … in … if …, once or more.
func (p *parser) comprehension() {
	for p.comprehends() {
		p.takeWord("async")
		p.wantWord("for")
		p.targets()
		p.wantWord("in")
		p.binary(or)
		for p.takeWord("if") {
			if p.binary(or); p.op(":=") {
				p.unexpected("the end of the condition")
			}
		}
	}
}

// arguments reads the arguments of a call, up to its closing bracket.
func (p *parser) arguments() {
	p.enter()
	defer p.leave()
	var keyword, unpacked bool
	for n := 0; !p.op(")"); n++ {
		at := p.tok().start
		switch {
		case p.takeOp("**"):
			p.expression()
			keyword, unpacked = true, true
		case p.takeOp("*"):
			p.expression()
			if unpacked {
				p.fail(at, "unpacked positional arguments follow unpacked keywords")
			}
		case p.kind() == tokName && p.peekText(1) == "=":
			p.next()
			p.next()
			p.expression()
			keyword = true
		default:
			p.argument(n, keyword)
		}
		if !p.takeOp(",") {
			return
		}
	}
}

// argument reads a positional argument.
func (p *parser) argument(n int, keyword bool) {
	at := p.tok().start
	p.namedExpression()
	switch {
	case p.comprehends():
		p.comprehension()
		if n > 0 || p.op(",") {
			p.fail(at, "a generator beside other arguments needs brackets")
		}
	case p.op("="):
		p.fail(at, "an argument's name cannot be an expression")
	case keyword:
		p.fail(at, "a positional argument follows one with a name")
	}
}
