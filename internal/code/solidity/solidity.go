// Package solidity parses Solidity, reads its imports and calls, and asks solc where that is configured.
package solidity

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// parser reads Solidity as solc does up to parsing: what only later stages refuse is let pass.
type parser struct{ descent.Parser }

// Words that are no names. Those that have a meaning in some places only, such as from and error, are names.
const keywords = "abstract address anonymous as assembly bool break bytes calldata case catch constant constructor continue contract default " +
	"delete do else emit enum event external fallback false final fixed for function hex if immutable implements import in indexed " +
	"interface internal is let library macro mapping match memory modifier mutable new null of override partial payable pragma private " +
	"promise public pure receive reference relocatable return returns sealed sizeof static storage string struct super switch this throw true try " +
	"type typedef typeof ufixed unchecked unicode using var view virtual while"

const puncts = "()[]{}<>=+-*/%&|^!~?.,;:"

// Check checks a file, or what documentation shows of one: members of a contract, or statements. A source with a
// contract is a file.
func Check(src string) ([]source.Problem, bool) {
	if len(src) > source.MaxSource {
		return nil, false
	}
	l := &descent.Lexer{Parser: descent.Parser{Src: src}, Literal: literal, Puncts: puncts}
	l.LexAll()
	if l.Problem != nil {
		return l.Verdict()
	}
	p := &parser{l.Parser}
	file := p.hasContract()
	for !p.End() {
		switch {
		case p.isUnit():
			p.unit()
		case file:
			p.Unexpected("a contract, interface, library, function or definition")
		case p.isMember():
			p.member()
		default:
			p.statement()
		}
	}
	return p.Verdict()
}

func literal(l *descent.Lexer, rest string) (descent.Kind, int) {
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		return descent.String, l.QuotedLength(rest, 0, false)
	case source.IsIdentStart(c) && c < 0x80:
		n := 0
		for n < len(rest) && source.IsIdentPart(rest[n]) && rest[n] < 0x80 {
			n++
		}
		if prefix := rest[:n]; (prefix == "hex" || prefix == "unicode") && n < len(rest) && (rest[n] == '"' || rest[n] == '\'') {
			return prefixed(l, rest, n)
		}
		return descent.Name, n
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return number(l, rest)
	}
	return descent.Punct, 0
}

// prefixed reads hex"…" and unicode"…".
func prefixed(l *descent.Lexer, rest string, n int) (descent.Kind, int) {
	length := l.QuotedLength(rest, n, false)
	if length > 0 && rest[:n] == "hex" {
		digits := strings.ReplaceAll(rest[n+1:length-1], "_", "")
		if len(digits)%2 != 0 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
			l.Stop(l.Off, "want pairs of hexadecimal digits")
			return descent.String, 0
		}
	}
	return descent.String, length
}

// number reads a number: 0x1f, 1_000, .5, 1e-10.
func number(l *descent.Lexer, rest string) (descent.Kind, int) {
	n := 0
	for n < len(rest) {
		c := rest[n]
		switch {
		case source.IsIdentPart(c) && c < 0x80:
		case c == '.' && n+1 < len(rest) && rest[n+1] >= '0' && rest[n+1] <= '9' && !strings.Contains(rest[:n], "."):
		case c == '-' && rest[n-1]|0x20 == 'e' && !strings.HasPrefix(rest, "0x"):
		default:
			return descent.Number, numberLength(l, rest, n)
		}
		n++
	}
	return descent.Number, numberLength(l, rest, n)
}

func numberLength(l *descent.Lexer, rest string, n int) int {
	text, hex := strings.CutPrefix(rest[:n], "0x")
	digits := "0123456789_.eE-"
	if hex {
		digits = "0123456789abcdefABCDEF_"
	}
	if text == "" || strings.Trim(text, digits) != "" || strings.Contains(text, "__") || strings.HasSuffix(text, "_") || !hex && strings.HasSuffix(text, "e") {
		l.Stop(l.Off, "invalid number %s", source.Clip(rest[:n]))
		return 0
	}
	return n
}

// hasContract reports whether a contract stands outside of all brackets.
func (p *parser) hasContract() bool {
	for i := 0; i+1 < len(p.Tokens); i++ {
		t := p.Tokens[i]
		if t.Mate > i {
			i = t.Mate
			continue
		}
		if t.Kind == descent.Name && source.HasWord("contract interface library", p.Src[t.Start:t.End]) && p.Tokens[i+1].Kind == descent.Name {
			return true
		}
	}
	return false
}

func (p *parser) name() {
	if p.Kind() != descent.Name || source.HasWord(keywords, p.Text()) || isElementary(p.Text()) {
		p.Unexpected("a name")
		return
	}
	p.Next()
}

// path reads a.b.c.
func (p *parser) path() {
	p.name()
	for p.Take(".") {
		if p.Kind() != descent.Name {
			p.Unexpected("a name")
			return
		}
		p.Next()
	}
}

// isUnit reports whether something that may stand outside of contracts begins here.
func (p *parser) isUnit() bool {
	if p.OneOf("pragma import abstract contract interface library struct enum using type function") {
		return !p.Word("type") || p.At(1).Kind == descent.Name
	}
	return p.OneOf("error event") && p.At(1).Kind == descent.Name && p.IsAt(2, "(") || p.isConstant()
}

// isConstant reports whether a constant is declared here; outside of contracts there are no other variables.
func (p *parser) isConstant() bool {
	n := p.typeLength()
	return n > 0 && p.WordAt(n, "constant")
}

func (p *parser) unit() {
	p.Enter()
	defer p.Leave()
	switch {
	case p.TakeWord("pragma"):
		p.pragma()
	case p.TakeWord("import"):
		p.imports()
	case p.OneOf("abstract contract interface library"):
		p.contract()
	case p.isConstant():
		p.variable()
	default:
		p.member()
	}
}

// pragma reads a directive; of that for the compiler's version, which most files have, also what it says.
func (p *parser) pragma() {
	if p.TakeWord("solidity") {
		versions := 0
		for !p.Is(";") && !p.End() {
			switch {
			case p.Kind() == descent.Number:
				versions++
			case p.Is(".") && (p.WordAt(1, "x") || p.WordAt(1, "X") || p.IsAt(1, "*")):
				p.Next()
			case p.Is("^"), p.Is("~"), p.Is("<"), p.Is(">"), p.Is("="), p.Is("|"), p.Is("-"), p.Is("*"):
			default:
				p.Unexpected("a version")
			}
			p.Next()
		}
		if versions == 0 {
			p.Unexpected("a version")
		}
	}
	for !p.Is(";") && !p.End() {
		p.Next()
	}
	p.Want(";")
}

func (p *parser) imports() {
	switch {
	case p.Kind() == descent.String:
		p.Next()
		if p.TakeWord("as") {
			p.name()
		}
	default:
		if p.Take("*") {
			p.WantWord("as")
			p.name()
		} else {
			p.Want("{")
			p.List("}", func() {
				p.name()
				if p.TakeWord("as") {
					p.name()
				}
			})
		}
		p.WantWord("from")
		p.str()
	}
	p.Want(";")
}

func (p *parser) str() {
	if p.Kind() != descent.String {
		p.Unexpected("a string")
		return
	}
	p.Next()
}

func (p *parser) contract() {
	if p.TakeWord("abstract") && !p.Word("contract") {
		p.Unexpected("contract behind abstract")
	}
	p.Next()
	p.name()
	for p.OneOf("is layout") {
		if p.TakeWord("layout") {
			p.WantWord("at")
			p.expression()
			continue
		}
		p.Next()
		for {
			p.path()
			if p.Take("(") {
				p.arguments()
			}
			if !p.Take(",") {
				break
			}
		}
	}
	p.Want("{")
	for !p.Is("}") && !p.End() {
		p.member()
	}
	p.Want("}")
}

// isMember reports whether a member of a contract begins here, other than a variable, which reads like a statement.
func (p *parser) isMember() bool {
	if p.OneOf("function modifier struct enum using constructor") {
		return true
	}
	if p.OneOf("fallback receive") && p.IsAt(1, "(") || p.OneOf("event error") && p.At(1).Kind == descent.Name {
		return true
	}
	n := p.typeLength()
	return n > 0 && p.At(n).Kind == descent.Name && source.HasWord("public private internal constant immutable override transient", p.TextAt(n))
}

func (p *parser) member() {
	p.Enter()
	defer p.Leave()
	switch {
	case p.Word("function") && p.IsAt(1, "("): // a variable that holds a function
		p.variable()
	case p.OneOf("function constructor"):
		p.function()
	case p.OneOf("fallback receive") && p.IsAt(1, "("):
		p.function()
	case p.TakeWord("modifier"):
		p.modifier()
	case p.TakeWord("struct"):
		p.name()
		p.Want("{")
		for !p.Is("}") && !p.End() {
			p.typ()
			p.name()
			p.Want(";")
		}
		p.Want("}")
	case p.TakeWord("enum"):
		p.name()
		p.Want("{")
		p.commas("}", p.name)
	case p.Word("event") || p.Word("error") && p.At(1).Kind == descent.Name && p.IsAt(2, "("):
		p.Next()
		p.name()
		p.parameters()
		p.TakeWord("anonymous")
		p.Want(";")
	case p.TakeWord("using"):
		p.using()
	case p.Word("type") && p.At(1).Kind == descent.Name:
		p.Next()
		p.name()
		p.WantWord("is")
		p.typ()
		p.Want(";")
	default:
		p.variable()
	}
}

// commas reads elements with a comma between them and none behind the last, up to the closing bracket and over it.
func (p *parser) commas(closing string, element func()) {
	if p.Take(closing) {
		return
	}
	element()
	for p.Take(",") {
		element()
	}
	p.Want(closing)
}

func (p *parser) using() {
	if p.Take("{") {
		p.commas("}", func() {
			p.path()
			if p.TakeWord("as") {
				for p.Kind() == descent.Punct && !p.Is(",") && !p.Is("}") {
					p.Next()
				}
			}
		})
	} else {
		p.path()
	}
	p.WantWord("for")
	if !p.Take("*") {
		p.typ()
	}
	p.TakeWord("global")
	p.Want(";")
}

func (p *parser) modifier() {
	p.name()
	if p.Is("(") {
		p.parameters()
	}
	for p.OneOf("virtual override") {
		p.override()
	}
	if !p.Take(";") {
		p.block()
	}
}

func (p *parser) override() {
	if p.TakeWord("override") && p.Take("(") {
		p.commas(")", p.path)
		return
	}
	p.TakeWord("virtual")
}

func (p *parser) function() {
	if p.TakeWord("function") {
		if p.OneOf("fallback receive") {
			p.Next()
		} else {
			p.name()
		}
	} else {
		p.Next()
	}
	p.parameters()
	seen := map[string]bool{}
	for !p.Is("{") && !p.Is(";") && !p.End() {
		switch {
		case p.OneOf("external public internal private"):
			p.once(seen, "visibility")
		case p.OneOf("pure view payable constant"):
			p.once(seen, "mutability")
		case p.Word("virtual"):
			p.once(seen, "virtual")
		case p.Word("override"):
			p.override()
		case p.TakeWord("returns"):
			p.parameters()
		default:
			p.path()
			if p.Take("(") {
				p.arguments()
			}
		}
	}
	if !p.Take(";") {
		p.block()
	}
}

// once takes a word that may stand only once.
func (p *parser) once(seen map[string]bool, what string) {
	if seen[what] {
		p.Fail(p.At(0).Start, "the %s is given twice", what)
		return
	}
	seen[what] = true
	p.Next()
}

// parameters reads (type location name, …).
func (p *parser) parameters() {
	p.Want("(")
	p.commas(")", func() {
		p.typ()
		if p.OneOf("memory storage calldata indexed") {
			p.Next()
		}
		if p.Kind() == descent.Name {
			p.name()
		}
	})
}

// variable reads the declaration of a state variable.
func (p *parser) variable() {
	p.typ()
	for p.OneOf("public private internal constant immutable override") || p.Word("transient") && p.At(1).Kind == descent.Name {
		if p.Word("override") {
			p.override()
		} else {
			p.Next()
		}
	}
	p.name()
	if p.Take("=") {
		p.expression()
	}
	p.Want(";")
}
