package code

// query reads SELECT, VALUES, TABLE and what joins them.
func (p *sqlParser) query() {
	p.enter()
	defer p.leave()
	p.term()
	for p.takeKw("UNION INTERSECT EXCEPT MINUS") {
		p.takeKw("ALL DISTINCT")
		p.term()
	}
	p.tail()
}

func (p *sqlParser) term() {
	switch {
	case p.take("("):
		p.enter()
		if p.kw("WITH") {
			p.with()
		}
		p.query()
		p.leave()
		p.want(")")
	case p.takeKw("VALUES"):
		p.commas(p.row)
	case p.takeKw("TABLE"):
		p.name()
	case p.takeKw("SELECT"):
		p.selection()
	default:
		p.unexpected("SELECT")
	}
}

// row reads (a, b) or ROW(a, b).
func (p *sqlParser) row() {
	p.takeKw("ROW")
	p.want("(")
	if !p.is(")") {
		p.commas(p.value)
	}
	p.want(")")
}

func (p *sqlParser) selection() {
	for p.kw("ALL DISTINCT STRAIGHT_JOIN SQL_CALC_FOUND_ROWS") {
		distinct := p.kw("DISTINCT")
		if p.next(); distinct && p.takeKw("ON") {
			p.skipGroup()
		}
	}
	if p.takeKw("TOP") {
		if p.is("(") {
			p.skipGroup()
		} else {
			p.next()
		}
		p.takeKw("PERCENT")
	}
	if !p.kw("FROM INTO") && !p.end() && !p.is(";") && !p.is(")") {
		p.items()
	}
	if p.takeKw("INTO") {
		p.takeKw("STRICT TEMP TEMPORARY UNLOGGED")
		p.takeKw("TABLE")
		p.commas(p.name)
	}
	if p.takeKw("FROM") {
		p.tables()
	}
	p.where()
	p.grouping()
}

func (p *sqlParser) grouping() {
	if p.takeKw("GROUP") {
		p.wantKw("BY")
		p.takeKw("ALL DISTINCT")
		if p.startsValue() {
			p.commas(p.expression)
		}
		if p.takeKw("WITH") {
			p.next()
		}
	}
	if p.takeKw("HAVING") {
		p.expression()
	}
	if p.takeKw("WINDOW") {
		p.commas(func() {
			p.name()
			p.wantKw("AS")
			p.group()
		})
	}
	if p.takeKw("QUALIFY") {
		p.expression()
	}
}

// group passes over brackets that must be there.
func (p *sqlParser) group() {
	if !p.is("(") {
		p.unexpected("'('")
		return
	}
	p.skipGroup()
}

// tail reads what orders and bounds the rows.
func (p *sqlParser) tail() {
	for {
		switch {
		case p.takeKw("ORDER"):
			p.takeKw("SIBLINGS")
			p.wantKw("BY")
			p.commas(p.ordering)
		case p.takeKw("LIMIT"):
			if !p.takeKw("ALL") {
				p.commas(p.expression)
			}
		case p.takeKw("OFFSET"):
			p.expression()
			p.takeKw("ROW ROWS")
		case p.takeKw("FETCH"):
			p.takeKw("FIRST NEXT")
			if !p.kw("ROW ROWS") {
				p.expression()
			}
			p.takeKw("ROW ROWS")
			if p.takeKw("WITH") {
				p.wantKw("TIES")
			} else {
				p.wantKw("ONLY")
			}
		case p.kw("FOR") && p.kwAt(1, "UPDATE SHARE NO KEY JSON XML BROWSE"), p.kw("LOCK") && p.kwAt(1, "IN"), p.kw("OPTION SETTINGS"):
			for !p.is(";") && !p.is(")") && !p.end() && !p.kw("LIMIT OFFSET FETCH") {
				if p.is("(") {
					p.skipGroup()
				} else {
					p.next()
				}
			}
		default:
			return
		}
	}
}

func (p *sqlParser) ordering() {
	p.expression()
	if p.takeKw("USING") {
		for p.kind() == lexPunct && !p.is(",") {
			p.next()
		}
	}
	p.takeKw("ASC DESC")
	if p.takeKw("NULLS") {
		p.takeKw("FIRST LAST")
	}
}

func (p *sqlParser) items() {
	p.commas(func() {
		p.expression()
		p.alias(sqlAfterItem)
	})
}

// Words that follow an item or a table and are not its alias.
const (
	sqlAfterItem  = "FROM INTO WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH UNION INTERSECT EXCEPT MINUS WINDOW QUALIFY FOR ON RETURNING VALUES SELECT OUTPUT BULK OPTION"
	sqlAfterTable = sqlAfterItem + " SET JOIN INNER LEFT RIGHT FULL CROSS NATURAL ASOF POSITIONAL STRAIGHT_JOIN USING TABLESAMPLE LATERAL USE FORCE IGNORE WITH LOCK WHEN THEN"
)

// alias reads [AS] name.
func (p *sqlParser) alias(after string) {
	if p.takeKw("AS") {
		if p.kind() == lexString || p.kind() == lexName {
			p.next()
			return
		}
		p.name()
		return
	}
	if p.kind() == lexString || p.kind() == lexName && !p.kw(sqlReserved) && !p.kw(after) {
		p.next()
	}
}

func (p *sqlParser) tables() {
	p.commas(p.joined)
}

// joined reads a table and what is joined to it.
func (p *sqlParser) joined() {
	p.tableRef()
	for {
		natural := p.takeKw("NATURAL")
		kind := false
		for p.kw("INNER LEFT RIGHT FULL OUTER CROSS ASOF POSITIONAL SEMI ANTI GLOBAL ANY ALL LATERAL") {
			kind = true
			p.next()
		}
		if !p.takeKw("JOIN STRAIGHT_JOIN APPLY") {
			if kind || natural {
				p.unexpected("JOIN")
			}
			return
		}
		p.tableRef()
		switch {
		case p.takeKw("ON"):
			p.expression()
		case p.takeKw("USING"):
			p.group()
			p.alias(sqlAfterTable)
		}
	}
}

func (p *sqlParser) tableRef() {
	p.enter()
	defer p.leave()
	for p.kw("LATERAL ONLY") {
		p.next()
	}
	switch {
	case p.is("(") && (p.kwAt(1, "SELECT WITH VALUES TABLE INSERT UPDATE DELETE") || p.isAt(1, "(")):
		p.next()
		p.nested()
		p.want(")")
	case p.take("("):
		p.tables()
		p.want(")")
	case p.kind() == lexString:
		p.next() // a file, in DuckDB
	default:
		p.name()
		if p.takeKw("ROWS") {
			p.wantKw("FROM")
		}
		if p.is("(") {
			p.call()
		}
	}
	p.tableRest()
}

// tableRest reads what may follow a table: hints, its alias and columns, samples.
func (p *sqlParser) tableRest() {
	if p.takeKw("WITH") && !p.takeKw("ORDINALITY") {
		p.group()
	}
	p.take("*")
	p.alias(sqlAfterTable)
	if p.is("(") {
		p.skipGroup()
	}
	for p.kw("TABLESAMPLE USE FORCE IGNORE WITH FOR") && !p.kwAt(1, "UPDATE SHARE NO KEY JSON XML") {
		p.next()
		for p.kind() == lexName {
			p.next()
		}
		if p.is("(") {
			p.skipGroup()
		}
		if p.takeKw("REPEATABLE") {
			p.group()
		}
	}
}

// nested reads what stands in the brackets of a table: a query, or joined tables that begin with a bracket.
func (p *sqlParser) nested() {
	if p.kw("SELECT WITH VALUES TABLE INSERT UPDATE DELETE") {
		p.statement()
		return
	}
	start := p.pos
	for n := 0; p.isAt(n, "("); n++ {
		if p.kwAt(n+1, "SELECT WITH VALUES") {
			p.query()
			if p.is(")") || p.problem != nil {
				return
			}
			p.pos = start // (SELECT …) is the first of joined tables
			break
		}
	}
	p.tables()
}
