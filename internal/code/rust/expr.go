package rust

import (
	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// statement reads one statement. The last expression of a block goes without semicolon.
func (p *parser) statement() {
	p.attributes()
	switch {
	case p.Take(";"):
	case p.TakeWord("let"):
		p.let()
	case p.Word("pub") || p.isItem():
		p.visibility()
		p.item()
	case p.isMacro():
		p.macroStatement()
	case p.startsBlock():
		p.blockLike()
		if p.Is(".") && !p.Is("..") || p.Is("?") {
			p.postfix()
			p.operators(0)
			p.statementEnd()
			return
		}
		p.Take(";")
	default:
		p.expression()
		p.statementEnd()
	}
}

func (p *parser) statementEnd() {
	if !p.Take(";") && !p.Is("}") && !p.End() {
		p.Unexpected("';' or the end of the block")
	}
}

// macroStatement reads a macro that stands for statements. With braces it needs no semicolon.
func (p *parser) macroStatement() {
	start := p.Pos
	p.path(true)
	p.Want("!")
	if braces := p.Is("{"); braces {
		p.SkipGroup()
		if !p.Is(".") && !p.Is("?") {
			p.Take(";")
			return
		}
	}
	if p.Problem == nil {
		p.Pos = start
	}
	p.expression()
	p.statementEnd()
}

func (p *parser) let() {
	p.pattern()
	if p.Take(":") {
		p.typ()
	}
	if p.Is("=") && !p.Is("==") {
		p.Next()
		p.expression()
		if p.TakeWord("else") {
			p.block()
		}
	}
	p.Want(";")
}

// block reads statements between braces.
func (p *parser) block() {
	p.Enter()
	defer p.Leave()
	p.inner(func() {
		p.Want("{")
		for p.innerAttributes(); !p.Is("}") && !p.End(); {
			p.statement()
		}
		p.undocumented()
		p.Want("}")
	})
}

// inner reads what brackets keep apart from the head of a statement around it.
func (p *parser) inner(read func()) {
	outer := p.noStruct
	p.noStruct = false
	read()
	p.noStruct = outer
}

// head reads the condition of an if or while, the value of a match or the iterator of a for.
func (p *parser) head() {
	outer := p.noStruct
	p.noStruct = true
	p.operand()
	p.operators(0)
	p.noStruct = outer
}

// startsBlock reports whether an expression that ends with a brace begins here; as a statement it needs no semicolon.
func (p *parser) startsBlock() bool {
	switch {
	case p.Is("{"), p.OneOf("if match loop while for"):
		return !p.Word("for") || !p.IsAt(1, "<")
	case p.Kind() == descent.Lifetime:
		return p.IsAt(1, ":")
	case p.OneOf("unsafe const try gen"):
		return p.IsAt(1, "{")
	case p.Word("async"):
		return p.IsAt(1, "{") || p.WordAt(1, "move") && p.IsAt(2, "{")
	}
	return false
}

func (p *parser) blockLike() {
	p.Enter()
	defer p.Leave()
	if p.Kind() == descent.Lifetime {
		p.Next()
		p.Want(":")
	}
	switch {
	case p.TakeWord("if"):
		p.conditional()
	case p.TakeWord("match"):
		p.match()
	case p.TakeWord("while"):
		p.head()
		p.block()
	case p.TakeWord("for"):
		p.pattern()
		p.WantWord("in")
		p.head()
		p.block()
	default:
		for p.OneOf("loop unsafe const async move try gen") {
			p.Next()
		}
		p.block()
	}
}

func (p *parser) conditional() {
	for {
		p.head()
		p.block()
		if !p.TakeWord("else") {
			return
		}
		if !p.TakeWord("if") {
			p.block()
			return
		}
	}
}

func (p *parser) match() {
	p.head()
	p.Want("{")
	p.inner(func() {
		for p.innerAttributes(); !p.Is("}") && !p.End(); {
			p.arm()
		}
	})
	p.Want("}")
}

func (p *parser) arm() {
	p.attributes()
	p.pattern()
	if p.TakeWord("if") {
		p.operandLet()
	}
	p.Want("=>")
	if p.startsBlock() {
		p.blockLike()
		if !p.Is(".") && !p.Is("?") {
			p.Take(",")
			return
		}
		p.postfix()
		p.operators(0)
	} else {
		p.expression()
	}
	if !p.Take(",") && !p.Is("}") {
		p.Unexpected("',' or '}' behind the arm")
	}
}

// operandLet reads a guard, which may hold let like a condition but also struct literals.
func (p *parser) operandLet() {
	p.operand()
	p.operators(0)
}

func (p *parser) expression() {
	p.Enter()
	defer p.Leave()
	p.attributes()
	p.operand()
	p.operators(0)
}

// Precedences of binary operators.
const (
	assigns = iota + 1
	ranges
	ors
	ands
	compares
)

// operators are the binary operators, longer ones before those they begin with.
var operators = [...]struct {
	text       string
	precedence int
}{
	{"<<=", assigns},
	{">>=", assigns},
	{"...", 0},
	{"..=", ranges},
	{"..", ranges},
	{"=>", 0},
	{"->", 0},
	{"&&", ands},
	{"||", ors},
	{"==", compares},
	{"!=", compares},
	{"<=", compares},
	{">=", compares},
	{"<<", 9},
	{">>", 9},
	{"+=", assigns},
	{"-=", assigns},
	{"*=", assigns},
	{"/=", assigns},
	{"%=", assigns},
	{"^=", assigns},
	{"&=", assigns},
	{"|=", assigns},
	{"=", assigns},
	{"<", compares},
	{">", compares},
	{"|", 6},
	{"^", 7},
	{"&", 8},
	{"+", 10},
	{"-", 10},
	{"*", 11},
	{"/", 11},
	{"%", 11},
}

// operator is the binary operator here and its precedence, 0 when there is none.
func (p *parser) operator() (string, int) {
	if p.Kind() == descent.Name && p.Text() == "as" {
		return "as", 12
	}
	if p.Kind() != descent.Punct {
		return "", 0
	}
	for _, o := range operators {
		if o.text[0] == p.Src[p.Tokens[p.Pos].Start] && p.Is(o.text) {
			return o.text, o.precedence
		}
	}
	return "", 0
}

// operators reads binary operators of at least this precedence, with their right sides.
func (p *parser) operators(least int) {
	ranged := false
	for {
		op, precedence := p.operator()
		if precedence == 0 || precedence < least || precedence == ranges && ranged {
			return
		}
		if op == "as" {
			p.Next()
			p.typeNoBounds()
			continue
		}
		p.Take(op)
		switch precedence {
		case assigns:
			p.right(assigns)
		case ranges:
			ranged = true
			if op == "..=" || p.startsOperand() || p.Is("..") {
				p.right(ors)
			}
		case compares:
			p.right(compares + 1)
			if next, again := p.operator(); again == compares {
				p.Fail(p.Tokens[p.Pos].Start, "'%s' cannot follow another comparison without brackets", next)
			}
		default:
			p.right(precedence + 1)
		}
	}
}

// right reads the right side of an operator.
func (p *parser) right(least int) {
	p.Enter()
	defer p.Leave()
	p.operand()
	p.operators(least)
}

// startsOperand reports whether an expression can begin here.
func (p *parser) startsOperand() bool {
	switch p.Kind() {
	case descent.Number, descent.String, descent.Lifetime:
		return true
	case descent.Name:
		return !p.OneOf("as else in where mut ref")
	case descent.Punct:
		return p.Is("(") || p.Is("[") || p.Is("{") && !p.noStruct || p.Is("-") || p.Is("!") || p.Is("*") || p.Is("&") || p.Is("|") || p.Is("<") || p.Is("::")
	}
	return false
}

// operand reads an expression without binary operators.
func (p *parser) operand() {
	p.Enter()
	defer p.Leave()
	switch {
	case p.Is("..") && !p.Is("..."):
		inclusive := p.Take("..=") || !p.Take("..")
		if inclusive || p.startsOperand() || p.Is("..") {
			p.right(ors)
		}
	case p.Is("-"), p.Is("!"), p.Is("*"):
		p.Next()
		p.operand()
	case p.Take("&"):
		p.Take("&")
		if p.Word("raw") && (p.WordAt(1, "const") || p.WordAt(1, "mut")) {
			p.Next()
			p.Next()
		}
		p.TakeWord("mut")
		p.operand()
	case p.Is("|"), p.OneOf("move static"), p.Word("async") && !p.startsBlock(), p.Word("for") && p.IsAt(1, "<"):
		p.closure()
	case p.TakeWord("let"):
		p.pattern()
		p.Want("=")
		p.right(compares)
	case p.TakeWord("return"), p.TakeWord("yield"), p.TakeWord("become"):
		p.optional()
	case p.TakeWord("break"):
		if p.Kind() == descent.Lifetime && !p.IsAt(1, ":") {
			p.Next()
		}
		p.optional()
	case p.TakeWord("continue"):
		if p.Kind() == descent.Lifetime {
			p.Next()
		}
	default:
		p.primary()
		p.postfix()
	}
}

func (p *parser) optional() {
	if p.startsOperand() || p.Is("..") {
		p.right(0)
	}
}

func (p *parser) closure() {
	p.higherRanked()
	for p.OneOf("static async move") {
		p.Next()
	}
	if !p.Take("||") {
		p.Want("|")
		p.List("|", func() {
			p.attributes()
			p.onePattern()
			if p.Take(":") {
				p.typ()
			}
		})
	}
	if p.Take("->") {
		p.typeNoBounds()
		p.block()
		return
	}
	p.right(0)
}

func (p *parser) primary() {
	switch {
	case p.Kind() == descent.Number, p.Kind() == descent.String:
		p.Next()
	case p.startsBlock():
		p.blockLike()
	case p.Take("("):
		p.inner(func() { p.List(")", p.expression) })
	case p.Take("["):
		p.inner(p.array)
	case p.Is("::"), p.Is("<"), p.Kind() == descent.Name:
		p.pathExpression()
	default:
		p.Unexpected("an expression")
	}
}

// array reads [a, b] or [a; n] behind its bracket.
func (p *parser) array() {
	if p.Take("]") {
		return
	}
	p.expression()
	if p.Take(";") {
		p.expression()
		p.Want("]")
		return
	}
	if p.Take(",") {
		p.List("]", p.expression)
		return
	}
	p.Want("]")
}

func (p *parser) pathExpression() {
	if p.TakeWord("true") || p.TakeWord("false") || p.TakeWord("_") {
		return
	}
	if p.Word("builtin") && p.IsAt(1, "#") {
		p.Next()
		p.Next()
		p.Next()
		p.macroGroup()
		return
	}
	p.path(true)
	switch {
	case p.Is("!") && !p.Is("!=") && (p.IsAt(1, "(") || p.IsAt(1, "[") || p.IsAt(1, "{")):
		p.Next()
		p.macroGroup()
	case p.Is("{") && !p.noStruct:
		p.Next()
		p.inner(func() { p.List("}", p.structField) })
	}
}

func (p *parser) structField() {
	p.attributes()
	if p.Take("..") {
		if !p.Is("}") {
			p.expression()
		}
		return
	}
	if p.Kind() != descent.Number {
		p.name()
	} else {
		p.Next()
	}
	if p.Take(":") {
		p.expression()
	}
}

// postfix reads what is applied to an expression: calls, fields, indexes, ?.
func (p *parser) postfix() {
	for {
		switch {
		case p.Take("?"):
		case p.Take("("):
			p.inner(func() { p.List(")", p.expression) })
		case p.Take("["):
			p.inner(p.expression)
			p.Want("]")
		case p.Is(".") && !p.Is(".."):
			p.Next()
			p.selector()
		default:
			return
		}
	}
}

func (p *parser) selector() {
	switch {
	case p.TakeWord("await"):
	case p.Kind() == descent.Number:
		p.Next()
	case p.Kind() == descent.Name && !source.HasWord(keywords, p.Text()):
		p.Next()
		if p.Is("::") {
			p.Take("::")
			p.genericArguments()
		}
	default:
		p.Unexpected("a field or method")
	}
}
