package code

// generics reads the parameters <'a: 'b, T: Bound = Default, const N: usize = 1>.
func (p *rustParser) generics() {
	if !p.take("<") {
		return
	}
	for !p.is(">") && !p.end() {
		p.attributes()
		switch {
		case p.kind() == lexLifetime:
			p.next()
			if p.take(":") {
				p.bounds()
			}
		case p.takeWord("const"):
			p.name()
			p.want(":")
			p.typ()
			if p.take("=") {
				p.constArgument()
			}
		default:
			p.name()
			if p.take(":") {
				p.bounds()
			}
			if p.take("=") {
				p.typ()
			}
		}
		if !p.take(",") {
			break
		}
	}
	p.want(">")
}

// where reads a where clause.
func (p *rustParser) where() {
	if !p.takeWord("where") {
		return
	}
	for !p.is("{") && !p.is(";") && !p.is("=") && !p.end() {
		if p.kind() == lexLifetime {
			p.next()
		} else {
			p.higherRanked()
			p.typ()
		}
		p.want(":")
		p.bounds()
		if !p.take(",") {
			return
		}
	}
}

// higherRanked reads for<'a>.
func (p *rustParser) higherRanked() {
	if p.word("for") && p.isAt(1, "<") {
		p.next()
		p.generics()
	}
}

// bounds reads A + ?B + 'a, none at all included.
func (p *rustParser) bounds() {
	for p.startsBound() {
		p.bound()
		if !p.take("+") {
			return
		}
	}
}

func (p *rustParser) startsBound() bool {
	if p.kind() == lexLifetime || p.is("?") || p.is("(") || p.is("~") || p.is("::") || p.is("<") || p.is("[") || p.is("!") {
		return true
	}
	return p.kind() == lexName && (!hasWord(rustKeywords, p.text()) || p.oneOf("for crate self super Self dyn const async use fn impl"))
}

func (p *rustParser) bound() {
	switch {
	case p.kind() == lexLifetime:
		p.next()
		return
	case p.take("("):
		p.enter()
		p.bound()
		p.leave()
		p.want(")")
		return
	case p.takeWord("use"):
		p.genericArguments()
		return
	case p.take("["):
		p.takeWord("const")
		p.want("]")
	}
	p.take("~")
	p.takeWord("const")
	p.takeWord("async")
	p.take("?")
	p.take("!")
	p.higherRanked()
	p.take("?")
	p.typeNoBounds()
}

// typ reads a type, bounds added with + included.
func (p *rustParser) typ() {
	p.enter()
	defer p.leave()
	p.typeNoBounds()
	for p.is("+") && !p.is("+=") {
		p.next()
		if !p.startsBound() {
			return
		}
		p.bound()
	}
}

func (p *rustParser) typeNoBounds() {
	p.enter()
	defer p.leave()
	switch {
	case p.take("("):
		p.list(")", p.typ)
	case p.take("["):
		p.typ()
		if p.take(";") {
			p.expression()
		}
		p.want("]")
	case p.take("&"):
		p.take("&")
		if p.kind() == lexLifetime {
			p.next()
		}
		p.takeWord("mut")
		p.typeNoBounds()
	case p.take("*"):
		if !p.takeWord("const") {
			p.wantWord("mut")
		}
		p.typeNoBounds()
	case p.take("!"):
	case p.kind() == lexName || p.is("::") || p.is("<") || p.is("$"):
		p.namedType()
	default:
		p.unexpected("a type")
	}
}

func (p *rustParser) namedType() {
	switch {
	case p.takeWord("_"):
	case p.word("for") && p.isAt(1, "<"):
		p.higherRanked()
		p.typeNoBounds()
	case p.takeWord("dyn"), p.takeWord("impl"):
		p.bounds()
	case p.oneOf("fn unsafe extern"):
		p.functionType()
	default:
		p.path(false)
		if p.is("!") && !p.is("!=") {
			p.next()
			p.macroGroup()
		}
	}
}

func (p *rustParser) functionType() {
	p.takeWord("unsafe")
	if p.takeWord("extern") && p.kind() == lexString {
		p.next()
	}
	p.wantWord("fn")
	p.want("(")
	p.list(")", func() {
		p.attributes()
		if p.take("...") {
			return
		}
		if (p.kind() == lexName || p.word("_")) && p.isAt(1, ":") && !p.isAt(1, "::") {
			p.next()
			p.next()
		}
		p.typ()
	})
	if p.take("->") {
		p.typeNoBounds()
	}
}

// path reads a::b<T>::c, in expressions with ::<T>, and <T as Trait>::c.
func (p *rustParser) path(expression bool) {
	if p.take("<") {
		p.typ()
		if p.takeWord("as") {
			p.typ()
		}
		p.want(">")
		p.want("::")
	} else {
		p.take("::")
	}
	for {
		p.segment()
		switch {
		case expression && p.is("::") && (p.isAt(2, "<") || p.isAt(2, "(")):
			p.take("::")
			p.typeArguments()
		case !expression && p.is("::") && (p.isAt(2, "<") || p.isAt(2, "(")):
			p.take("::")
			p.typeArguments()
		case !expression:
			p.typeArguments()
		}
		if !p.is("::") {
			return
		}
		p.take("::")
	}
}

func (p *rustParser) segment() {
	if p.kind() != lexName || hasWord(rustKeywords, p.text()) && !p.oneOf("crate self super Self") {
		p.unexpected("a name")
		return
	}
	p.next()
}

// typeArguments reads <…> or the (A, B) -> C of a function's trait.
func (p *rustParser) typeArguments() {
	switch {
	case p.is("<") && !p.is("<=") && !p.is("<-"):
		p.genericArguments()
	case p.take("("):
		if p.take("..") { // a return type notation
			p.want(")")
			return
		}
		p.list(")", p.typ)
		if p.take("->") {
			p.typeNoBounds()
		}
	}
}

func (p *rustParser) genericArguments() {
	p.enter()
	defer p.leave()
	p.want("<")
	for !p.is(">") && !p.end() {
		p.genericArgument()
		if !p.take(",") {
			break
		}
	}
	p.want(">")
}

// genericArgument reads a type, a lifetime, a constant, or what is said of an associated type.
func (p *rustParser) genericArgument() {
	switch {
	case p.kind() == lexLifetime:
		p.next()
		return
	case p.kind() == lexNumber, p.kind() == lexString, p.is("-"), p.is("{"), p.oneOf("true false"):
		p.constArgument()
		return
	}
	p.typ()
	switch {
	case p.is("=") && !p.is("=="):
		p.next()
		if p.kind() == lexNumber || p.kind() == lexString || p.is("-") || p.is("{") || p.oneOf("true false") {
			p.constArgument()
			return
		}
		p.typ()
	case p.is(":") && !p.is("::"):
		p.next()
		p.bounds()
	}
}

func (p *rustParser) constArgument() {
	switch {
	case p.is("{"):
		p.block()
	case p.kind() == lexName && !p.oneOf("true false"):
		p.typ()
	default:
		p.take("-")
		p.next()
	}
}
