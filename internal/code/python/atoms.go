package python

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// stringLiterals reads literals that stand side by side and are one string.
func (p *parser) stringLiterals() {
	var bytes, text bool
	start := p.tok().start
	for {
		switch p.kind() {
		case tokString:
			lit := p.text()
			if quote := strings.IndexAny(lit, `"'`); strings.ContainsAny(lit[:max(quote, 0)], "bB") {
				bytes = true
			} else {
				text = true
			}
			p.next()
		case tokFStart:
			text = true
			p.formatted()
		default:
			if bytes && text {
				p.fail(start, "bytes and text cannot be joined")
			}
			return
		}
	}
}

// formatted reads f"text {expression!r:format}".
func (p *parser) formatted() {
	p.enter()
	defer p.leave()
	p.next()
	p.formatParts()
	if p.kind() != tokFEnd {
		p.unexpected("the end of the string")
		return
	}
	p.next()
}

// formatParts reads text and fields, of a string or of a field's format.
func (p *parser) formatParts() {
	for {
		switch {
		case p.kind() == tokFMiddle:
			p.next()
		case p.op("{"):
			p.enter()
			p.formatField()
			p.leave()
		default:
			return
		}
	}
}

func (p *parser) formatField() {
	p.next()
	p.starOrYield()
	p.takeOp("=")
	if p.takeOp("!") {
		if p.kind() != tokName || !source.HasWord("r s a", p.text()) {
			p.unexpected("r, s or a behind '!'")
		}
		p.next()
	}
	if p.takeOp(":") {
		p.formatParts()
	}
	p.wantOp("}")
}

// isMatch reports whether match begins a statement rather than being a name: the line ends with a colon, and the block
// under it begins with case.
func (p *parser) isMatch() bool {
	if p.text() != "match" || p.pos+1 >= len(p.tokens) {
		return false
	}
	switch next := p.tokens[p.pos+1]; {
	case next.kind == tokOp && !source.HasWord("( [ { - * ~ + ...", p.src[next.start:next.end]), next.kind == tokNewline:
		return false
	}
	i := p.pos + 1
	for i < len(p.tokens)-1 && p.tokens[i].kind != tokNewline {
		i++
	}
	if i+2 >= len(p.tokens) || p.src[p.tokens[i-1].start:p.tokens[i-1].end] != ":" || p.tokens[i+1].kind != tokIndent {
		return false
	}
	return p.src[p.tokens[i+2].start:p.tokens[i+2].end] == "case"
}

func (p *parser) match() {
	p.enter()
	defer p.leave()
	p.next()
	p.starOrNamed()
	for p.takeOp(",") && !p.op(":") {
		p.starOrNamed()
	}
	p.wantOp(":")
	p.next() // the line's end, as isMatch saw
	p.next() // the indentation
	for p.kind() == tokName && p.text() == "case" {
		opener := p.tok()
		p.next()
		p.openSequence(":")
		if p.takeWord("if") {
			p.namedExpression()
		}
		p.block(opener)
	}
	if p.kind() != tokDedent {
		p.unexpected("case")
		return
	}
	p.next()
}

// openSequence reads patterns separated by commas up to a token.
func (p *parser) openSequence(end string) {
	for {
		p.asPattern()
		if !p.takeOp(",") || p.op(end) || p.word("if") {
			return
		}
	}
}

func (p *parser) asPattern() {
	p.enter()
	defer p.leave()
	if p.takeOp("*") {
		p.wantName()
		return
	}
	p.closedPattern()
	for p.takeOp("|") {
		p.closedPattern()
	}
	if p.takeWord("as") {
		p.wantName()
	}
}

func (p *parser) closedPattern() {
	switch {
	case p.kind() == tokNumber || p.op("-"):
		p.numberPattern()
	case p.kind() == tokString || p.kind() == tokFStart:
		p.stringLiterals()
	case p.takeWord("None"), p.takeWord("True"), p.takeWord("False"):
	case p.kind() == tokName:
		p.dotted()
		if p.takeOp("(") {
			p.classPattern()
		}
	case p.takeOp("("):
		p.sequencePattern(")")
	case p.takeOp("["):
		p.sequencePattern("]")
	case p.takeOp("{"):
		p.mappingPattern()
	default:
		p.unexpected("a pattern")
	}
}

// numberPattern reads a number, negative or complex.
func (p *parser) numberPattern() {
	for n := 0; n < 2; n++ {
		if n == 0 {
			p.takeOp("-")
		}
		if p.kind() != tokNumber {
			p.unexpected("a number")
			return
		}
		p.next()
		if !p.takeOp("+") && !p.takeOp("-") {
			return
		}
	}
}

func (p *parser) sequencePattern(end string) {
	if !p.op(end) {
		p.openSequence(end)
	}
	p.wantOp(end)
}

func (p *parser) mappingPattern() {
	for !p.op("}") {
		if p.takeOp("**") {
			p.wantName()
		} else {
			p.closedPattern()
			p.wantOp(":")
			p.asPattern()
		}
		if !p.takeOp(",") {
			break
		}
	}
	p.wantOp("}")
}

func (p *parser) classPattern() {
	keyword := false
	for !p.op(")") {
		if p.kind() == tokName && p.peekText(1) == "=" {
			keyword = true
			p.next()
			p.next()
		} else if keyword {
			p.unexpected("a pattern with a name")
		}
		p.asPattern()
		if !p.takeOp(",") {
			break
		}
	}
	p.wantOp(")")
}
