package code

import "strings"

// expression reads OR, AND, NOT and all that binds closer.
func (p *sqlParser) expression() {
	p.enter()
	defer p.leave()
	for {
		for p.kw("NOT") {
			p.next()
		}
		p.predicate()
		if !p.takeKw("AND OR XOR") {
			return
		}
	}
}

// predicate reads operands joined by comparisons and other operators.
func (p *sqlParser) predicate() {
	p.operand()
	for {
		switch {
		case p.takeKw("IS"):
			p.takeKw("NOT")
			if p.takeKw("DISTINCT") {
				p.wantKw("FROM")
				p.operand()
			} else if !p.takeKw("NULL TRUE FALSE UNKNOWN JSON DOCUMENT NORMALIZED NAN") {
				p.operand()
			}
		case p.takeKw("ISNULL NOTNULL"):
		case p.kw("NOT") && p.kwAt(1, "IN LIKE ILIKE BETWEEN SIMILAR REGEXP RLIKE GLOB MATCH"):
			p.next()
			p.comparison()
		case p.kw("IN LIKE ILIKE BETWEEN SIMILAR REGEXP RLIKE GLOB MATCH OVERLAPS"):
			p.comparison()
		case p.takeKw("COLLATE"):
			p.name()
		case p.kw("AT") && p.kwAt(1, "TIME LOCAL"):
			p.next()
			if p.takeKw("TIME") {
				p.wantKw("ZONE")
				p.operand()
			} else {
				p.next()
			}
		case p.takeKw("DIV MOD"):
			p.operand()
		case p.operator():
			if p.kw("ANY SOME ALL") && p.isAt(1, "(") {
				p.next()
			}
			p.operand()
		default:
			return
		}
	}
}

// comparison reads IN, LIKE, BETWEEN and their kin.
func (p *sqlParser) comparison() {
	switch {
	case p.takeKw("IN"):
		if p.is("(") {
			p.operand()
			return
		}
		p.name()
	case p.takeKw("BETWEEN"):
		p.takeKw("SYMMETRIC ASYMMETRIC")
		p.sum()
		p.wantKw("AND")
		p.sum()
	default:
		if p.takeKw("SIMILAR") {
			p.wantKw("TO")
		} else {
			p.next()
		}
		p.takeKw("ANY ALL")
		p.sum()
		if p.takeKw("ESCAPE") {
			p.operand()
		}
	}
}

// sum reads operands joined by operators, and no words.
func (p *sqlParser) sum() {
	p.operand()
	for p.operator() {
		p.operand()
	}
}

// operator takes an operator made of any punctuation, or OPERATOR(…).
func (p *sqlParser) operator() bool {
	if p.kw("OPERATOR") && p.isAt(1, "(") {
		p.next()
		p.skipGroup()
		return true
	}
	const marks = "+-*/%<>=~!@#&|^?"
	first := p.text()
	if p.kind() != lexPunct || !strings.Contains(marks, first) {
		return false
	}
	for n := 0; n < 4 && p.kind() == lexPunct && strings.Contains(marks, p.text()); n++ {
		glued := p.at(0).glued
		if p.next(); !glued || p.is("-") && !p.is("->") && !p.is("-|") || p.is("+") || p.is("*") || p.is("?") && first != "@" && first != "?" {
			break // a sign or a parameter belongs to the operand
		}
	}
	return true
}

// startsValue reports whether an expression can begin here.
func (p *sqlParser) startsValue() bool {
	return p.kind() == lexString || p.kind() == lexNumber || p.is("(") || p.kind() == lexName && !p.kw(sqlAfterItem)
}

// operand reads one operand with its signs, casts, indexes and fields.
func (p *sqlParser) operand() {
	p.enter()
	defer p.leave()
	for p.is("-") || p.is("+") || p.is("~") || p.is("!") || p.is("@") || p.kw("PRIOR BINARY") && !p.isAt(1, ".") {
		p.next()
	}
	p.primary()
	for {
		switch {
		case p.take("::"):
			p.typ()
		case p.is("["):
			p.skipGroup()
		case p.is(".") && !p.is(".."):
			p.next()
			if p.kind() != lexName && !p.is("*") && !p.is("[") && !p.is("{") {
				p.unexpected("a column")
				return
			}
			if p.is("[") || p.is("{") {
				p.skipGroup()
			} else {
				p.next()
			}
			if p.is("(") {
				p.call()
			}
		default:
			return
		}
	}
}

// typ reads the name of a type.
func (p *sqlParser) typ() {
	p.name()
	for p.kw("PRECISION VARYING WITH WITHOUT TIME ZONE UNSIGNED SIGNED INTEGER CHAR VARCHAR CHARACTER SET ARRAY LOCAL") {
		p.next()
	}
	if p.is("(") {
		p.skipGroup()
	}
	for p.kw("VARYING WITH WITHOUT TIME ZONE UNSIGNED ARRAY") {
		p.next()
	}
	for p.is("[") {
		p.skipGroup()
	}
}

func (p *sqlParser) primary() {
	switch {
	case p.kind() == lexString:
		for p.kind() == lexString {
			p.next()
		}
	case p.kind() == lexNumber, p.is("*"), p.is("?"):
		p.next()
	case p.is("{"), p.is("["):
		p.skipGroup()
	case p.take("("):
		p.brackets()
	case p.takeKw("CASE"):
		p.choice()
	case p.kw("NULL DEFAULT"):
		p.next()
	case p.kw("ALL ANY") && p.isAt(1, "("), p.kw("EXISTS UNIQUE ARRAY ROW SOME LATERAL") && (p.isAt(1, "(") || p.isAt(1, "[")):
		p.next()
		if p.is("[") {
			p.skipGroup()
			return
		}
		p.next()
		p.brackets()
	case p.kw("INTERVAL") && !p.isAt(1, "."):
		p.interval()
	case p.kind() == lexName && (!p.kw(sqlReserved) || p.kw("LEFT RIGHT SET IN") && p.isAt(1, "(")):
		p.columnOrCall()
	default:
		p.unexpected("an expression")
	}
}

// brackets reads a query, expressions, or nothing, up to the closing bracket and over it.
func (p *sqlParser) brackets() {
	switch {
	case p.is(")"):
	case p.startsQuery(), p.kw("INSERT UPDATE DELETE"):
		p.statement()
	default:
		p.commas(p.value)
		if p.kw("UNION INTERSECT EXCEPT ORDER LIMIT") { // the first was a query in brackets of its own
			for p.takeKw("UNION INTERSECT EXCEPT") {
				p.takeKw("ALL DISTINCT")
				p.term()
			}
			p.tail()
		}
	}
	p.want(")")
}

// interval reads INTERVAL '1 day', INTERVAL 1 DAY and a column of that name.
func (p *sqlParser) interval() {
	p.next()
	if p.kind() == lexString || p.kind() == lexNumber || p.is("(") || p.is("?") {
		if p.is("(") {
			p.skipGroup()
		} else {
			p.next()
		}
		if p.kw("YEAR YEARS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS QUARTER MICROSECOND") {
			p.next()
			if p.takeKw("TO") {
				p.next()
			}
		}
	}
}

func (p *sqlParser) choice() {
	if !p.kw("WHEN") {
		p.expression()
	}
	if !p.kw("WHEN") {
		p.unexpected("WHEN")
	}
	for p.takeKw("WHEN") {
		p.expression()
		p.wantKw("THEN")
		p.expression()
	}
	if p.takeKw("ELSE") {
		p.expression()
	}
	p.wantKw("END")
}

// columnOrCall reads a column, a call, or a typed literal such as DATE '2024-01-01'.
func (p *sqlParser) columnOrCall() {
	quoted := strings.IndexByte("\"`", p.src[p.at(0).start]) >= 0
	p.next()
	if p.is("(") {
		p.call()
		return
	}
	if !quoted && p.kind() == lexString && p.tokens[p.pos-1].kind == lexName && p.isTypeName() {
		p.next()
	}
}

// isTypeName reports whether the name before the current token can introduce a literal.
func (p *sqlParser) isTypeName() bool {
	t := p.tokens[p.pos-1]
	return hasWord("DATE TIME TIMESTAMP TIMESTAMPTZ JSON JSONB UUID POINT BOX CIRCLE INET BYTEA BOOL BOOLEAN NUMERIC INTEGER INT TEXT _UTF8 _UTF8MB4", strings.ToUpper(p.src[t.start:t.end]))
}

// call reads arguments and what may follow them. The words of SQL's own functions stand between arguments like commas.
func (p *sqlParser) call() {
	p.want("(")
	p.enter()
	for p.kw("DISTINCT ALL VARIADIC BOTH LEADING TRAILING") {
		p.next()
	}
	if p.startsQuery() {
		p.statement()
	}
	p.takeKw("FROM") // TRIM(FROM x)
	for !p.is(")") && !p.end() {
		p.argument()
		if !p.take(",") && !p.takeKw("FROM FOR USING SEPARATOR PLACING") {
			break
		}
	}
	p.tail()
	p.leave()
	p.want(")")
	p.afterCall()
}

func (p *sqlParser) argument() {
	if p.kw("SELECT") {
		p.unexpected("an argument")
		return
	}
	if p.kind() == lexName && (p.isAt(1, "=>") || p.isAt(1, ":=")) {
		p.next()
		p.next()
		p.next()
	}
	p.expression()
	if p.takeKw("AS") {
		p.typ()
	}
	for p.kw("RETURNING FORMAT ERROR NULL ABSENT PASSING WITH WITHOUT ON EMPTY KEYS UNIQUE VALUE IGNORE RESPECT NULLS OVERFLOW") {
		p.next()
		if p.kw("JSON ERROR EMPTY NULL") {
			p.next()
		}
	}
}

// afterCall reads what makes an aggregate or a window of a call.
func (p *sqlParser) afterCall() {
	for {
		switch {
		case p.kw("FILTER") && p.isAt(1, "("):
			p.next()
			p.skipGroup()
		case p.kw("WITHIN") && p.kwAt(1, "GROUP"):
			p.next()
			p.next()
			p.group()
		case p.kw("IGNORE RESPECT") && p.kwAt(1, "NULLS"):
			p.next()
			p.next()
		case p.kw("OVER"):
			p.next()
			if p.is("(") {
				p.skipGroup()
			} else {
				p.name()
			}
		case p.kw("AT") && p.kwAt(1, "TIME"):
			return
		default:
			return
		}
	}
}
