// Package javascript checks TypeScript and JavaScript, with JSX or without, by esbuild's parser, and reads their imports
// and calls.
package javascript

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Checker is who decides on the syntax of these languages.
const Checker = "esbuild"

// CheckTypeScript checks TypeScript, and TSX where a source has elements: documentation marks both as ts.
func CheckTypeScript(src string) ([]source.Problem, bool) {
	return check(src, api.LoaderTS, api.LoaderTSX)
}

// CheckTSX checks TypeScript with JSX.
func CheckTSX(src string) ([]source.Problem, bool) { return check(src, api.LoaderTSX) }

// CheckJSX checks JavaScript with or without JSX. No JavaScript program reads differently with JSX allowed, and
// documentation marks JSX as js everywhere.
func CheckJSX(src string) ([]source.Problem, bool) { return check(src, api.LoaderJSX) }

// Bounds of what esbuild is given. It recurses without a limit of its own, a Go program cannot survive a stack that
// outgrows a gigabyte, and some of its steps back up and try again for each level of nesting. At these bounds the worst
// input found takes a second or two.
const (
	MaxSize          = 64 << 10
	maxScriptNesting = 200
)

// onlyParse makes esbuild stop when it has read the source: its second declaration is an error that does not end the
// parsing but keeps the output from being made. The output is not used, it costs as much as the parsing, and esbuild's
// printer takes time that grows with the square of deep nesting and of long lists.
const onlyParse = "let _mettle;let _mettle;"

// wrapForm is what is put around a source to make a module of a fragment.
type wrapForm struct {
	before, after string
	fits          func(sourceShape) bool
}

// forms are tried in this order: a module, members of a class, one expression such as an object literal.
var forms = [...]wrapForm{
	{},
	{"class _ extends _b {", "\n}", func(s sourceShape) bool { return s.balanced && !s.statements }},
	{"_ = (", "\n)", func(s sourceShape) bool { return s.balanced }},
}

// check accepts src if esbuild reads it in one of the forms with one of the loaders. Otherwise the form that got
// furthest is the one that was meant.
func check(src string, loaders ...api.Loader) ([]source.Problem, bool) {
	if len(src) > MaxSize {
		return nil, false
	}
	if strings.HasPrefix(src, "#!") {
		src = "//" + src[2:] // a hashbang is allowed only as the first bytes, which are ours
	}
	shape := shapeOf(src)
	if shape.nesting > maxScriptNesting {
		return nil, false
	}
	var best source.Failure
	for _, form := range forms {
		if form.fits != nil && !form.fits(shape) {
			continue
		}
		for i, loader := range loaders {
			if i > 0 && !strings.Contains(src, "</") && !strings.Contains(src, "/>") {
				break // no JSX, which is all that a second loader adds
			}
			f, ok := form.parse(src, loader)
			if !ok {
				return nil, false
			}
			if len(f.Problems) == 0 {
				return nil, true
			}
			best = best.Further(f)
		}
	}
	return best.Problems, true
}

// parse runs esbuild. Legacy decorators are tried first, because only they may stand on parameters, then standard ones,
// because only they may stand in class expressions.
func (form wrapForm) parse(src string, loader api.Loader) (source.Failure, bool) {
	var best source.Failure
	for _, legacy := range []bool{true, false} {
		options := api.TransformOptions{
			Loader:   loader,
			LogLevel: api.LogLevelSilent,
			Target:   api.ESNext,
		}
		if legacy {
			options.TsconfigRaw = `{"compilerOptions":{"experimentalDecorators":true}}`
		}
		f, ok := form.failure(src, api.Transform(onlyParse+form.before+src+form.after, options).Errors)
		if !ok || len(f.Problems) == 0 {
			return f, ok
		}
		best = best.Further(f)
		if !strings.Contains(src, "@") {
			break
		}
	}
	return best, true
}

// failure turns esbuild's messages into problems of src. False when esbuild itself broke down.
func (form wrapForm) failure(src string, messages []api.Message) (source.Failure, bool) {
	var f source.Failure
	for _, m := range messages {
		if strings.HasPrefix(m.Text, "panic:") {
			return source.Failure{}, false
		}
		if m.Location != nil && m.Location.Line == 1 && m.Location.Column < len(onlyParse) {
			continue
		}
		if m.Text == "Top-level return cannot be used inside an ECMAScript module" {
			continue // the fragment is the body of a function
		}
		offset := 0
		if m.Location != nil {
			offset = form.offset(src, m.Location)
		}
		if len(f.Problems) == 0 || offset < f.Offset {
			f.Offset = offset
		}
		if len(f.Problems) == source.MaxProblems {
			break
		}
		f.Problems = append(f.Problems, source.ProblemAt(src, offset, m.Text, Checker))
	}
	return f, true
}

// offset maps esbuild's place, a line from 1 and a byte from 0, to src. What it finds in the text added behind the source
// is at the end of the source.
func (form wrapForm) offset(src string, at *api.Location) int {
	rest := src
	for n := 1; n < at.Line && rest != ""; n++ {
		_, rest = source.CutLine(rest)
	}
	column := at.Column
	if at.Line == 1 {
		column = max(column-len(onlyParse)-len(form.before), 0)
	}
	text, _ := source.CutLine(rest)
	return len(src) - len(rest) + min(column, len(text))
}

// sourceShape is what a look at the tokens of a source tells.
type sourceShape struct {
	nesting    int  // upper bound of how deep a parser has to go
	balanced   bool // every closing bracket has its opening one before it, so nothing put around the source is closed by it
	statements bool // a keyword that only starts statements stands outside all brackets
}

func shapeOf(src string) sourceShape {
	n := nesting{shape: sourceShape{balanced: true}}
	l := scan.NewLexer(src, dialect)
	for t := l.Next(); t.Kind != scan.EOF; t = l.Next() {
		n.templates = len(l.Outer)
		n.token(src[t.Start:t.End], t)
	}
	return n.shape
}

// nesting follows brackets, and those constructs that nest without them: a => b => c, a<b<c and runs of operators.
type nesting struct {
	shape     sourceShape
	levels    []nestingLevel // the open brackets
	top       nestingLevel   // what is counted at the current level
	depth     int            // sum over all levels
	templates int            // templates around the current token
	run       int            // operators in a row
	ended     bool           // the last token can be the last of a statement
}

type nestingLevel struct {
	arrows, angles int
}

func (n *nesting) token(text string, t scan.Token) {
	if t.First && n.ended && t.Kind == scan.Ident || text == ";" {
		n.reset() // a new statement
	}
	n.run++
	if t.Kind != scan.Punct || strings.Contains("()[]{}", text) {
		n.run = 0
	}
	if len(n.levels) == 0 && t.Kind == scan.Ident && startsStatement(text) {
		n.shape.statements = true
	}
	if t.Kind == scan.Punct {
		n.punct(text)
	}
	n.ended = t.Kind != scan.Punct || strings.Contains(")]}", text)
	n.shape.nesting = max(n.shape.nesting, n.depth+n.templates+n.run)
}

func (n *nesting) reset() {
	n.depth -= n.top.arrows + n.top.angles
	n.top = nestingLevel{}
}

func (n *nesting) punct(text string) {
	switch text {
	case "(", "[", "{":
		n.levels = append(n.levels, n.top)
		n.top = nestingLevel{}
		n.depth++
	case ")", "]", "}":
		if len(n.levels) == 0 {
			n.shape.balanced = false
			return
		}
		n.reset()
		n.depth--
		n.top = n.levels[len(n.levels)-1]
		n.levels = n.levels[:len(n.levels)-1]
	case "=>":
		n.top.arrows++
		n.depth++
	case ",":
		n.depth -= n.top.arrows
		n.top.arrows = 0
	case "<":
		n.top.angles++
		n.depth++
	case ">":
		if n.top.angles > 0 {
			n.top.angles--
			n.depth--
		}
	}
}

// startsStatement reports whether a word cannot begin a member of a class. "if (x) {…}" would pass for a method.
func startsStatement(word string) bool {
	return source.HasWord("break case catch class const continue debugger do else export finally for function if import "+
		"let return switch throw try var while with", word)
}
