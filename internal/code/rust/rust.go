// Package rust parses Rust, reads its imports and calls, and asks rustfmt where that is configured.
package rust

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// parser reads Rust as rustc's parser does, macros as trees of tokens. What only later stages of the compiler refuse
// is let pass.
type parser struct {
	descent.Parser
	noStruct  bool // a brace opens a block, as in the head of an if
	items     bool // an item stands at the top level
	fragment  bool // a statement does: the source is a piece of a function
	semicolon *descent.Token
}

// Words that are no names of variables, types or functions.
const keywords = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut " +
	"pub ref return self Self static struct super trait true type unsafe use where while " +
	"abstract become box do final override priv try typeof unsized virtual yield"

// Check checks a file, or what documentation shows of one: statements beside items, as in the examples that rustdoc
// runs. As there, a source with a main function is a file.
func Check(src string) ([]source.Problem, bool) {
	if len(src) > source.MaxSource {
		return nil, false
	}
	l := lexRust(src)
	if l.Problem != nil {
		return l.Verdict()
	}
	p := &parser{Parser: l.Parser}
	if p.hasMain() {
		p.members(descent.EOF)
	} else {
		p.fragments()
	}
	return p.Verdict()
}

// fragments reads items and statements. A semicolon between items is an error, and so is a lone name behind them: both
// are what is left of something else.
func (p *parser) fragments() {
	for p.innerAttributes(); !p.End(); {
		start := p.At(0)
		p.attributes()
		switch {
		case p.End():
			p.Unexpected("what the attribute is for")
		case p.Is(";"):
			if p.semicolon == nil {
				p.semicolon = &start
			}
			p.Next()
		case p.Word("pub"), p.isItem():
			p.items = true
			p.member()
		case p.items && p.Kind() == descent.Name && (p.At(1).Kind == descent.EOF || p.IsAt(1, ";")):
			p.Unexpected("an item")
		default:
			p.fragment = p.fragment || !p.isMacro()
			p.statement()
		}
	}
	p.undocumented()
	if p.semicolon != nil && !p.fragment {
		p.Fail(p.semicolon.Start, "want an item, found \";\"")
	}
}

// undocumented refuses a documentation comment with nothing behind it.
func (p *parser) undocumented() {
	if t := p.At(0); t.Documented {
		p.Fail(t.Start, "a documentation comment with nothing behind it")
	}
}

// hasMain reports whether a function main stands outside of all brackets.
func (p *parser) hasMain() bool {
	for i := 0; i+1 < len(p.Tokens); i++ {
		if m := p.Tokens[i].Mate; m > i {
			i = m
			continue
		}
		if t, u := p.Tokens[i], p.Tokens[i+1]; t.Kind == descent.Name && p.Src[t.Start:t.End] == "fn" && p.Src[u.Start:u.End] == "main" {
			return true
		}
	}
	return false
}

// name reads a name that is no keyword.
func (p *parser) name() {
	if p.Kind() != descent.Name || source.HasWord(keywords, p.Text()) {
		p.Unexpected("a name")
		return
	}
	p.Next()
}

// visibility reads pub, pub(crate), pub(in path).
func (p *parser) visibility() {
	if p.TakeWord("pub") && p.Is("(") && p.At(1).Kind == descent.Name && source.HasWord("crate self super in", p.TextAt(1)) {
		p.SkipGroup()
	}
}

// isItem reports whether an item begins here, its attributes and visibility read already.
func (p *parser) isItem() bool {
	if p.Kind() != descent.Name {
		return false
	}
	after := p.TextAt(1)
	switch p.Text() {
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
		return p.At(1).Kind == descent.Name && after != "as"
	case "macro_rules":
		return after == "!"
	case "macro":
		return p.At(1).Kind == descent.Name
	}
	return false
}

func (p *parser) item() {
	p.Enter()
	defer p.Leave()
	for p.OneOf("default safe unsafe async auto") || p.Word("const") && source.HasWord("fn unsafe async extern", p.TextAt(1)) ||
		p.Word("extern") && (p.At(1).Kind == descent.String && !p.IsAt(2, "{") || p.WordAt(1, "fn")) {
		if p.Next(); p.Kind() == descent.String {
			p.Next()
		}
	}
	switch {
	case p.TakeWord("fn"):
		p.function()
	case p.TakeWord("struct"), p.TakeWord("union"):
		p.structure()
	case p.TakeWord("enum"):
		p.enumeration()
	case p.TakeWord("trait"):
		p.trait()
	case p.TakeWord("impl"):
		p.implementation()
	case p.TakeWord("mod"):
		p.module()
	case p.TakeWord("use"):
		p.useTree()
		p.Want(";")
	case p.TakeWord("type"):
		p.typeAlias()
	case p.TakeWord("const"), p.TakeWord("static"):
		p.constant()
	case p.TakeWord("extern"):
		p.external()
	case p.Word("macro_rules"), p.Word("macro"):
		p.macroRules()
	default:
		p.Unexpected("an item")
	}
}

func (p *parser) module() {
	p.name()
	if !p.Take(";") {
		p.body()
	}
}

// body reads items between braces.
func (p *parser) body() {
	p.Want("{")
	p.members(descent.Punct)
	p.Want("}")
}

// members reads items up to the closing brace, or to the end.
func (p *parser) members(end descent.Kind) {
	for p.innerAttributes(); !p.End() && (end == descent.EOF || !p.Is("}")); {
		p.member()
	}
	p.undocumented()
}

// member reads an item of a module, trait, impl or extern block; a macro may stand for some.
func (p *parser) member() {
	p.attributes()
	p.visibility()
	switch {
	case p.isItem():
		p.item()
	case p.isMacro():
		p.path(true)
		p.Want("!")
		braces := p.Is("{")
		p.macroGroup()
		if !braces {
			p.Want(";")
		}
	default:
		p.Unexpected("an item")
	}
}

func (p *parser) external() {
	if p.TakeWord("crate") {
		if !p.TakeWord("self") {
			p.name()
		}
		if p.TakeWord("as") {
			p.name()
		}
		p.Want(";")
		return
	}
	if p.Kind() == descent.String {
		p.Next()
	}
	p.body()
}

// useTree reads a::{b, c as d, e::*}.
func (p *parser) useTree() {
	p.Enter()
	defer p.Leave()
	p.Take("::")
	for {
		switch {
		case p.Take("*"):
			return
		case p.Take("{"):
			p.List("}", p.useTree)
			return
		case p.Kind() != descent.Name:
			p.Unexpected("a name")
			return
		}
		p.Next()
		if !p.Take("::") {
			break
		}
	}
	if p.TakeWord("as") {
		p.name()
	}
}

func (p *parser) typeAlias() {
	p.name()
	p.generics()
	if p.Take(":") {
		p.bounds()
	}
	p.where()
	if p.Take("=") {
		p.typ()
	}
	p.where()
	p.Want(";")
}

func (p *parser) constant() {
	p.TakeWord("mut")
	if !p.TakeWord("_") {
		p.name()
	}
	p.generics()
	if p.Take(":") {
		p.typ()
	}
	if p.Take("=") {
		p.expression()
	}
	p.where()
	p.Want(";")
}

func (p *parser) function() {
	p.name()
	p.generics()
	p.Want("(")
	p.List(")", p.parameter)
	if p.Take("->") {
		p.typ()
	}
	p.where()
	if p.Take(";") {
		return
	}
	p.block()
}

// parameter reads pattern: type, the forms of self, or in a trait of the old days the type alone.
func (p *parser) parameter() {
	p.attributes()
	if p.Take("...") {
		return
	}
	start := p.Pos
	if p.Take("&") {
		if p.Kind() == descent.Lifetime {
			p.Next()
		}
	}
	p.TakeWord("mut")
	if p.TakeWord("self") {
		if p.Take(":") {
			p.typ()
		}
		return
	}
	p.Pos = start
	p.pattern()
	p.Want(":")
	if p.Take("...") {
		return
	}
	p.typ()
}

func (p *parser) structure() {
	p.name()
	p.generics()
	p.where()
	switch {
	case p.Take(";"):
	case p.Take("("):
		p.List(")", p.tupleField)
		p.where()
		p.Want(";")
	default:
		p.Want("{")
		p.List("}", p.field)
	}
}

func (p *parser) tupleField() {
	p.attributes()
	p.visibility()
	p.typ()
}

func (p *parser) field() {
	p.attributes()
	p.visibility()
	p.name()
	p.Want(":")
	p.typ()
	if p.Take("=") {
		p.expression()
	}
}

func (p *parser) enumeration() {
	p.name()
	p.generics()
	p.where()
	p.Want("{")
	p.List("}", func() {
		p.attributes()
		p.visibility()
		p.name()
		switch {
		case p.Take("("):
			p.List(")", p.tupleField)
		case p.Take("{"):
			p.List("}", p.field)
		}
		if p.Take("=") {
			p.expression()
		}
	})
}

func (p *parser) trait() {
	p.name()
	p.generics()
	if p.Take(":") {
		p.bounds()
	}
	if p.Take("=") {
		p.bounds()
		p.where()
		p.Want(";")
		return
	}
	p.where()
	p.body()
}

func (p *parser) implementation() {
	if p.Is("<") && !p.IsAt(0, "<<") && p.opensGenerics() {
		p.generics()
	}
	p.TakeWord("const")
	p.Take("!")
	p.typ()
	if p.TakeWord("for") {
		p.typ()
	}
	p.where()
	p.body()
}

// opensGenerics tells the parameters of an impl from a qualified path, impl<T> A from impl <T as B>::C.
func (p *parser) opensGenerics() bool {
	after := p.At(2)
	text := p.Src[after.Start:after.End]
	return p.IsAt(1, ">") || p.IsAt(1, "#") || p.At(1).Kind == descent.Lifetime || p.WordAt(1, "const") || strings.Contains(",:>=", text)
}
