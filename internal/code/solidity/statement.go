package solidity

import (
	"github.com/mettle-eval/mettle/internal/code/descent"
)

func (p *parser) block() {
	p.Enter()
	defer p.Leave()
	p.Want("{")
	for !p.Is("}") && !p.End() {
		p.statement()
	}
	p.Want("}")
}

func (p *parser) statement() {
	p.Enter()
	defer p.Leave()
	switch {
	case p.Is("{"):
		p.block()
	case p.TakeWord("unchecked"):
		p.block()
	case p.TakeWord("if"):
		p.condition()
		p.statement()
		if p.TakeWord("else") {
			p.statement()
		}
	case p.TakeWord("while"):
		p.condition()
		p.statement()
	case p.TakeWord("do"):
		p.statement()
		p.WantWord("while")
		p.condition()
		p.Want(";")
	case p.TakeWord("for"):
		p.forStatement()
	case p.TakeWord("try"):
		p.try()
	case p.TakeWord("assembly"):
		p.assembly()
	case p.TakeWord("continue"), p.TakeWord("break"), p.TakeWord("throw"):
		p.Want(";")
	case p.TakeWord("return"):
		if !p.Is(";") {
			p.expression()
		}
		p.Want(";")
	case p.TakeWord("emit"), p.Word("revert") && p.At(1).Kind == descent.Name && p.TakeWord("revert"):
		p.path()
		p.Want("(")
		p.arguments()
		p.Want(";")
	default:
		p.simple()
		p.Want(";")
	}
}

func (p *parser) condition() {
	p.Want("(")
	p.expression()
	p.Want(")")
}

func (p *parser) forStatement() {
	p.Want("(")
	if !p.Take(";") {
		p.simple()
		p.Want(";")
	}
	if !p.Is(";") {
		p.expression()
	}
	p.Want(";")
	if !p.Is(")") {
		p.expression()
	}
	p.Want(")")
	p.statement()
}

func (p *parser) try() {
	p.expression()
	if p.TakeWord("returns") {
		p.parameters()
	}
	p.block()
	p.WantWord("catch")
	for {
		if !p.Is("{") {
			if p.Kind() == descent.Name {
				p.name()
			}
			p.parameters()
		}
		p.block()
		if !p.TakeWord("catch") {
			return
		}
	}
}

// simple reads a declaration or an expression.
func (p *parser) simple() {
	switch {
	case p.Is("(") && p.declaresTuple():
		p.declareTuple()
		p.Want("=")
		p.expression()
	case p.isDeclaration():
		p.declaration()
		if p.Take("=") {
			p.expression()
		}
	default:
		p.expression()
	}
}

// isDeclaration reports whether a type and then a name or location begins here.
func (p *parser) isDeclaration() bool {
	n := p.typeLength()
	return n > 0 && p.At(n).Kind == descent.Name
}

func (p *parser) declaration() {
	p.typ()
	if p.OneOf("memory storage calldata") {
		p.Next()
	}
	p.name()
}

// declaresTuple reports whether the first entry of a tuple declares a variable.
func (p *parser) declaresTuple() bool {
	start := p.Pos
	defer func() { p.Pos = start }()
	p.Next()
	for p.Take(",") {
	}
	return p.isDeclaration()
}

func (p *parser) declareTuple() {
	p.Want("(")
	for !p.Is(")") && !p.End() {
		if !p.Is(",") {
			p.declaration()
		}
		if !p.Take(",") {
			break
		}
	}
	p.Want(")")
}

// assembly reads a block of Yul.
func (p *parser) assembly() {
	if p.Kind() == descent.String {
		p.Next()
	}
	if p.Take("(") {
		p.commas(")", p.str)
	}
	p.yulBlock()
}

func (p *parser) yulBlock() {
	p.Enter()
	defer p.Leave()
	p.Want("{")
	for !p.Is("}") && !p.End() {
		p.yulStatement()
	}
	p.Want("}")
}

func (p *parser) yulStatement() {
	switch {
	case p.Is("{"):
		p.yulBlock()
	case p.TakeWord("let"):
		p.yulNames()
		if p.Take(":=") {
			p.yulExpression()
		}
	case p.TakeWord("if"):
		p.yulExpression()
		p.yulBlock()
	case p.TakeWord("switch"):
		p.yulSwitch()
	case p.TakeWord("for"):
		p.yulBlock()
		p.yulExpression()
		p.yulBlock()
		p.yulBlock()
	case p.TakeWord("function"):
		p.yulName()
		p.Want("(")
		if !p.Is(")") {
			p.yulNames()
		}
		p.Want(")")
		if p.Take("->") {
			p.yulNames()
		}
		p.yulBlock()
	case p.TakeWord("break"), p.TakeWord("continue"), p.TakeWord("leave"):
	default:
		p.yulSimple()
	}
}

// yulSimple reads an assignment or a call.
func (p *parser) yulSimple() {
	start := p.At(0)
	p.yulExpression()
	if !p.Is(",") && !p.Is(":=") {
		if last := p.Tokens[max(p.Pos-1, 0)]; p.Src[last.Start:last.End] != ")" {
			p.Fail(start.Start, "want a call or an assignment")
		}
		return
	}
	for p.Take(",") {
		p.yulName()
	}
	p.Want(":=")
	p.yulExpression()
}

func (p *parser) yulSwitch() {
	p.yulExpression()
	cases := 0
	for p.TakeWord("case") {
		cases++
		if p.Kind() != descent.Number && p.Kind() != descent.String && !p.OneOf("true false") {
			p.Unexpected("a literal")
			return
		}
		p.Next()
		p.yulBlock()
	}
	if p.TakeWord("default") {
		cases++
		p.yulBlock()
	}
	if cases == 0 {
		p.Unexpected("case or default")
	}
}

func (p *parser) yulNames() {
	p.yulName()
	for p.Take(",") {
		p.yulName()
	}
}

// yulName reads a name, which may have dots in it.
func (p *parser) yulName() {
	if p.Kind() != descent.Name {
		p.Unexpected("a name")
		return
	}
	p.Next()
	for p.Take(".") {
		if p.Kind() != descent.Name {
			p.Unexpected("a name")
			return
		}
		p.Next()
	}
}

func (p *parser) yulExpression() {
	p.Enter()
	defer p.Leave()
	if p.Kind() == descent.Number || p.Kind() == descent.String {
		p.Next()
		return
	}
	p.yulName()
	if p.Take("(") {
		p.commas(")", p.yulExpression)
	}
}
