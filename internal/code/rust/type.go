package rust

import (
	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// generics reads the parameters <'a: 'b, T: Bound = Default, const N: usize = 1>.
func (p *parser) generics() {
	if !p.Take("<") {
		return
	}
	for !p.Is(">") && !p.End() {
		p.attributes()
		switch {
		case p.Kind() == descent.Lifetime:
			p.Next()
			if p.Take(":") {
				p.bounds()
			}
		case p.TakeWord("const"):
			p.name()
			p.Want(":")
			p.typ()
			if p.Take("=") {
				p.constArgument()
			}
		default:
			p.name()
			if p.Take(":") {
				p.bounds()
			}
			if p.Take("=") {
				p.typ()
			}
		}
		if !p.Take(",") {
			break
		}
	}
	p.Want(">")
}

// where reads a where clause.
func (p *parser) where() {
	if !p.TakeWord("where") {
		return
	}
	for !p.Is("{") && !p.Is(";") && !p.Is("=") && !p.End() {
		if p.Kind() == descent.Lifetime {
			p.Next()
		} else {
			p.higherRanked()
			p.typ()
		}
		p.Want(":")
		p.bounds()
		if !p.Take(",") {
			return
		}
	}
}

// higherRanked reads for<'a>.
func (p *parser) higherRanked() {
	if p.Word("for") && p.IsAt(1, "<") {
		p.Next()
		p.generics()
	}
}

// bounds reads A + ?B + 'a, none at all included.
func (p *parser) bounds() {
	for p.startsBound() {
		p.bound()
		if !p.Take("+") {
			return
		}
	}
}

func (p *parser) startsBound() bool {
	if p.Kind() == descent.Lifetime || p.Is("?") || p.Is("(") || p.Is("~") || p.Is("::") || p.Is("<") || p.Is("[") || p.Is("!") {
		return true
	}
	return p.Kind() == descent.Name && (!source.HasWord(keywords, p.Text()) || p.OneOf("for crate self super Self dyn const async use fn impl"))
}

func (p *parser) bound() {
	switch {
	case p.Kind() == descent.Lifetime:
		p.Next()
		return
	case p.Take("("):
		p.Enter()
		p.bound()
		p.Leave()
		p.Want(")")
		return
	case p.TakeWord("use"):
		p.genericArguments()
		return
	case p.Take("["):
		p.TakeWord("const")
		p.Want("]")
	}
	p.Take("~")
	p.TakeWord("const")
	p.TakeWord("async")
	p.Take("?")
	p.Take("!")
	p.higherRanked()
	p.Take("?")
	p.typeNoBounds()
}

// typ reads a type, bounds added with + included.
func (p *parser) typ() {
	p.Enter()
	defer p.Leave()
	p.typeNoBounds()
	for p.Is("+") && !p.Is("+=") {
		p.Next()
		if !p.startsBound() {
			return
		}
		p.bound()
	}
}

func (p *parser) typeNoBounds() {
	p.Enter()
	defer p.Leave()
	switch {
	case p.Take("("):
		p.List(")", p.typ)
	case p.Take("["):
		p.typ()
		if p.Take(";") {
			p.expression()
		}
		p.Want("]")
	case p.Take("&"):
		p.Take("&")
		if p.Kind() == descent.Lifetime {
			p.Next()
		}
		p.TakeWord("mut")
		p.typeNoBounds()
	case p.Take("*"):
		if !p.TakeWord("const") {
			p.WantWord("mut")
		}
		p.typeNoBounds()
	case p.Take("!"):
	case p.Kind() == descent.Name || p.Is("::") || p.Is("<") || p.Is("$"):
		p.namedType()
	default:
		p.Unexpected("a type")
	}
}

func (p *parser) namedType() {
	switch {
	case p.TakeWord("_"):
	case p.Word("for") && p.IsAt(1, "<"):
		p.higherRanked()
		p.typeNoBounds()
	case p.TakeWord("dyn"), p.TakeWord("impl"):
		p.bounds()
	case p.OneOf("fn unsafe extern"):
		p.functionType()
	default:
		p.path(false)
		if p.Is("!") && !p.Is("!=") {
			p.Next()
			p.macroGroup()
		}
	}
}

func (p *parser) functionType() {
	p.TakeWord("unsafe")
	if p.TakeWord("extern") && p.Kind() == descent.String {
		p.Next()
	}
	p.WantWord("fn")
	p.Want("(")
	p.List(")", func() {
		p.attributes()
		if p.Take("...") {
			return
		}
		if (p.Kind() == descent.Name || p.Word("_")) && p.IsAt(1, ":") && !p.IsAt(1, "::") {
			p.Next()
			p.Next()
		}
		p.typ()
	})
	if p.Take("->") {
		p.typeNoBounds()
	}
}

// path reads a::b<T>::c, in expressions with ::<T>, and <T as Trait>::c.
func (p *parser) path(expression bool) {
	if p.Take("<") {
		p.typ()
		if p.TakeWord("as") {
			p.typ()
		}
		p.Want(">")
		p.Want("::")
	} else {
		p.Take("::")
	}
	for {
		p.segment()
		switch {
		case expression && p.Is("::") && (p.IsAt(2, "<") || p.IsAt(2, "(")):
			p.Take("::")
			p.typeArguments()
		case !expression && p.Is("::") && (p.IsAt(2, "<") || p.IsAt(2, "(")):
			p.Take("::")
			p.typeArguments()
		case !expression:
			p.typeArguments()
		}
		if !p.Is("::") {
			return
		}
		p.Take("::")
	}
}

func (p *parser) segment() {
	if p.Kind() != descent.Name || source.HasWord(keywords, p.Text()) && !p.OneOf("crate self super Self") {
		p.Unexpected("a name")
		return
	}
	p.Next()
}

// typeArguments reads <…> or the (A, B) -> C of a function's trait.
func (p *parser) typeArguments() {
	switch {
	case p.Is("<") && !p.Is("<=") && !p.Is("<-"):
		p.genericArguments()
	case p.Take("("):
		if p.Take("..") { // a return type notation
			p.Want(")")
			return
		}
		p.List(")", p.typ)
		if p.Take("->") {
			p.typeNoBounds()
		}
	}
}

func (p *parser) genericArguments() {
	p.Enter()
	defer p.Leave()
	p.Want("<")
	for !p.Is(">") && !p.End() {
		p.genericArgument()
		if !p.Take(",") {
			break
		}
	}
	p.Want(">")
}

// genericArgument reads a type, a lifetime, a constant, or what is said of an associated type.
func (p *parser) genericArgument() {
	switch {
	case p.Kind() == descent.Lifetime:
		p.Next()
		return
	case p.Kind() == descent.Number, p.Kind() == descent.String, p.Is("-"), p.Is("{"), p.OneOf("true false"):
		p.constArgument()
		return
	}
	p.typ()
	switch {
	case p.Is("=") && !p.Is("=="):
		p.Next()
		if p.Kind() == descent.Number || p.Kind() == descent.String || p.Is("-") || p.Is("{") || p.OneOf("true false") {
			p.constArgument()
			return
		}
		p.typ()
	case p.Is(":") && !p.Is("::"):
		p.Next()
		p.bounds()
	}
}

func (p *parser) constArgument() {
	switch {
	case p.Is("{"):
		p.block()
	case p.Kind() == descent.Name && !p.OneOf("true false"):
		p.typ()
	default:
		p.Take("-")
		p.Next()
	}
}
