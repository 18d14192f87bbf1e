package code

// attributes reads #[…].
func (p *rustParser) attributes() {
	for p.is("#") {
		p.next()
		p.attribute()
	}
}

// innerAttributes reads #![…], which is for what is around it.
func (p *rustParser) innerAttributes() {
	for p.is("#") && p.isAt(1, "!") {
		p.next()
		p.next()
		p.attribute()
	}
}

func (p *rustParser) attribute() {
	p.want("[")
	if p.word("unsafe") && p.isAt(1, "(") {
		p.next()
		p.skipGroup()
	} else {
		p.path(true)
	}
	switch {
	case p.is("("), p.is("["), p.is("{"):
		p.skipGroup()
	case p.take("="):
		p.expression()
	}
	p.want("]")
}

// isMacro reports whether a path with an exclamation mark follows.
func (p *rustParser) isMacro() bool {
	n := 0
	if p.isAt(0, "::") {
		n = 2
	}
	for p.at(n).kind == lexName {
		if hasWord(rustKeywords, p.textAt(n)) && !hasWord("crate self super Self try", p.textAt(n)) {
			return false
		}
		n++
		if p.isAt(n, "::") {
			n += 2
			continue
		}
		return p.isAt(n, "!") && !p.isAt(n, "!=") && (p.isAt(n+1, "(") || p.isAt(n+1, "[") || p.isAt(n+1, "{"))
	}
	return false
}

func (p *rustParser) macroGroup() {
	if !p.is("(") && !p.is("[") && !p.is("{") {
		p.unexpected("'(', '[' or '{' behind the macro's name")
		return
	}
	p.skipGroup()
}

func (p *rustParser) macroRules() {
	old := p.takeWord("macro_rules")
	if old {
		p.want("!")
	} else {
		p.next()
	}
	p.name()
	if !old && p.is("(") {
		p.skipGroup()
	}
	braces := p.is("{")
	p.macroGroup()
	if old && !braces {
		p.want(";")
	}
}
