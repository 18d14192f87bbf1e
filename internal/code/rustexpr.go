package code

// statement reads one statement. The last expression of a block goes without semicolon.
func (p *rustParser) statement() {
	p.attributes()
	switch {
	case p.take(";"):
	case p.takeWord("let"):
		p.let()
	case p.word("pub") || p.isItem():
		p.visibility()
		p.item()
	case p.isMacro():
		p.macroStatement()
	case p.startsBlock():
		p.blockLike()
		if p.is(".") && !p.is("..") || p.is("?") {
			p.postfix()
			p.operators(0)
			p.statementEnd()
			return
		}
		p.take(";")
	default:
		p.expression()
		p.statementEnd()
	}
}

func (p *rustParser) statementEnd() {
	if !p.take(";") && !p.is("}") && !p.end() {
		p.unexpected("';' or the end of the block")
	}
}

// macroStatement reads a macro that stands for statements. With braces it needs no semicolon.
func (p *rustParser) macroStatement() {
	start := p.pos
	p.path(true)
	p.want("!")
	if braces := p.is("{"); braces {
		p.skipGroup()
		if !p.is(".") && !p.is("?") {
			p.take(";")
			return
		}
	}
	if p.problem == nil {
		p.pos = start
	}
	p.expression()
	p.statementEnd()
}

func (p *rustParser) let() {
	p.pattern()
	if p.take(":") {
		p.typ()
	}
	if p.is("=") && !p.is("==") {
		p.next()
		p.expression()
		if p.takeWord("else") {
			p.block()
		}
	}
	p.want(";")
}

// block reads statements between braces.
func (p *rustParser) block() {
	p.enter()
	defer p.leave()
	p.inner(func() {
		p.want("{")
		for p.innerAttributes(); !p.is("}") && !p.end(); {
			p.statement()
		}
		p.undocumented()
		p.want("}")
	})
}

// inner reads what brackets keep apart from the head of a statement around it.
func (p *rustParser) inner(read func()) {
	outer := p.noStruct
	p.noStruct = false
	read()
	p.noStruct = outer
}

// head reads the condition of an if or while, the value of a match or the iterator of a for.
func (p *rustParser) head() {
	outer := p.noStruct
	p.noStruct = true
	p.operand()
	p.operators(0)
	p.noStruct = outer
}

// startsBlock reports whether an expression that ends with a brace begins here; as a statement it needs no semicolon.
func (p *rustParser) startsBlock() bool {
	switch {
	case p.is("{"), p.oneOf("if match loop while for"):
		return !p.word("for") || !p.isAt(1, "<")
	case p.kind() == lexLifetime:
		return p.isAt(1, ":")
	case p.oneOf("unsafe const try gen"):
		return p.isAt(1, "{")
	case p.word("async"):
		return p.isAt(1, "{") || p.wordAt(1, "move") && p.isAt(2, "{")
	}
	return false
}

func (p *rustParser) blockLike() {
	p.enter()
	defer p.leave()
	if p.kind() == lexLifetime {
		p.next()
		p.want(":")
	}
	switch {
	case p.takeWord("if"):
		p.conditional()
	case p.takeWord("match"):
		p.match()
	case p.takeWord("while"):
		p.head()
		p.block()
	case p.takeWord("for"):
		p.pattern()
		p.wantWord("in")
		p.head()
		p.block()
	default:
		for p.oneOf("loop unsafe const async move try gen") {
			p.next()
		}
		p.block()
	}
}

func (p *rustParser) conditional() {
	for {
		p.head()
		p.block()
		if !p.takeWord("else") {
			return
		}
		if !p.takeWord("if") {
			p.block()
			return
		}
	}
}

func (p *rustParser) match() {
	p.head()
	p.want("{")
	p.inner(func() {
		for p.innerAttributes(); !p.is("}") && !p.end(); {
			p.arm()
		}
	})
	p.want("}")
}

func (p *rustParser) arm() {
	p.attributes()
	p.pattern()
	if p.takeWord("if") {
		p.operandLet()
	}
	p.want("=>")
	if p.startsBlock() {
		p.blockLike()
		if !p.is(".") && !p.is("?") {
			p.take(",")
			return
		}
		p.postfix()
		p.operators(0)
	} else {
		p.expression()
	}
	if !p.take(",") && !p.is("}") {
		p.unexpected("',' or '}' behind the arm")
	}
}

// operandLet reads a guard, which may hold let like a condition but also struct literals.
func (p *rustParser) operandLet() {
	p.operand()
	p.operators(0)
}

func (p *rustParser) expression() {
	p.enter()
	defer p.leave()
	p.attributes()
	p.operand()
	p.operators(0)
}

// Precedences of binary operators.
const (
	rustAssign = iota + 1
	rustRange
	rustOr
	rustAnd
	rustCompare
)

// rustOperators are the binary operators, longer ones before those they begin with.
var rustOperators = [...]struct {
	text       string
	precedence int
}{
	{"<<=", rustAssign},
	{">>=", rustAssign},
	{"...", 0},
	{"..=", rustRange},
	{"..", rustRange},
	{"=>", 0},
	{"->", 0},
	{"&&", rustAnd},
	{"||", rustOr},
	{"==", rustCompare},
	{"!=", rustCompare},
	{"<=", rustCompare},
	{">=", rustCompare},
	{"<<", 9},
	{">>", 9},
	{"+=", rustAssign},
	{"-=", rustAssign},
	{"*=", rustAssign},
	{"/=", rustAssign},
	{"%=", rustAssign},
	{"^=", rustAssign},
	{"&=", rustAssign},
	{"|=", rustAssign},
	{"=", rustAssign},
	{"<", rustCompare},
	{">", rustCompare},
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
func (p *rustParser) operator() (string, int) {
	if p.kind() == lexName && p.text() == "as" {
		return "as", 12
	}
	if p.kind() != lexPunct {
		return "", 0
	}
	for _, o := range rustOperators {
		if o.text[0] == p.src[p.tokens[p.pos].start] && p.is(o.text) {
			return o.text, o.precedence
		}
	}
	return "", 0
}

// operators reads binary operators of at least this precedence, with their right sides.
func (p *rustParser) operators(least int) {
	ranged := false
	for {
		op, precedence := p.operator()
		if precedence == 0 || precedence < least || precedence == rustRange && ranged {
			return
		}
		if op == "as" {
			p.next()
			p.typeNoBounds()
			continue
		}
		p.take(op)
		switch precedence {
		case rustAssign:
			p.right(rustAssign)
		case rustRange:
			ranged = true
			if op == "..=" || p.startsOperand() || p.is("..") {
				p.right(rustOr)
			}
		case rustCompare:
			p.right(rustCompare + 1)
			if next, again := p.operator(); again == rustCompare {
				p.fail(p.tokens[p.pos].start, "'%s' cannot follow another comparison without brackets", next)
			}
		default:
			p.right(precedence + 1)
		}
	}
}

// right reads the right side of an operator.
func (p *rustParser) right(least int) {
	p.enter()
	defer p.leave()
	p.operand()
	p.operators(least)
}

// startsOperand reports whether an expression can begin here.
func (p *rustParser) startsOperand() bool {
	switch p.kind() {
	case lexNumber, lexString, lexLifetime:
		return true
	case lexName:
		return !p.oneOf("as else in where mut ref")
	case lexPunct:
		return p.is("(") || p.is("[") || p.is("{") && !p.noStruct || p.is("-") || p.is("!") || p.is("*") || p.is("&") || p.is("|") || p.is("<") || p.is("::")
	}
	return false
}

// operand reads an expression without binary operators.
func (p *rustParser) operand() {
	p.enter()
	defer p.leave()
	switch {
	case p.is("..") && !p.is("..."):
		inclusive := p.take("..=") || !p.take("..")
		if inclusive || p.startsOperand() || p.is("..") {
			p.right(rustOr)
		}
	case p.is("-"), p.is("!"), p.is("*"):
		p.next()
		p.operand()
	case p.take("&"):
		p.take("&")
		if p.word("raw") && (p.wordAt(1, "const") || p.wordAt(1, "mut")) {
			p.next()
			p.next()
		}
		p.takeWord("mut")
		p.operand()
	case p.is("|"), p.oneOf("move static"), p.word("async") && !p.startsBlock(), p.word("for") && p.isAt(1, "<"):
		p.closure()
	case p.takeWord("let"):
		p.pattern()
		p.want("=")
		p.right(rustCompare)
	case p.takeWord("return"), p.takeWord("yield"), p.takeWord("become"):
		p.optional()
	case p.takeWord("break"):
		if p.kind() == lexLifetime && !p.isAt(1, ":") {
			p.next()
		}
		p.optional()
	case p.takeWord("continue"):
		if p.kind() == lexLifetime {
			p.next()
		}
	default:
		p.primary()
		p.postfix()
	}
}

func (p *rustParser) optional() {
	if p.startsOperand() || p.is("..") {
		p.right(0)
	}
}

func (p *rustParser) closure() {
	p.higherRanked()
	for p.oneOf("static async move") {
		p.next()
	}
	if !p.take("||") {
		p.want("|")
		p.list("|", func() {
			p.attributes()
			p.onePattern()
			if p.take(":") {
				p.typ()
			}
		})
	}
	if p.take("->") {
		p.typeNoBounds()
		p.block()
		return
	}
	p.right(0)
}

func (p *rustParser) primary() {
	switch {
	case p.kind() == lexNumber, p.kind() == lexString:
		p.next()
	case p.startsBlock():
		p.blockLike()
	case p.take("("):
		p.inner(func() { p.list(")", p.expression) })
	case p.take("["):
		p.inner(p.array)
	case p.is("::"), p.is("<"), p.kind() == lexName:
		p.pathExpression()
	default:
		p.unexpected("an expression")
	}
}

// array reads [a, b] or [a; n] behind its bracket.
func (p *rustParser) array() {
	if p.take("]") {
		return
	}
	p.expression()
	if p.take(";") {
		p.expression()
		p.want("]")
		return
	}
	if p.take(",") {
		p.list("]", p.expression)
		return
	}
	p.want("]")
}

func (p *rustParser) pathExpression() {
	if p.takeWord("true") || p.takeWord("false") || p.takeWord("_") {
		return
	}
	if p.word("builtin") && p.isAt(1, "#") {
		p.next()
		p.next()
		p.next()
		p.macroGroup()
		return
	}
	p.path(true)
	switch {
	case p.is("!") && !p.is("!=") && (p.isAt(1, "(") || p.isAt(1, "[") || p.isAt(1, "{")):
		p.next()
		p.macroGroup()
	case p.is("{") && !p.noStruct:
		p.next()
		p.inner(func() { p.list("}", p.structField) })
	}
}

func (p *rustParser) structField() {
	p.attributes()
	if p.take("..") {
		if !p.is("}") {
			p.expression()
		}
		return
	}
	if p.kind() != lexNumber {
		p.name()
	} else {
		p.next()
	}
	if p.take(":") {
		p.expression()
	}
}

// postfix reads what is applied to an expression: calls, fields, indexes, ?.
func (p *rustParser) postfix() {
	for {
		switch {
		case p.take("?"):
		case p.take("("):
			p.inner(func() { p.list(")", p.expression) })
		case p.take("["):
			p.inner(p.expression)
			p.want("]")
		case p.is(".") && !p.is(".."):
			p.next()
			p.selector()
		default:
			return
		}
	}
}

func (p *rustParser) selector() {
	switch {
	case p.takeWord("await"):
	case p.kind() == lexNumber:
		p.next()
	case p.kind() == lexName && !hasWord(rustKeywords, p.text()):
		p.next()
		if p.is("::") {
			p.take("::")
			p.genericArguments()
		}
	default:
		p.unexpected("a field or method")
	}
}
