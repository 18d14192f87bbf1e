package code

// pattern reads alternatives separated by bars.
func (p *rustParser) pattern() {
	p.enter()
	defer p.leave()
	if p.is("|") && !p.is("||") {
		p.next()
	}
	p.onePattern()
	for p.is("|") && !p.is("||") && !p.is("|=") {
		p.next()
		p.onePattern()
	}
}

func (p *rustParser) onePattern() {
	p.enter()
	defer p.leave()
	switch {
	case p.is("..") && !p.is("..."):
		p.rangeEnd()
		return
	case p.take("&"):
		p.take("&")
		p.takeWord("mut")
		p.onePattern()
		return
	case p.take("("):
		p.list(")", p.elementPattern)
		return
	case p.take("["):
		p.list("]", p.elementPattern)
		return
	case p.take("!"):
		return
	case p.kind() == lexNumber, p.kind() == lexString, p.is("-"):
		p.take("-")
		p.literalPattern()
		return
	}
	p.namedPattern()
}

func (p *rustParser) elementPattern() {
	p.attributes()
	p.pattern()
}

// rangeEnd reads .. or ..= and what may follow it.
func (p *rustParser) rangeEnd() {
	// Three dots are those of the first editions; they need an end.
	inclusive := p.take("..=") || p.take("...")
	if !inclusive {
		p.take("..")
	}
	switch {
	case p.kind() == lexNumber, p.kind() == lexString, p.is("-"):
		p.take("-")
		p.next()
	case p.kind() == lexName && !p.oneOf("if"), p.is("::"), p.is("<"):
		p.path(true)
	case inclusive:
		p.unexpected("the end of the range")
	}
}

func (p *rustParser) literalPattern() {
	if p.kind() != lexNumber && p.kind() != lexString {
		p.unexpected("a number")
		return
	}
	p.next()
	if p.is("..") {
		p.rangeEnd()
	}
}

func (p *rustParser) namedPattern() {
	switch {
	case p.takeWord("_"):
		return
	case p.takeWord("true"), p.takeWord("false"):
		return
	case p.word("box") && p.at(1).kind == lexName:
		p.next()
		p.onePattern()
		return
	case p.word("const") && p.isAt(1, "{"):
		p.next()
		p.block()
		return
	case p.oneOf("ref mut"):
		p.takeWord("ref")
		p.takeWord("mut")
		p.name()
		p.bindingPattern()
		return
	case p.kind() == lexName && !p.isAt(1, "::") && !p.isAt(1, "(") && !p.isAt(1, "{") && !p.isAt(1, "!") && !p.isAt(1, "..") && !hasWord("self Self crate super", p.text()):
		p.name()
		p.bindingPattern()
		return
	case p.kind() != lexName && !p.is("::") && !p.is("<"):
		p.unexpected("a pattern")
		return
	}
	p.pathPattern()
}

// bindingPattern reads the @ pattern behind a name.
func (p *rustParser) bindingPattern() {
	if p.take("@") {
		p.onePattern()
	}
}

// pathPattern reads A::B, A::B(…), A { … }, a macro or a range that begins with a path.
func (p *rustParser) pathPattern() {
	p.path(true)
	switch {
	case p.take("("):
		p.list(")", p.elementPattern)
	case p.take("{"):
		p.list("}", p.fieldPattern)
	case p.is("!") && !p.is("!="):
		p.next()
		p.macroGroup()
	case p.is(".."):
		p.rangeEnd()
	}
}

func (p *rustParser) fieldPattern() {
	p.attributes()
	if p.take("..") {
		return
	}
	if (p.kind() == lexNumber || p.kind() == lexName) && p.isAt(1, ":") {
		p.next()
		p.next()
		p.pattern()
		return
	}
	p.takeWord("box")
	p.takeWord("ref")
	p.takeWord("mut")
	p.name()
}
