package code

import "strings"

// isElementary reports whether a word is a type of the language: uint256, bytes32, address.
func isElementary(word string) bool {
	if hasWord("address bool string bytes byte fixed ufixed", word) {
		return true
	}
	for _, base := range [...]string{"uint", "int", "bytes", "ufixed", "fixed"} {
		if size, ok := strings.CutPrefix(word, base); ok && strings.Trim(size, "0123456789x") == "" {
			return true
		}
	}
	return false
}

// typeLength is how many tokens ahead a type ends that begins here; 0 when none does.
func (p *solParser) typeLength() int {
	n := 1
	switch {
	case p.kind() != lexName:
		return 0
	case p.oneOf("mapping function") && p.isAt(1, "("):
		n = p.at(1).mate - p.pos + 1
		for p.word("function") && p.at(n).kind == lexName && hasWord("external internal public private pure view payable returns", p.textAt(n)) {
			returns := p.wordAt(n, "returns")
			if n++; returns && p.isAt(n, "(") {
				n = p.at(n).mate - p.pos + 1
			}
		}
	case isElementary(p.text()):
		if p.wordAt(1, "payable") {
			n++
		}
	case hasWord(solKeywords, p.text()):
		return 0
	default:
		for p.isAt(n, ".") && p.at(n+1).kind == lexName {
			n += 2
		}
	}
	for p.isAt(n, "[") {
		n = p.at(n).mate - p.pos + 1
	}
	return n
}

func (p *solParser) typ() {
	p.enter()
	defer p.leave()
	switch {
	case p.takeWord("mapping"):
		p.mapping()
	case p.takeWord("function"):
		p.functionType()
	case p.kind() == lexName && isElementary(p.text()):
		p.next()
		p.takeWord("payable")
	default:
		p.path()
	}
	for p.take("[") {
		if !p.is("]") {
			p.expression()
		}
		p.want("]")
	}
}

func (p *solParser) mapping() {
	p.want("(")
	p.typ()
	if p.kind() == lexName {
		p.name()
	}
	p.want("=>")
	p.typ()
	if p.kind() == lexName {
		p.name()
	}
	p.want(")")
}

func (p *solParser) functionType() {
	p.parameters()
	for p.oneOf("external internal public private pure view payable constant") && !(p.oneOf("public private internal constant") && p.at(1).kind == lexName && !p.oneOf("pure view payable returns") && !isFunctionWord(p.textAt(1))) {
		p.next()
	}
	if p.takeWord("returns") {
		p.parameters()
	}
}

// isFunctionWord reports whether a word can go on with the type of a function.
func isFunctionWord(word string) bool {
	return hasWord("external internal public private pure view payable returns constant", word)
}

// Precedences of binary operators; assignments and the question mark come before all of them.
var solOperators = [...]struct {
	text       string
	precedence int
}{
	{">>>=", -1},
	{"<<=", -1},
	{">>=", -1},
	{">>>", 7},
	{"=>", 0},
	{"->", 0},
	{"++", 0},
	{"--", 0},
	{"**", 11},
	{"||", 1},
	{"&&", 2},
	{"==", 3},
	{"!=", 3},
	{"<=", 4},
	{">=", 4},
	{"<<", 8},
	{">>", 8},
	{"|=", -1},
	{"^=", -1},
	{"&=", -1},
	{"+=", -1},
	{"-=", -1},
	{"*=", -1},
	{"/=", -1},
	{"%=", -1},
	{"=", -1},
	{"<", 4},
	{">", 4},
	{"|", 5},
	{"^", 6},
	{"&", 7},
	{"+", 9},
	{"-", 9},
	{"*", 10},
	{"/", 10},
	{"%", 10},
}

func (p *solParser) operator() (string, int) {
	if p.kind() != lexPunct {
		return "", 0
	}
	for _, o := range solOperators {
		if o.text[0] == p.src[p.tokens[p.pos].start] && p.is(o.text) {
			return o.text, o.precedence
		}
	}
	return "", 0
}

// expression reads an assignment, a choice or less.
func (p *solParser) expression() {
	p.enter()
	defer p.leave()
	p.binary(1)
	if p.take("?") {
		p.expression()
		p.want(":")
		p.expression()
		return
	}
	if op, precedence := p.operator(); precedence < 0 {
		p.take(op)
		p.expression()
	}
}

func (p *solParser) binary(least int) {
	p.enter()
	defer p.leave()
	p.unary()
	for {
		op, precedence := p.operator()
		if precedence < least {
			return
		}
		p.take(op)
		p.binary(precedence + 1)
	}
}

func (p *solParser) unary() {
	p.enter()
	defer p.leave()
	if p.take("++") || p.take("--") || p.take("!") || p.take("~") || p.take("-") || p.takeWord("delete") {
		p.unary()
		return
	}
	p.primary()
	p.postfix()
}

func (p *solParser) postfix() {
	for {
		switch {
		case p.take("++"), p.take("--"):
		case p.take("("):
			p.arguments()
		case p.is("{") && p.isOptions():
			p.next()
			p.commas("}", p.namedArgument)
		case p.take("["):
			p.index()
		case p.take("."):
			if p.kind() != lexName {
				p.unexpected("a member")
				return
			}
			p.next()
		default:
			return
		}
	}
}

// isOptions reports whether the brace here holds options of a call: f{value: 1}(…).
func (p *solParser) isOptions() bool {
	return p.isAt(1, "}") && p.isAt(2, "(") || p.at(1).kind == lexName && p.isAt(2, ":") && !p.isAt(2, ":=")
}

func (p *solParser) namedArgument() {
	p.name()
	p.want(":")
	p.expression()
}

// arguments reads what stands behind the opening bracket of a call.
func (p *solParser) arguments() {
	if p.take("{") {
		p.commas("}", p.namedArgument)
		p.want(")")
		return
	}
	p.commas(")", p.expression)
}

// index reads a[i], a[i:j] and, as a type, a[].
func (p *solParser) index() {
	if !p.is(":") && !p.is("]") {
		p.expression()
	}
	if p.take(":") && !p.is("]") {
		p.expression()
	}
	p.want("]")
}

func (p *solParser) primary() {
	switch {
	case p.kind() == lexNumber:
		p.next()
		if p.oneOf("wei gwei ether szabo finney seconds minutes hours days weeks years") {
			p.next()
		}
	case p.kind() == lexString:
		for p.kind() == lexString {
			p.next()
		}
	case p.takeWord("new"):
		p.typ()
	case p.oneOf("true false this super payable"):
		p.next()
	case p.word("type") && p.isAt(1, "("):
		p.next()
		p.next()
		p.typ()
		p.want(")")
	case p.kind() == lexName && isElementary(p.text()):
		p.next()
		p.takeWord("payable")
	case p.take("("):
		p.tuple()
	case p.take("["):
		p.commas("]", p.expression)
	case p.kind() == lexName:
		p.name()
	default:
		p.unexpected("an expression")
	}
}

// tuple reads (a, , b).
func (p *solParser) tuple() {
	for !p.is(")") && !p.end() {
		if !p.is(",") {
			p.expression()
		}
		if !p.take(",") {
			break
		}
	}
	p.want(")")
}
