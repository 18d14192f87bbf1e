package code

// simpleLine reads statements separated by semicolons up to the end of the line.
func (p *pyParser) simpleLine() {
	for {
		p.simple()
		if !p.takeOp(";") || p.kind() == pyNewline {
			break
		}
	}
	if p.kind() != pyNewline {
		p.unexpected("the end of the statement")
		return
	}
	p.next()
}

func (p *pyParser) simple() {
	if p.kind() == pyName && p.text() == "type" && p.isAlias() {
		p.alias()
		return
	}
	if p.kind() != pyKeyword {
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

func (p *pyParser) simpleEnds() bool { return p.kind() == pyNewline || p.op(";") }

func (p *pyParser) raise() {
	p.next()
	if p.simpleEnds() {
		return
	}
	p.expression()
	if p.takeWord("from") {
		p.expression()
	}
}

func (p *pyParser) del() {
	p.next()
	start := p.tok().start
	if e := p.starExpressions(); !e.deletable {
		p.fail(start, "this cannot be deleted")
	}
}

func (p *pyParser) imports() {
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

func (p *pyParser) dotted() {
	for p.wantName() && p.takeOp(".") {
	}
}

func (p *pyParser) fromImport() {
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
func (p *pyParser) isAlias() bool {
	return p.pos+2 < len(p.tokens) && p.tokens[p.pos+1].kind == pyName && (p.peekText(2) == "=" || p.peekText(2) == "[")
}

func (p *pyParser) alias() {
	p.next()
	p.wantName()
	p.typeParameters()
	p.wantOp("=")
	p.expression()
}

// expressionStatement reads an expression, an assignment, an annotation or an augmented assignment.
func (p *pyParser) expressionStatement() {
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
	case p.kind() == pyOp && isAugmented(p.text()):
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
	return len(op) > 1 && op[len(op)-1] == '=' && hasWord("+= -= *= /= //= %= @= &= |= ^= >>= <<= **=", op)
}

func (p *pyParser) starOrYield() pyExpr {
	if p.word("yield") {
		p.yield()
		return pyExpr{start: p.tok().start}
	}
	return p.starExpressions()
}

func (p *pyParser) yield() {
	p.next()
	if p.takeWord("from") {
		p.expression()
		return
	}
	if !p.simpleEnds() && !p.op(")") && !p.op("]") && !p.op("}") && !p.op("=") && !p.op("!") && !p.op(":") {
		p.starExpressions()
	}
}

func (p *pyParser) mustAssign(e pyExpr) {
	if !e.assignable {
		p.fail(e.start, "this cannot be assigned to; want a name, an attribute or an item")
	}
}

// targets reads what a for assigns to.
func (p *pyParser) targets() {
	for {
		e := p.starTarget()
		p.mustAssign(e)
		if !p.takeOp(",") || p.word("in") {
			return
		}
	}
}

// starTarget reads one target. The keyword in ends it, so it must not be read as an operator.
func (p *pyParser) starTarget() pyExpr {
	if p.takeOp("*") {
		return p.bitOr()
	}
	return p.bitOr()
}
