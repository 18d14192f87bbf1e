package solidity

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// isElementary reports whether a word is a type of the language: uint256, bytes32, address.
func isElementary(word string) bool {
	if source.HasWord("address bool string bytes byte fixed ufixed", word) {
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
func (p *parser) typeLength() int {
	n := 1
	switch {
	case p.Kind() != descent.Name:
		return 0
	case p.OneOf("mapping function") && p.IsAt(1, "("):
		n = p.At(1).Mate - p.Pos + 1
		for p.Word("function") && p.At(n).Kind == descent.Name && source.HasWord("external internal public private pure view payable returns", p.TextAt(n)) {
			returns := p.WordAt(n, "returns")
			if n++; returns && p.IsAt(n, "(") {
				n = p.At(n).Mate - p.Pos + 1
			}
		}
	case isElementary(p.Text()):
		if p.WordAt(1, "payable") {
			n++
		}
	case source.HasWord(keywords, p.Text()):
		return 0
	default:
		for p.IsAt(n, ".") && p.At(n+1).Kind == descent.Name {
			n += 2
		}
	}
	for p.IsAt(n, "[") {
		n = p.At(n).Mate - p.Pos + 1
	}
	return n
}

func (p *parser) typ() {
	p.Enter()
	defer p.Leave()
	switch {
	case p.TakeWord("mapping"):
		p.mapping()
	case p.TakeWord("function"):
		p.functionType()
	case p.Kind() == descent.Name && isElementary(p.Text()):
		p.Next()
		p.TakeWord("payable")
	default:
		p.path()
	}
	for p.Take("[") {
		if !p.Is("]") {
			p.expression()
		}
		p.Want("]")
	}
}

func (p *parser) mapping() {
	p.Want("(")
	p.typ()
	if p.Kind() == descent.Name {
		p.name()
	}
	p.Want("=>")
	p.typ()
	if p.Kind() == descent.Name {
		p.name()
	}
	p.Want(")")
}

func (p *parser) functionType() {
	p.parameters()
	for p.OneOf("external internal public private pure view payable constant") && !(p.OneOf("public private internal constant") && p.At(1).Kind == descent.Name && !p.OneOf("pure view payable returns") && !isFunctionWord(p.TextAt(1))) {
		p.Next()
	}
	if p.TakeWord("returns") {
		p.parameters()
	}
}

// isFunctionWord reports whether a word can go on with the type of a function.
func isFunctionWord(word string) bool {
	return source.HasWord("external internal public private pure view payable returns constant", word)
}

// Precedences of binary operators; assignments and the question mark come before all of them.
var operators = [...]struct {
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

func (p *parser) operator() (string, int) {
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

// expression reads an assignment, a choice or less.
func (p *parser) expression() {
	p.Enter()
	defer p.Leave()
	p.binary(1)
	if p.Take("?") {
		p.expression()
		p.Want(":")
		p.expression()
		return
	}
	if op, precedence := p.operator(); precedence < 0 {
		p.Take(op)
		p.expression()
	}
}

func (p *parser) binary(least int) {
	p.Enter()
	defer p.Leave()
	p.unary()
	for {
		op, precedence := p.operator()
		if precedence < least {
			return
		}
		p.Take(op)
		p.binary(precedence + 1)
	}
}

func (p *parser) unary() {
	p.Enter()
	defer p.Leave()
	if p.Take("++") || p.Take("--") || p.Take("!") || p.Take("~") || p.Take("-") || p.TakeWord("delete") {
		p.unary()
		return
	}
	p.primary()
	p.postfix()
}

func (p *parser) postfix() {
	for {
		switch {
		case p.Take("++"), p.Take("--"):
		case p.Take("("):
			p.arguments()
		case p.Is("{") && p.isOptions():
			p.Next()
			p.commas("}", p.namedArgument)
		case p.Take("["):
			p.index()
		case p.Take("."):
			if p.Kind() != descent.Name {
				p.Unexpected("a member")
				return
			}
			p.Next()
		default:
			return
		}
	}
}

// isOptions reports whether the brace here holds options of a call: f{value: 1}(…).
func (p *parser) isOptions() bool {
	return p.IsAt(1, "}") && p.IsAt(2, "(") || p.At(1).Kind == descent.Name && p.IsAt(2, ":") && !p.IsAt(2, ":=")
}

func (p *parser) namedArgument() {
	p.name()
	p.Want(":")
	p.expression()
}

// arguments reads what stands behind the opening bracket of a call.
func (p *parser) arguments() {
	if p.Take("{") {
		p.commas("}", p.namedArgument)
		p.Want(")")
		return
	}
	p.commas(")", p.expression)
}

// index reads a[i], a[i:j] and, as a type, a[].
func (p *parser) index() {
	if !p.Is(":") && !p.Is("]") {
		p.expression()
	}
	if p.Take(":") && !p.Is("]") {
		p.expression()
	}
	p.Want("]")
}

func (p *parser) primary() {
	switch {
	case p.Kind() == descent.Number:
		p.Next()
		if p.OneOf("wei gwei ether szabo finney seconds minutes hours days weeks years") {
			p.Next()
		}
	case p.Kind() == descent.String:
		for p.Kind() == descent.String {
			p.Next()
		}
	case p.TakeWord("new"):
		p.typ()
	case p.OneOf("true false this super payable"):
		p.Next()
	case p.Word("type") && p.IsAt(1, "("):
		p.Next()
		p.Next()
		p.typ()
		p.Want(")")
	case p.Kind() == descent.Name && isElementary(p.Text()):
		p.Next()
		p.TakeWord("payable")
	case p.Take("("):
		p.tuple()
	case p.Take("["):
		p.commas("]", p.expression)
	case p.Kind() == descent.Name:
		p.name()
	default:
		p.Unexpected("an expression")
	}
}

// tuple reads (a, , b).
func (p *parser) tuple() {
	for !p.Is(")") && !p.End() {
		if !p.Is(",") {
			p.expression()
		}
		if !p.Take(",") {
			break
		}
	}
	p.Want(")")
}
