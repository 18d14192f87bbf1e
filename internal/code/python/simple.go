package python

import (
	"github.com/mettle-eval/mettle/internal/code/source"
)

// simpleLine reads statements separated by semicolons up to the end of the line.
func (p *parser) simpleLine() {
	for {
		p.simple()
		if !p.takeOp(";") || p.kind() == tokNewline {
			break
		}
	}
	if p.kind() != tokNewline {
		p.unexpected("the end of the statement")
		return
	}
	p.next()
}

func (p *parser) simple() {
	if p.kind() == tokName && p.text() == "type" && p.isAlias() {
		p.alias()
		return
	}
	if p.kind() != tokKeyword {
		p.expressionStatement()
		return
	}
	switch p.text() {
	case "pass", "break", "continue":
		p.next()
	case "return":
		p.next()
		if !p.simpleEnds() {
			p.starExpressions()
		}
	case "raise":
		p.raise()
	case "global", "nonlocal":
		p.next()
		for p.wantName() && p.takeOp(",") {
		}
	case "del":
		p.del()
	case "assert":
		p.next()
		p.expression()
		if p.takeOp(",") {
			p.expression()
		}
	case "import":
		p.imports()
	case "from":
		p.fromImport()
	default:
		p.expressionStatement()
	}
}

func (p *parser) simpleEnds() bool { return p.kind() == tokNewline || p.op(";") }

func (p *parser) raise() {
	p.next()
	if p.simpleEnds() {
		return
	}
	p.expression()
	if p.takeWord("from") {
		p.expression()
	}
}

func (p *parser) del() {
	p.next()
	start := p.tok().start
	if e := p.starExpressions(); !e.deletable {
		p.fail(start, "this cannot be deleted")
	}
}

func (p *parser) imports() {
	p.next()
	for {
		p.dotted()
		if p.takeWord("as") {
			p.wantName()
		}
		if !p.takeOp(",") {
			return
		}
	}
}

func (p *parser) dotted() {
	for p.wantName() && p.takeOp(".") {
	}
}

func (p *parser) fromImport() {
	p.next()
	dots := false
	for p.op(".") || p.op("...") {
		p.next()
		dots = true
	}
	if !dots || !p.word("import") {
		p.dotted()
	}
	p.wantWord("import")
	if p.takeOp("*") {
		return
	}
	grouped := p.takeOp("(")
	for {
		p.wantName()
		if p.takeWord("as") {
			p.wantName()
		}
		if !p.takeOp(",") || grouped && p.op(")") {
			break
		}
	}
	if grouped {
		p.wantOp(")")
	}
}

// isAlias reports whether type begins a type alias rather than being a name.
func (p *parser) isAlias() bool {
	return p.pos+2 < len(p.tokens) && p.tokens[p.pos+1].kind == tokName && (p.peekText(2) == "=" || p.peekText(2) == "[")
}

func (p *parser) alias() {
	p.next()
	p.wantName()
	p.typeParameters()
	p.wantOp("=")
	p.expression()
}

// expressionStatement reads an expression, an assignment, an annotation or an augmented assignment.
func (p *parser) expressionStatement() {
	start := p.tok()
	e := p.starOrYield()
	switch {
	case p.op(":"):
		if !e.single {
			p.fail(start.start, "only a name, an attribute or an item can be annotated")
		}
		p.next()
		p.expression()
		if p.takeOp("=") {
			p.starOrYield()
		}
	case p.op("="):
		for p.op("=") {
			p.mustAssign(e)
			p.next()
			e = p.starOrYield()
		}
	case p.kind() == tokOp && isAugmented(p.text()):
		if !e.single {
			p.fail(start.start, "this cannot be assigned to")
		}
		p.next()
		p.starOrYield()
	case !p.simpleEnds() && e.name && (p.src[start.start:start.end] == "print" || p.src[start.start:start.end] == "exec"):
		p.fail(p.tok().start, "%s is a function and needs brackets", p.src[start.start:start.end])
	}
}

func isAugmented(op string) bool {
	return len(op) > 1 && op[len(op)-1] == '=' && source.HasWord("+= -= *= /= //= %= @= &= |= ^= >>= <<= **=", op)
}

func (p *parser) starOrYield() expr {
	if p.word("yield") {
		p.yield()
		return expr{start: p.tok().start}
	}
	return p.starExpressions()
}

func (p *parser) yield() {
	p.next()
	if p.takeWord("from") {
		p.expression()
		return
	}
	if !p.simpleEnds() && !p.op(")") && !p.op("]") && !p.op("}") && !p.op("=") && !p.op("!") && !p.op(":") {
		p.starExpressions()
	}
}

func (p *parser) mustAssign(e expr) {
	if !e.assignable {
		p.fail(e.start, "this cannot be assigned to; want a name, an attribute or an item")
	}
}

// targets reads what a for assigns to.
func (p *parser) targets() {
	for {
		e := p.starTarget()
		p.mustAssign(e)
		if !p.takeOp(",") || p.word("in") {
			return
		}
	}
}

// starTarget reads one target. The keyword in ends it, so it must not be read as an operator.
func (p *parser) starTarget() expr {
	if p.takeOp("*") {
		return p.bitOr()
	}
	return p.bitOr()
}
