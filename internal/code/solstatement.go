package code

func (p *solParser) block() {
	p.enter()
	defer p.leave()
	p.want("{")
	for !p.is("}") && !p.end() {
		p.statement()
	}
	p.want("}")
}

func (p *solParser) statement() {
	p.enter()
	defer p.leave()
	switch {
	case p.is("{"):
		p.block()
	case p.takeWord("unchecked"):
		p.block()
	case p.takeWord("if"):
		p.condition()
		p.statement()
		if p.takeWord("else") {
			p.statement()
		}
	case p.takeWord("while"):
		p.condition()
		p.statement()
	case p.takeWord("do"):
		p.statement()
		p.wantWord("while")
		p.condition()
		p.want(";")
	case p.takeWord("for"):
		p.forStatement()
	case p.takeWord("try"):
		p.try()
	case p.takeWord("assembly"):
		p.assembly()
	case p.takeWord("continue"), p.takeWord("break"), p.takeWord("throw"):
		p.want(";")
	case p.takeWord("return"):
		if !p.is(";") {
			p.expression()
		}
		p.want(";")
	case p.takeWord("emit"), p.word("revert") && p.at(1).kind == lexName && p.takeWord("revert"):
		p.path()
		p.want("(")
		p.arguments()
		p.want(";")
	default:
		p.simple()
		p.want(";")
	}
}

func (p *solParser) condition() {
	p.want("(")
	p.expression()
	p.want(")")
}

func (p *solParser) forStatement() {
	p.want("(")
	if !p.take(";") {
		p.simple()
		p.want(";")
	}
	if !p.is(";") {
		p.expression()
	}
	p.want(";")
	if !p.is(")") {
		p.expression()
	}
	p.want(")")
	p.statement()
}

func (p *solParser) try() {
	p.expression()
	if p.takeWord("returns") {
		p.parameters()
	}
	p.block()
	p.wantWord("catch")
	for {
		if !p.is("{") {
			if p.kind() == lexName {
				p.name()
			}
			p.parameters()
		}
		p.block()
		if !p.takeWord("catch") {
			return
		}
	}
}

// simple reads a declaration or an expression.
func (p *solParser) simple() {
	switch {
	case p.is("(") && p.declaresTuple():
		p.declareTuple()
		p.want("=")
		p.expression()
	case p.isDeclaration():
		p.declaration()
		if p.take("=") {
			p.expression()
		}
	default:
		p.expression()
	}
}

// isDeclaration reports whether a type and then a name or location begins here.
func (p *solParser) isDeclaration() bool {
	n := p.typeLength()
	return n > 0 && p.at(n).kind == lexName
}

func (p *solParser) declaration() {
	p.typ()
	if p.oneOf("memory storage calldata") {
		p.next()
	}
	p.name()
}

// declaresTuple reports whether the first entry of a tuple declares a variable.
func (p *solParser) declaresTuple() bool {
	start := p.pos
	defer func() { p.pos = start }()
	p.next()
	for p.take(",") {
	}
	return p.isDeclaration()
}

func (p *solParser) declareTuple() {
	p.want("(")
	for !p.is(")") && !p.end() {
		if !p.is(",") {
			p.declaration()
		}
		if !p.take(",") {
			break
		}
	}
	p.want(")")
}

// assembly reads a block of Yul.
func (p *solParser) assembly() {
	if p.kind() == lexString {
		p.next()
	}
	if p.take("(") {
		p.commas(")", p.str)
	}
	p.yulBlock()
}

func (p *solParser) yulBlock() {
	p.enter()
	defer p.leave()
	p.want("{")
	for !p.is("}") && !p.end() {
		p.yulStatement()
	}
	p.want("}")
}

func (p *solParser) yulStatement() {
	switch {
	case p.is("{"):
		p.yulBlock()
	case p.takeWord("let"):
		p.yulNames()
		if p.take(":=") {
			p.yulExpression()
		}
	case p.takeWord("if"):
		p.yulExpression()
		p.yulBlock()
	case p.takeWord("switch"):
		p.yulSwitch()
	case p.takeWord("for"):
		p.yulBlock()
		p.yulExpression()
		p.yulBlock()
		p.yulBlock()
	case p.takeWord("function"):
		p.yulName()
		p.want("(")
		if !p.is(")") {
			p.yulNames()
		}
		p.want(")")
		if p.take("->") {
			p.yulNames()
		}
		p.yulBlock()
	case p.takeWord("break"), p.takeWord("continue"), p.takeWord("leave"):
	default:
		p.yulSimple()
	}
}

// yulSimple reads an assignment or a call.
func (p *solParser) yulSimple() {
	start := p.at(0)
	p.yulExpression()
	if !p.is(",") && !p.is(":=") {
		if last := p.tokens[max(p.pos-1, 0)]; p.src[last.start:last.end] != ")" {
			p.fail(start.start, "want a call or an assignment")
		}
		return
	}
	for p.take(",") {
		p.yulName()
	}
	p.want(":=")
	p.yulExpression()
}

func (p *solParser) yulSwitch() {
	p.yulExpression()
	cases := 0
	for p.takeWord("case") {
		cases++
		if p.kind() != lexNumber && p.kind() != lexString && !p.oneOf("true false") {
			p.unexpected("a literal")
			return
		}
		p.next()
		p.yulBlock()
	}
	if p.takeWord("default") {
		cases++
		p.yulBlock()
	}
	if cases == 0 {
		p.unexpected("case or default")
	}
}

func (p *solParser) yulNames() {
	p.yulName()
	for p.take(",") {
		p.yulName()
	}
}

// yulName reads a name, which may have dots in it.
func (p *solParser) yulName() {
	if p.kind() != lexName {
		p.unexpected("a name")
		return
	}
	p.next()
	for p.take(".") {
		if p.kind() != lexName {
			p.unexpected("a name")
			return
		}
		p.next()
	}
}

func (p *solParser) yulExpression() {
	p.enter()
	defer p.leave()
	if p.kind() == lexNumber || p.kind() == lexString {
		p.next()
		return
	}
	p.yulName()
	if p.take("(") {
		p.commas(")", p.yulExpression)
	}
}
