package code

import "strings"

// rustParser reads Rust as rustc's parser does, macros as trees of tokens. What only later stages of the compiler refuse
// is let pass.
type rustParser struct {
	descent
	noStruct  bool // a brace opens a block, as in the head of an if
	items     bool // an item stands at the top level
	fragment  bool // a statement does: the source is a piece of a function
	semicolon *lexeme
}

// Words that are no names of variables, types or functions.
const rustKeywords = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut " +
	"pub ref return self Self static struct super trait true type unsafe use where while " +
	"abstract become box do final override priv try typeof unsized virtual yield"

// rustSyntax checks a file, or what documentation shows of one: statements beside items, as in the examples that rustdoc
// runs. As there, a source with a main function is a file.
func rustSyntax(src string) ([]Problem, bool) {
	if len(src) > maxSource {
		return nil, false
	}
	l := lexRust(src)
	if l.problem != nil {
		return l.verdict()
	}
	p := &rustParser{descent: l.descent}
	if p.hasMain() {
		p.members(lexEOF)
	} else {
		p.fragments()
	}
	return p.verdict()
}

// fragments reads items and statements. A semicolon between items is an error, and so is a lone name behind them: both
// are what is left of something else.
func (p *rustParser) fragments() {
	for p.innerAttributes(); !p.end(); {
		start := p.at(0)
		p.attributes()
		switch {
		case p.end():
			p.unexpected("what the attribute is for")
		case p.is(";"):
			if p.semicolon == nil {
				p.semicolon = &start
			}
			p.next()
		case p.word("pub"), p.isItem():
			p.items = true
			p.member()
		case p.items && p.kind() == lexName && (p.at(1).kind == lexEOF || p.isAt(1, ";")):
			p.unexpected("an item")
		default:
			p.fragment = p.fragment || !p.isMacro()
			p.statement()
		}
	}
	p.undocumented()
	if p.semicolon != nil && !p.fragment {
		p.fail(p.semicolon.start, "want an item, found \";\"")
	}
}

// undocumented refuses a documentation comment with nothing behind it.
func (p *rustParser) undocumented() {
	if t := p.at(0); t.documented {
		p.fail(t.start, "a documentation comment with nothing behind it")
	}
}

// hasMain reports whether a function main stands outside of all brackets.
func (p *rustParser) hasMain() bool {
	for i := 0; i+1 < len(p.tokens); i++ {
		if m := p.tokens[i].mate; m > i {
			i = m
			continue
		}
		if t, u := p.tokens[i], p.tokens[i+1]; t.kind == lexName && p.src[t.start:t.end] == "fn" && p.src[u.start:u.end] == "main" {
			return true
		}
	}
	return false
}

// name reads a name that is no keyword.
func (p *rustParser) name() {
	if p.kind() != lexName || hasWord(rustKeywords, p.text()) {
		p.unexpected("a name")
		return
	}
	p.next()
}

// visibility reads pub, pub(crate), pub(in path).
func (p *rustParser) visibility() {
	if p.takeWord("pub") && p.is("(") && p.at(1).kind == lexName && hasWord("crate self super in", p.textAt(1)) {
		p.skipGroup()
	}
}

// isItem reports whether an item begins here, its attributes and visibility read already.
func (p *rustParser) isItem() bool {
	if p.kind() != lexName {
		return false
	}
	after := p.textAt(1)
	switch p.text() {
	case "fn", "struct", "enum", "trait", "mod", "use", "type", "static", "impl":
		return true
	case "const":
		return after != "{" && after != "|" && after != "||" && after != "move"
	case "extern":
		return true
	case "unsafe":
		return after != "{"
	case "async":
		return after == "fn" || after == "unsafe" || after == "extern"
	case "union", "auto", "default", "safe":
		return p.at(1).kind == lexName && after != "as"
	case "macro_rules":
		return after == "!"
	case "macro":
		return p.at(1).kind == lexName
	}
	return false
}

func (p *rustParser) item() {
	p.enter()
	defer p.leave()
	for p.oneOf("default safe unsafe async auto") || p.word("const") && hasWord("fn unsafe async extern", p.textAt(1)) ||
		p.word("extern") && (p.at(1).kind == lexString && !p.isAt(2, "{") || p.wordAt(1, "fn")) {
		if p.next(); p.kind() == lexString {
			p.next()
		}
	}
	switch {
	case p.takeWord("fn"):
		p.function()
	case p.takeWord("struct"), p.takeWord("union"):
		p.structure()
	case p.takeWord("enum"):
		p.enumeration()
	case p.takeWord("trait"):
		p.trait()
	case p.takeWord("impl"):
		p.implementation()
	case p.takeWord("mod"):
		p.module()
	case p.takeWord("use"):
		p.useTree()
		p.want(";")
	case p.takeWord("type"):
		p.typeAlias()
	case p.takeWord("const"), p.takeWord("static"):
		p.constant()
	case p.takeWord("extern"):
		p.external()
	case p.word("macro_rules"), p.word("macro"):
		p.macroRules()
	default:
		p.unexpected("an item")
	}
}

func (p *rustParser) module() {
	p.name()
	if !p.take(";") {
		p.body()
	}
}

// body reads items between braces.
func (p *rustParser) body() {
	p.want("{")
	p.members(lexPunct)
	p.want("}")
}

// members reads items up to the closing brace, or to the end.
func (p *rustParser) members(end lexemeKind) {
	for p.innerAttributes(); !p.end() && (end == lexEOF || !p.is("}")); {
		p.member()
	}
	p.undocumented()
}

// member reads an item of a module, trait, impl or extern block; a macro may stand for some.
func (p *rustParser) member() {
	p.attributes()
	p.visibility()
	switch {
	case p.isItem():
		p.item()
	case p.isMacro():
		p.path(true)
		p.want("!")
		braces := p.is("{")
		p.macroGroup()
		if !braces {
			p.want(";")
		}
	default:
		p.unexpected("an item")
	}
}

func (p *rustParser) external() {
	if p.takeWord("crate") {
		if !p.takeWord("self") {
			p.name()
		}
		if p.takeWord("as") {
			p.name()
		}
		p.want(";")
		return
	}
	if p.kind() == lexString {
		p.next()
	}
	p.body()
}

// useTree reads a::{b, c as d, e::*}.
func (p *rustParser) useTree() {
	p.enter()
	defer p.leave()
	p.take("::")
	for {
		switch {
		case p.take("*"):
			return
		case p.take("{"):
			p.list("}", p.useTree)
			return
		case p.kind() != lexName:
			p.unexpected("a name")
			return
		}
		p.next()
		if !p.take("::") {
			break
		}
	}
	if p.takeWord("as") {
		p.name()
	}
}

func (p *rustParser) typeAlias() {
	p.name()
	p.generics()
	if p.take(":") {
		p.bounds()
	}
	p.where()
	if p.take("=") {
		p.typ()
	}
	p.where()
	p.want(";")
}

func (p *rustParser) constant() {
	p.takeWord("mut")
	if !p.takeWord("_") {
		p.name()
	}
	p.generics()
	if p.take(":") {
		p.typ()
	}
	if p.take("=") {
		p.expression()
	}
	p.where()
	p.want(";")
}

func (p *rustParser) function() {
	p.name()
	p.generics()
	p.want("(")
	p.list(")", p.parameter)
	if p.take("->") {
		p.typ()
	}
	p.where()
	if p.take(";") {
		return
	}
	p.block()
}

// parameter reads pattern: type, the forms of self, or in a trait of the old days the type alone.
func (p *rustParser) parameter() {
	p.attributes()
	if p.take("...") {
		return
	}
	start := p.pos
	if p.take("&") {
		if p.kind() == lexLifetime {
			p.next()
		}
	}
	p.takeWord("mut")
	if p.takeWord("self") {
		if p.take(":") {
			p.typ()
		}
		return
	}
	p.pos = start
	p.pattern()
	p.want(":")
	if p.take("...") {
		return
	}
	p.typ()
}

func (p *rustParser) structure() {
	p.name()
	p.generics()
	p.where()
	switch {
	case p.take(";"):
	case p.take("("):
		p.list(")", p.tupleField)
		p.where()
		p.want(";")
	default:
		p.want("{")
		p.list("}", p.field)
	}
}

func (p *rustParser) tupleField() {
	p.attributes()
	p.visibility()
	p.typ()
}

func (p *rustParser) field() {
	p.attributes()
	p.visibility()
	p.name()
	p.want(":")
	p.typ()
	if p.take("=") {
		p.expression()
	}
}

func (p *rustParser) enumeration() {
	p.name()
	p.generics()
	p.where()
	p.want("{")
	p.list("}", func() {
		p.attributes()
		p.visibility()
		p.name()
		switch {
		case p.take("("):
			p.list(")", p.tupleField)
		case p.take("{"):
			p.list("}", p.field)
		}
		if p.take("=") {
			p.expression()
		}
	})
}

func (p *rustParser) trait() {
	p.name()
	p.generics()
	if p.take(":") {
		p.bounds()
	}
	if p.take("=") {
		p.bounds()
		p.where()
		p.want(";")
		return
	}
	p.where()
	p.body()
}

func (p *rustParser) implementation() {
	if p.is("<") && !p.isAt(0, "<<") && p.opensGenerics() {
		p.generics()
	}
	p.takeWord("const")
	p.take("!")
	p.typ()
	if p.takeWord("for") {
		p.typ()
	}
	p.where()
	p.body()
}

// opensGenerics tells the parameters of an impl from a qualified path, impl<T> A from impl <T as B>::C.
func (p *rustParser) opensGenerics() bool {
	after := p.at(2)
	text := p.src[after.start:after.end]
	return p.isAt(1, ">") || p.isAt(1, "#") || p.at(1).kind == lexLifetime || p.wordAt(1, "const") || strings.Contains(",:>=", text)
}
