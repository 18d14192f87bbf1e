package rust

import (
	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// attributes reads #[…].
func (p *parser) attributes() {
	for p.Is("#") {
		p.Next()
		p.attribute()
	}
}

// innerAttributes reads #![…], which is for what is around it.
func (p *parser) innerAttributes() {
	for p.Is("#") && p.IsAt(1, "!") {
		p.Next()
		p.Next()
		p.attribute()
	}
}

func (p *parser) attribute() {
	p.Want("[")
	if p.Word("unsafe") && p.IsAt(1, "(") {
		p.Next()
		p.SkipGroup()
	} else {
		p.path(true)
	}
	switch {
	case p.Is("("), p.Is("["), p.Is("{"):
		p.SkipGroup()
	case p.Take("="):
		p.expression()
	}
	p.Want("]")
}

// isMacro reports whether a path with an exclamation mark follows.
func (p *parser) isMacro() bool {
	n := 0
	if p.IsAt(0, "::") {
		n = 2
	}
	for p.At(n).Kind == descent.Name {
		if source.HasWord(keywords, p.TextAt(n)) && !source.HasWord("crate self super Self try", p.TextAt(n)) {
			return false
		}
		n++
		if p.IsAt(n, "::") {
			n += 2
			continue
		}
		return p.IsAt(n, "!") && !p.IsAt(n, "!=") && (p.IsAt(n+1, "(") || p.IsAt(n+1, "[") || p.IsAt(n+1, "{"))
	}
	return false
}

func (p *parser) macroGroup() {
	if !p.Is("(") && !p.Is("[") && !p.Is("{") {
		p.Unexpected("'(', '[' or '{' behind the macro's name")
		return
	}
	p.SkipGroup()
}

func (p *parser) macroRules() {
	old := p.TakeWord("macro_rules")
	if old {
		p.Want("!")
	} else {
		p.Next()
	}
	p.name()
	if !old && p.Is("(") {
		p.SkipGroup()
	}
	braces := p.Is("{")
	p.macroGroup()
	if old && !braces {
		p.Want(";")
	}
}
