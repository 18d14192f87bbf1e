package code

import "strings"

// sqlParser reads SQL. Dialects differ everywhere, so it reads closely what they share, queries and the statements that
// change rows, and of everything else only that it begins with a statement's word and closes its brackets. What one
// dialect has is let pass for all.
type sqlParser struct{ descent }

// sqlStatements are the words statements begin with that are not read further.
const sqlStatements = "ABORT ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT CLOSE CLUSTER COMMENT COMMIT COPY CREATE DEALLOCATE DECLARE DESC DESCRIBE DETACH DISCARD " +
	"DO DROP END EXEC EXECUTE EXPORT FETCH FLUSH FOR GO GRANT HANDLER IF IMPORT INSTALL KILL LISTEN LOAD LOCK LOOP MERGE MOVE NOTIFY OPEN OPTIMIZE PRAGMA " +
	"PREPARE PRINT PURGE RAISE REFRESH REINDEX RELEASE RENAME REPAIR RESET RETURN REVOKE ROLLBACK SAVEPOINT SECURITY SET SHOW SIGNAL START " +
	"TRUNCATE UNLISTEN UNLOCK UPSERT USE VACUUM WAITFOR WHILE"

// sqlReserved are the words that are no names of tables, columns or functions unless they are quoted.
const sqlReserved = "ALL AND ANY AS ASC BETWEEN BY CASE CREATE CROSS DESC DISTINCT ELSE END EXCEPT FETCH FROM FULL GROUP HAVING IN INNER " +
	"INTERSECT INTO IS JOIN LATERAL LIKE LIMIT NATURAL NOT NULL ON OR ORDER OUTER SELECT SET THEN UNION USING WHEN WHERE WITH"

// sqlSyntax checks statements separated by semicolons. The last may go without.
func sqlSyntax(src string) ([]Problem, bool) {
	if len(src) > maxSource || hasDelimiter(src) {
		return nil, false
	}
	l := lexSQL(src)
	if l.problem != nil {
		return l.verdict()
	}
	p := &sqlParser{l.descent}
	p.tokens = l.withoutComments()
	p.gaps()
	for !p.end() {
		if p.take(";") {
			continue
		}
		p.statement()
		if !p.is(";") && !p.end() && !p.kw("GO") {
			p.unexpected("';' or the end of the statement")
		}
	}
	return p.verdict()
}

// gaps finds what no dialect has, also where statements are not read closely: dots side by side, and a list with nothing
// between its commas.
func (p *sqlParser) gaps() {
	for n := 0; p.at(n).kind != lexEOF; n++ {
		switch {
		case p.isAt(n, ".."):
			p.fail(p.at(n).start, "unexpected \"..\"")
		case p.isAt(n, ",") && (p.isAt(n+1, ",") || p.isAt(n+1, ")") || p.isAt(n+1, ";")), p.isAt(n, "(") && p.isAt(n+1, ","):
			p.fail(p.at(n+1).start, "nothing stands between the commas")
		}
		if p.problem != nil {
			return
		}
	}
}

// hasDelimiter reports whether a script of MySQL's shell changes what ends a statement.
func hasDelimiter(src string) bool {
	for line := range strings.Lines(src) {
		if rest, ok := cutPrefixFold(strings.TrimSpace(line), "delimiter "); ok && rest != "" {
			return true
		}
	}
	return false
}

// kw reports whether the current token is one of these words, in any case.
func (p *sqlParser) kw(list string) bool { return p.kwAt(0, list) }

func (p *sqlParser) kwAt(n int, list string) bool {
	t := p.at(n)
	if t.kind != lexName || t.end-t.start > 20 {
		return false
	}
	return hasWord(list, strings.ToUpper(p.src[t.start:t.end]))
}

func (p *sqlParser) takeKw(list string) bool {
	if !p.kw(list) {
		return false
	}
	p.next()
	return true
}

func (p *sqlParser) wantKw(word string) {
	if !p.takeKw(word) {
		p.unexpected(word)
	}
}

func (p *sqlParser) statement() {
	p.enter()
	defer p.leave()
	switch {
	case p.takeKw("EXPLAIN"):
		p.explain()
	case p.is("("), p.kw("SELECT VALUES TABLE"):
		p.query()
	case p.kw("WITH"):
		p.with()
		if p.kw("INSERT UPDATE DELETE MERGE") {
			p.statement()
			return
		}
		p.query()
	case p.kw("INSERT REPLACE"):
		p.insert()
	case p.takeKw("UPDATE"):
		p.update()
	case p.takeKw("DELETE"):
		p.deletion()
	case p.kw("CREATE"):
		p.create()
	case p.kw(sqlStatements):
		p.rest()
	default:
		p.unexpected("a statement")
	}
}

// explain reads the statement behind EXPLAIN and its options.
func (p *sqlParser) explain() {
	if p.is("(") {
		p.skipGroup()
	}
	for p.kw("ANALYZE VERBOSE QUERY PLAN EXTENDED FORMATTED") {
		p.next()
	}
	p.statement()
}

// rest passes over a statement up to its end.
func (p *sqlParser) rest() {
	for !p.is(";") && !p.end() {
		if p.is("(") || p.is("[") || p.is("{") {
			p.skipGroup()
			continue
		}
		p.next()
	}
}

func (p *sqlParser) with() {
	p.next()
	p.takeKw("RECURSIVE")
	for {
		p.name()
		if p.is("(") {
			p.skipGroup()
		}
		p.wantKw("AS")
		if p.takeKw("NOT") || p.kw("MATERIALIZED") {
			p.wantKw("MATERIALIZED")
		}
		p.want("(")
		p.statement()
		p.want(")")
		if p.kw("SEARCH CYCLE") {
			for !p.is(",") && !p.end() && !p.kw("SELECT INSERT UPDATE DELETE") {
				p.next()
			}
		}
		if !p.take(",") {
			return
		}
	}
}

// name reads a name, schema and database in front of it.
func (p *sqlParser) name() {
	for {
		switch {
		case p.is("[") || p.is("{"): // [name] of SQL Server, {{name}} of a template
			p.skipGroup()
		case p.kind() == lexName && !p.kw(sqlReserved), p.isParameter(), p.is("*"):
			p.next()
		default:
			p.unexpected("a name")
			return
		}
		if !p.take(".") {
			return
		}
	}
}

// isParameter reports whether a parameter stands here: $1, ?, :name, @name, %s.
func (p *sqlParser) isParameter() bool {
	return p.is("?") || p.kind() == lexNumber && strings.IndexByte("$:@%", p.src[p.at(0).start]) >= 0
}

func (p *sqlParser) insert() {
	p.next()
	for p.kw("OR IGNORE REPLACE ROLLBACK ABORT FAIL LOW_PRIORITY DELAYED OVERWRITE") {
		p.next()
	}
	p.takeKw("INTO")
	p.takeKw("TABLE")
	p.name()
	if p.takeKw("AS") {
		p.name()
	}
	if p.is("(") && !p.kwAt(1, "SELECT WITH VALUES") {
		p.want("(")
		p.commas(p.name)
		p.want(")")
	}
	for p.kw("OVERRIDING SYSTEM USER VALUE OUTPUT") {
		if p.takeKw("OUTPUT") {
			p.items()
		} else {
			p.next()
		}
	}
	switch {
	case p.takeKw("DEFAULT"):
		p.wantKw("VALUES")
	case p.takeKw("SET"):
		p.assignments()
	case p.kw("EXEC EXECUTE"):
		p.rest()
	case p.kw("VALUE"):
		p.next()
		p.commas(p.row)
	default:
		if p.kw("WITH") {
			p.with()
		}
		p.query()
	}
	p.conflict()
	p.returning()
}

// conflict reads what an insert does about rows that are there already.
func (p *sqlParser) conflict() {
	for p.takeKw("ON") {
		if p.takeKw("DUPLICATE") {
			p.wantKw("KEY")
			p.wantKw("UPDATE")
			p.assignments()
			return
		}
		p.wantKw("CONFLICT")
		if p.is("(") {
			p.skipGroup()
			p.where()
		} else if p.takeKw("ON") {
			p.wantKw("CONSTRAINT")
			p.name()
		}
		p.wantKw("DO")
		if p.takeKw("NOTHING") {
			continue
		}
		p.wantKw("UPDATE")
		p.wantKw("SET")
		p.assignments()
		p.where()
	}
}

func (p *sqlParser) returning() {
	if p.takeKw("RETURNING") {
		p.items()
	}
}

func (p *sqlParser) update() {
	p.takeKw("ONLY")
	for p.kw("OR ROLLBACK ABORT REPLACE FAIL IGNORE LOW_PRIORITY") {
		p.next()
	}
	p.tables()
	p.wantKw("SET")
	p.assignments()
	if p.takeKw("OUTPUT") {
		p.items()
	}
	if p.takeKw("FROM") {
		p.tables()
	}
	p.where()
	p.tail()
	p.returning()
}

func (p *sqlParser) assignments() {
	p.commas(func() {
		if p.take("(") {
			p.commas(p.name)
			p.want(")")
		} else {
			p.name()
			for p.is("[") {
				p.skipGroup()
			}
		}
		for p.kind() == lexPunct && !p.is("=") && (p.is("+") || p.is("-") || p.is("*") || p.is("/") || p.is("|") || p.is(":")) {
			p.next()
		}
		p.want("=")
		p.value()
	})
}

// value is an expression or the word DEFAULT.
func (p *sqlParser) value() {
	if !p.takeKw("DEFAULT") {
		p.expression()
	}
}

func (p *sqlParser) deletion() {
	for p.kw("LOW_PRIORITY QUICK IGNORE") {
		p.next()
	}
	if !p.kw("FROM") {
		p.commas(p.name)
	}
	p.takeKw("FROM")
	p.tables()
	if p.takeKw("USING") {
		p.tables()
	}
	if p.takeKw("OUTPUT") {
		p.items()
	}
	p.where()
	p.tail()
	p.returning()
}

func (p *sqlParser) where() {
	if !p.takeKw("WHERE") {
		return
	}
	if p.takeKw("CURRENT") {
		p.wantKw("OF")
		p.name()
		return
	}
	p.expression()
}

// commas reads elements with commas between them.
func (p *sqlParser) commas(element func()) {
	element()
	for p.take(",") {
		element()
	}
}

// create reads the definition of a table or a view; of anything else only up to its end, which is that of its body for
// what has one between BEGIN and END.
func (p *sqlParser) create() {
	p.next()
	for p.kw("OR REPLACE TEMP TEMPORARY UNLOGGED GLOBAL LOCAL EXTERNAL TRANSIENT RECURSIVE MATERIALIZED") {
		p.next()
	}
	switch {
	case p.takeKw("TABLE"):
		p.table()
	case p.takeKw("VIEW"):
		p.view()
	case p.kw("FUNCTION PROCEDURE TRIGGER PACKAGE EVENT CONSTRAINT"):
		p.routine()
	case p.kind() == lexName:
		p.rest()
	default:
		p.unexpected("what is created")
	}
}

func (p *sqlParser) ifNotExists() {
	if p.takeKw("IF") {
		p.wantKw("NOT")
		p.wantKw("EXISTS")
	}
}

func (p *sqlParser) table() {
	p.ifNotExists()
	p.name()
	if p.is("(") && !p.kwAt(1, "SELECT WITH") {
		p.next()
		if !p.is(")") {
			p.commas(p.column)
		}
		p.want(")")
	}
	for !p.is(";") && !p.end() {
		if p.takeKw("AS") {
			break
		}
		if p.is("(") {
			p.skipGroup()
			continue
		}
		p.next()
	}
	if !p.kw("SELECT WITH VALUES TABLE") && !p.is("(") {
		p.rest()
		return
	}
	p.statement()
	if p.takeKw("WITH") {
		p.rest() // DATA, NO DATA
	}
}

// column reads the definition of a column or a constraint.
func (p *sqlParser) column() {
	if p.is(",") || p.is(")") || p.end() {
		p.unexpected("a column")
		return
	}
	if p.kind() != lexName && !p.is("[") && !p.is("{") && p.kind() != lexString && p.kind() != lexNumber {
		p.unexpected("a column")
		return
	}
	for !p.is(",") && !p.is(")") && !p.end() {
		switch {
		case p.is("("), p.is("["), p.is("{"):
			p.skipGroup()
		case p.is(";"), p.is("..."):
			p.unexpected("',' or ')'")
		case p.takeKw("CHECK"):
			p.want("(")
			p.expression()
			p.want(")")
		default:
			p.next()
		}
	}
}

func (p *sqlParser) view() {
	p.ifNotExists()
	p.name()
	if p.is("(") {
		p.skipGroup()
	}
	if p.takeKw("WITH") {
		p.skipGroup()
	}
	p.wantKw("AS")
	p.statement()
	if p.takeKw("WITH") {
		p.rest() // CHECK OPTION, NO DATA
	}
}

// startsQuery reports whether a query begins here; values may be the name of a column.
func (p *sqlParser) startsQuery() bool {
	return p.kw("SELECT WITH") || p.kw("VALUES") && (p.isAt(1, "(") || p.kwAt(1, "ROW"))
}

// routine passes over a function, procedure or trigger. Its body may hold semicolons.
func (p *sqlParser) routine() {
	depth := 0
	for !p.end() {
		switch {
		case p.is(";") && depth == 0:
			return
		case p.kw("BEGIN CASE") && !p.kwAt(1, "ATOMIC"), p.kw("BEGIN"):
			depth++
		case p.kw("END") && !p.kwAt(1, "IF LOOP WHILE REPEAT FOR"):
			depth = max(depth-1, 0)
		}
		p.next()
	}
	if depth > 0 {
		p.unexpected("END")
	}
}
