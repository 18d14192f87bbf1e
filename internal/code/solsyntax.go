package code

import "strings"

// solParser reads Solidity as solc does up to parsing: what only later stages refuse is let pass.
type solParser struct{ descent }

// Words that are no names. Those that have a meaning in some places only, such as from and error, are names.
const solKeywords = "abstract address anonymous as assembly bool break bytes calldata case catch constant constructor continue contract default " +
	"delete do else emit enum event external fallback false final fixed for function hex if immutable implements import in indexed " +
	"interface internal is let library macro mapping match memory modifier mutable new null of override partial payable pragma private " +
	"promise public pure receive reference relocatable return returns sealed sizeof static storage string struct super switch this throw true try " +
	"type typedef typeof ufixed unchecked unicode using var view virtual while"

const solPuncts = "()[]{}<>=+-*/%&|^!~?.,;:"

// solSyntax checks a file, or what documentation shows of one: members of a contract, or statements. A source with a
// contract is a file.
func solSyntax(src string) ([]Problem, bool) {
	if len(src) > maxSource {
		return nil, false
	}
	l := &lexemes{descent: descent{src: src}, literal: solLiteral, puncts: solPuncts}
	l.lexAll()
	if l.problem != nil {
		return l.verdict()
	}
	p := &solParser{l.descent}
	file := p.hasContract()
	for !p.end() {
		switch {
		case p.isUnit():
			p.unit()
		case file:
			p.unexpected("a contract, interface, library, function or definition")
		case p.isMember():
			p.member()
		default:
			p.statement()
		}
	}
	return p.verdict()
}

func solLiteral(l *lexemes, rest string) (lexemeKind, int) {
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		return lexString, l.quotedLength(rest, 0, false)
	case isIdentStart(c) && c < 0x80:
		n := 0
		for n < len(rest) && isIdentPart(rest[n]) && rest[n] < 0x80 {
			n++
		}
		if prefix := rest[:n]; (prefix == "hex" || prefix == "unicode") && n < len(rest) && (rest[n] == '"' || rest[n] == '\'') {
			return solPrefixed(l, rest, n)
		}
		return lexName, n
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return solNumber(l, rest)
	}
	return lexPunct, 0
}

// solPrefixed reads hex"…" and unicode"…".
func solPrefixed(l *lexemes, rest string, n int) (lexemeKind, int) {
	length := l.quotedLength(rest, n, false)
	if length > 0 && rest[:n] == "hex" {
		digits := strings.ReplaceAll(rest[n+1:length-1], "_", "")
		if len(digits)%2 != 0 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
			l.stop(l.off, "want pairs of hexadecimal digits")
			return lexString, 0
		}
	}
	return lexString, length
}

// solNumber reads a number: 0x1f, 1_000, .5, 1e-10.
func solNumber(l *lexemes, rest string) (lexemeKind, int) {
	n := 0
	for n < len(rest) {
		c := rest[n]
		switch {
		case isIdentPart(c) && c < 0x80:
		case c == '.' && n+1 < len(rest) && rest[n+1] >= '0' && rest[n+1] <= '9' && !strings.Contains(rest[:n], "."):
		case c == '-' && rest[n-1]|0x20 == 'e' && !strings.HasPrefix(rest, "0x"):
		default:
			return lexNumber, solNumberLength(l, rest, n)
		}
		n++
	}
	return lexNumber, solNumberLength(l, rest, n)
}

func solNumberLength(l *lexemes, rest string, n int) int {
	text, hex := strings.CutPrefix(rest[:n], "0x")
	digits := "0123456789_.eE-"
	if hex {
		digits = "0123456789abcdefABCDEF_"
	}
	if text == "" || strings.Trim(text, digits) != "" || strings.Contains(text, "__") || strings.HasSuffix(text, "_") || !hex && strings.HasSuffix(text, "e") {
		l.stop(l.off, "invalid number %s", clip(rest[:n]))
		return 0
	}
	return n
}

// hasContract reports whether a contract stands outside of all brackets.
func (p *solParser) hasContract() bool {
	for i := 0; i+1 < len(p.tokens); i++ {
		t := p.tokens[i]
		if t.mate > i {
			i = t.mate
			continue
		}
		if t.kind == lexName && hasWord("contract interface library", p.src[t.start:t.end]) && p.tokens[i+1].kind == lexName {
			return true
		}
	}
	return false
}

func (p *solParser) name() {
	if p.kind() != lexName || hasWord(solKeywords, p.text()) || isElementary(p.text()) {
		p.unexpected("a name")
		return
	}
	p.next()
}

// path reads a.b.c.
func (p *solParser) path() {
	p.name()
	for p.take(".") {
		if p.kind() != lexName {
			p.unexpected("a name")
			return
		}
		p.next()
	}
}

// isUnit reports whether something that may stand outside of contracts begins here.
func (p *solParser) isUnit() bool {
	if p.oneOf("pragma import abstract contract interface library struct enum using type function") {
		return !p.word("type") || p.at(1).kind == lexName
	}
	return p.oneOf("error event") && p.at(1).kind == lexName && p.isAt(2, "(") || p.isConstant()
}

// isConstant reports whether a constant is declared here; outside of contracts there are no other variables.
func (p *solParser) isConstant() bool {
	n := p.typeLength()
	return n > 0 && p.wordAt(n, "constant")
}

func (p *solParser) unit() {
	p.enter()
	defer p.leave()
	switch {
	case p.takeWord("pragma"):
		p.pragma()
	case p.takeWord("import"):
		p.imports()
	case p.oneOf("abstract contract interface library"):
		p.contract()
	case p.isConstant():
		p.variable()
	default:
		p.member()
	}
}

// pragma reads a directive; of that for the compiler's version, which most files have, also what it says.
func (p *solParser) pragma() {
	if p.takeWord("solidity") {
		versions := 0
		for !p.is(";") && !p.end() {
			switch {
			case p.kind() == lexNumber:
				versions++
			case p.is(".") && (p.wordAt(1, "x") || p.wordAt(1, "X") || p.isAt(1, "*")):
				p.next()
			case p.is("^"), p.is("~"), p.is("<"), p.is(">"), p.is("="), p.is("|"), p.is("-"), p.is("*"):
			default:
				p.unexpected("a version")
			}
			p.next()
		}
		if versions == 0 {
			p.unexpected("a version")
		}
	}
	for !p.is(";") && !p.end() {
		p.next()
	}
	p.want(";")
}

func (p *solParser) imports() {
	switch {
	case p.kind() == lexString:
		p.next()
		if p.takeWord("as") {
			p.name()
		}
	default:
		if p.take("*") {
			p.wantWord("as")
			p.name()
		} else {
			p.want("{")
			p.list("}", func() {
				p.name()
				if p.takeWord("as") {
					p.name()
				}
			})
		}
		p.wantWord("from")
		p.str()
	}
	p.want(";")
}

func (p *solParser) str() {
	if p.kind() != lexString {
		p.unexpected("a string")
		return
	}
	p.next()
}

func (p *solParser) contract() {
	if p.takeWord("abstract") && !p.word("contract") {
		p.unexpected("contract behind abstract")
	}
	p.next()
	p.name()
	for p.oneOf("is layout") {
		if p.takeWord("layout") {
			p.wantWord("at")
			p.expression()
			continue
		}
		p.next()
		for {
			p.path()
			if p.take("(") {
				p.arguments()
			}
			if !p.take(",") {
				break
			}
		}
	}
	p.want("{")
	for !p.is("}") && !p.end() {
		p.member()
	}
	p.want("}")
}

// isMember reports whether a member of a contract begins here, other than a variable, which reads like a statement.
func (p *solParser) isMember() bool {
	if p.oneOf("function modifier struct enum using constructor") {
		return true
	}
	if p.oneOf("fallback receive") && p.isAt(1, "(") || p.oneOf("event error") && p.at(1).kind == lexName {
		return true
	}
	n := p.typeLength()
	return n > 0 && p.at(n).kind == lexName && hasWord("public private internal constant immutable override transient", p.textAt(n))
}

func (p *solParser) member() {
	p.enter()
	defer p.leave()
	switch {
	case p.word("function") && p.isAt(1, "("): // a variable that holds a function
		p.variable()
	case p.oneOf("function constructor"):
		p.function()
	case p.oneOf("fallback receive") && p.isAt(1, "("):
		p.function()
	case p.takeWord("modifier"):
		p.modifier()
	case p.takeWord("struct"):
		p.name()
		p.want("{")
		for !p.is("}") && !p.end() {
			p.typ()
			p.name()
			p.want(";")
		}
		p.want("}")
	case p.takeWord("enum"):
		p.name()
		p.want("{")
		p.commas("}", p.name)
	case p.word("event") || p.word("error") && p.at(1).kind == lexName && p.isAt(2, "("):
		p.next()
		p.name()
		p.parameters()
		p.takeWord("anonymous")
		p.want(";")
	case p.takeWord("using"):
		p.using()
	case p.word("type") && p.at(1).kind == lexName:
		p.next()
		p.name()
		p.wantWord("is")
		p.typ()
		p.want(";")
	default:
		p.variable()
	}
}

// commas reads elements with a comma between them and none behind the last, up to the closing bracket and over it.
func (p *solParser) commas(closing string, element func()) {
	if p.take(closing) {
		return
	}
	element()
	for p.take(",") {
		element()
	}
	p.want(closing)
}

func (p *solParser) using() {
	if p.take("{") {
		p.commas("}", func() {
			p.path()
			if p.takeWord("as") {
				for p.kind() == lexPunct && !p.is(",") && !p.is("}") {
					p.next()
				}
			}
		})
	} else {
		p.path()
	}
	p.wantWord("for")
	if !p.take("*") {
		p.typ()
	}
	p.takeWord("global")
	p.want(";")
}

func (p *solParser) modifier() {
	p.name()
	if p.is("(") {
		p.parameters()
	}
	for p.oneOf("virtual override") {
		p.override()
	}
	if !p.take(";") {
		p.block()
	}
}

func (p *solParser) override() {
	if p.takeWord("override") && p.take("(") {
		p.commas(")", p.path)
		return
	}
	p.takeWord("virtual")
}

func (p *solParser) function() {
	if p.takeWord("function") {
		if p.oneOf("fallback receive") {
			p.next()
		} else {
			p.name()
		}
	} else {
		p.next()
	}
	p.parameters()
	seen := map[string]bool{}
	for !p.is("{") && !p.is(";") && !p.end() {
		switch {
		case p.oneOf("external public internal private"):
			p.once(seen, "visibility")
		case p.oneOf("pure view payable constant"):
			p.once(seen, "mutability")
		case p.word("virtual"):
			p.once(seen, "virtual")
		case p.word("override"):
			p.override()
		case p.takeWord("returns"):
			p.parameters()
		default:
			p.path()
			if p.take("(") {
				p.arguments()
			}
		}
	}
	if !p.take(";") {
		p.block()
	}
}

// once takes a word that may stand only once.
func (p *solParser) once(seen map[string]bool, what string) {
	if seen[what] {
		p.fail(p.at(0).start, "the %s is given twice", what)
		return
	}
	seen[what] = true
	p.next()
}

// parameters reads (type location name, …).
func (p *solParser) parameters() {
	p.want("(")
	p.commas(")", func() {
		p.typ()
		if p.oneOf("memory storage calldata indexed") {
			p.next()
		}
		if p.kind() == lexName {
			p.name()
		}
	})
}

// variable reads the declaration of a state variable.
func (p *solParser) variable() {
	p.typ()
	for p.oneOf("public private internal constant immutable override") || p.word("transient") && p.at(1).kind == lexName {
		if p.word("override") {
			p.override()
		} else {
			p.next()
		}
	}
	p.name()
	if p.take("=") {
		p.expression()
	}
	p.want(";")
}
