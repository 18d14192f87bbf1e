package rust

import (
	"github.com/mettle-eval/mettle/internal/code/descent"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// pattern reads alternatives separated by bars.
func (p *parser) pattern() {
	p.Enter()
	defer p.Leave()
	if p.Is("|") && !p.Is("||") {
		p.Next()
	}
	p.onePattern()
	for p.Is("|") && !p.Is("||") && !p.Is("|=") {
		p.Next()
		p.onePattern()
	}
}

func (p *parser) onePattern() {
	p.Enter()
	defer p.Leave()
	switch {
	case p.Is("..") && !p.Is("..."):
		p.rangeEnd()
		return
	case p.Take("&"):
		p.Take("&")
		p.TakeWord("mut")
		p.onePattern()
		return
	case p.Take("("):
		p.List(")", p.elementPattern)
		return
	case p.Take("["):
		p.List("]", p.elementPattern)
		return
	case p.Take("!"):
		return
	case p.Kind() == descent.Number, p.Kind() == descent.String, p.Is("-"):
		p.Take("-")
		p.literalPattern()
		return
	}
	p.namedPattern()
}

func (p *parser) elementPattern() {
	p.attributes()
	p.pattern()
}

// rangeEnd reads .. or ..= and what may follow it.
func (p *parser) rangeEnd() {
	// Three dots are those of the first editions; they need an end.
	inclusive := p.Take("..=") || p.Take("...")
	if !inclusive {
		p.Take("..")
	}
	switch {
	case p.Kind() == descent.Number, p.Kind() == descent.String, p.Is("-"):
		p.Take("-")
		p.Next()
	case p.Kind() == descent.Name && !p.OneOf("if"), p.Is("::"), p.Is("<"):
		p.path(true)
	case inclusive:
		p.Unexpected("the end of the range")
	}
}

func (p *parser) literalPattern() {
	if p.Kind() != descent.Number && p.Kind() != descent.String {
		p.Unexpected("a number")
		return
	}
	p.Next()
	if p.Is("..") {
		p.rangeEnd()
	}
}

func (p *parser) namedPattern() {
	switch {
	case p.TakeWord("_"):
		return
	case p.TakeWord("true"), p.TakeWord("false"):
		return
	case p.Word("box") && p.At(1).Kind == descent.Name:
		p.Next()
		p.onePattern()
		return
	case p.Word("const") && p.IsAt(1, "{"):
		p.Next()
		p.block()
		return
	case p.OneOf("ref mut"):
		p.TakeWord("ref")
		p.TakeWord("mut")
		p.name()
		p.bindingPattern()
		return
	case p.Kind() == descent.Name && !p.IsAt(1, "::") && !p.IsAt(1, "(") && !p.IsAt(1, "{") && !p.IsAt(1, "!") && !p.IsAt(1, "..") && !source.HasWord("self Self crate super", p.Text()):
		p.name()
		p.bindingPattern()
		return
	case p.Kind() != descent.Name && !p.Is("::") && !p.Is("<"):
		p.Unexpected("a pattern")
		return
	}
	p.pathPattern()
}

// bindingPattern reads the @ pattern behind a name.
func (p *parser) bindingPattern() {
	if p.Take("@") {
		p.onePattern()
	}
}

// pathPattern reads A::B, A::B(…), A { … }, a macro or a range that begins with a path.
func (p *parser) pathPattern() {
	p.path(true)
	switch {
	case p.Take("("):
		p.List(")", p.elementPattern)
	case p.Take("{"):
		p.List("}", p.fieldPattern)
	case p.Is("!") && !p.Is("!="):
		p.Next()
		p.macroGroup()
	case p.Is(".."):
		p.rangeEnd()
	}
}

func (p *parser) fieldPattern() {
	p.attributes()
	if p.Take("..") {
		return
	}
	if (p.Kind() == descent.Number || p.Kind() == descent.Name) && p.IsAt(1, ":") {
		p.Next()
		p.Next()
		p.pattern()
		return
	}
	p.TakeWord("box")
	p.TakeWord("ref")
	p.TakeWord("mut")
	p.name()
}
