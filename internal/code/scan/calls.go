package scan

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Call is a place where a source calls something: a function, a method, a constructor, a macro, a template's tag or a
// decorator.
type Call struct {
	// Name is the path that is called, as far as it is made of names: "createAgent", "graph.compile",
	// "Pubkey::find_program_address". It starts with a separator when something else stands in front of it: ".compile" in
	// build().compile().
	Name string

	Line, Col int // where the last name of the path begins
}

// CallRules is what must be known of a language to tell a call from what looks like one.
type CallRules struct {
	Keywords   string // words that brackets may follow and that are no functions
	Defines    string // words in front of a name that is defined and not called
	Generics   bool   // name<T>(…)
	Turbofish  bool   // name::<T>(…)
	Index      bool   // name[T](…)
	Lines      bool   // a line ends a statement, and keywords are no names of members
	Macros     bool   // name!(…)
	Options    bool   // name{value: 1}(…)
	Script     bool   // name?.(…), name!(…), name`…`
	Decorators bool   // @name

	// definition recognises those that no word in front gives away. The name is token i, its bracket token open.
	Definition func(z *List, i, open int) bool
}

// maxCallPath bounds the names of one path that are kept.
const maxCallPath = 32

// Calls lists the calls of a source in order.
func (r *CallRules) Calls(z *List) []Call {
	places := source.NewPlaces(z.Src)
	var found []Call
	for i := range z.Tokens {
		if r.isCall(z, i) {
			line, col := places.At(z.Tokens[i].Start)
			found = append(found, Call{Name: callPath(z, i), Line: line, Col: col})
		}
	}
	return found
}

// isCall reports whether the name at i is called there.
func (r *CallRules) isCall(z *List, i int) bool {
	if !z.ident(i) {
		return false
	}
	property := z.separated(i)
	if (!property || r.Lines) && source.HasWord(r.Keywords, z.text(i)) {
		return false
	}
	if r.Decorators && r.decorated(z, i) {
		return true
	}
	open := r.bracket(z, i)
	if open < 0 || (z.Tokens[i+1].First || z.Tokens[open].First) && r.breaks(z, i) {
		return false
	}
	if property {
		return true
	}
	if z.Word(i-1, r.Defines) {
		return false
	}
	return r.Definition == nil || !r.Definition(z, i, open)
}

// breaks reports whether a bracket at the beginning of a line does not belong to the name before it: where lines end
// statements, and behind a type.
func (r *CallRules) breaks(z *List, i int) bool {
	if r.Lines {
		return z.Parent[i] < 0
	}
	if z.Is(i+1, "<") && z.Tokens[i+1].First {
		return true
	}
	first := z.pathStart(i)
	return r.Script && (z.Is(first-1, "=>") || z.Is(first-1, ":") || z.Is(first-1, "|") || z.Is(first-1, "&"))
}

// pathStart is the index of the first name of the path that ends with the name at i.
func (z *List) pathStart(i int) int {
	for n := 0; n < maxCallPath && z.Is(i-1, ".") && z.ident(i-2); n++ {
		i -= 2
	}
	return i
}

// bracket is the index of the token that opens the arguments of the name at i, -1 when it has none.
func (r *CallRules) bracket(z *List, i int) int {
	j := i + 1
	switch {
	case r.Script && z.adjacent(j) && z.startsTemplate(j):
		return j
	case r.Script && z.Is(j, "?") && z.Is(j+1, ".") && z.adjacent(j+1):
		j += 2
	case r.Macros && z.Is(j, "!") && (z.Is(j+1, "(") || z.Is(j+1, "[") || z.Is(j+1, "{")):
		return j + 1
	case r.Script && z.Is(j, "!") && z.Is(j+1, "("):
		return j + 1
	case r.Turbofish && z.Is(j, "::") && z.Is(j+1, "<"):
		j++
	case r.Options && z.Is(j, "{") && z.Match[j] > 0 && z.Is(z.Match[j]+1, "("):
		return z.Match[j] + 1
	case r.Index && z.Is(j, "[") && z.Match[j] > 0 && z.Is(z.Match[j]+1, "(") && (!r.Lines || isUpper(z.text(i)[0])):
		return z.Match[j] + 1 // in Python, whose names tell classes from lists of functions
	}
	if (r.Generics || r.Turbofish && j > i+1) && z.Is(j, "<") {
		if !z.typeArguments(j) {
			return -1
		}
		j = z.Match[j] + 1
		if r.Script && z.startsTemplate(j) {
			return j
		}
	}
	if z.Is(j, "(") {
		return j
	}
	return -1
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// decorated reports whether the name at i is the last of a decorator without arguments; one with arguments is a call
// like any other.
func (r *CallRules) decorated(z *List, i int) bool {
	if z.Is(i+1, ".") || r.bracket(z, i) >= 0 {
		return false
	}
	at := z.pathStart(i) - 1
	if !z.Is(at, "@") {
		return false
	}
	// Elsewhere than at the beginning of a line it may multiply matrices.
	return z.Tokens[at].First || r.Script && !z.ident(at-1) && !z.Is(at-1, ")") && !z.Is(at-1, "]")
}

// separated reports whether a separator stands before the name at i, so that it is a member of something.
func (z *List) separated(i int) bool {
	if z.Is(i-1, "::") {
		return true
	}
	return z.Is(i-1, ".") && !(z.Is(i-2, ".") && z.adjacent(i-1)) // not the end of a spread
}

// typeArguments reports whether the angle bracket at i opens a list of types: it has a partner, and nothing in between
// that only a comparison has. A pair is looked into once for each name in front of one, so nested ones are bounded.
func (z *List) typeArguments(i int) bool {
	const most = 500
	end := z.Match[i]
	if end < 0 || end-i > most {
		return false
	}
	for j := i + 1; j < end; j++ {
		if z.Is(j, "&") && z.Is(j+1, "&") && z.adjacent(j+1) || z.Is(j, "|") && z.Is(j+1, "|") && z.adjacent(j+1) {
			return false
		}
	}
	return true
}

// startsTemplate reports whether a token is a template string or its first piece.
func (z *List) startsTemplate(i int) bool {
	return i < len(z.Tokens) && z.Tokens[i].Kind != Punct && z.Src[z.Tokens[i].Start] == '`'
}

// callPath is the path that ends with the name at i.
func callPath(z *List, i int) string {
	parts := []string{z.text(i)}
	for len(parts) < 2*maxCallPath {
		if !z.separated(i) {
			break
		}
		parts = append(parts, z.text(i-1))
		i -= 2
		if z.Is(i, "?") || z.Is(i, "!") { // a?.b and a!.b
			i--
		}
		if !z.ident(i) {
			break
		}
		parts = append(parts, z.text(i))
	}
	var b strings.Builder
	for n := len(parts) - 1; n >= 0; n-- {
		b.WriteString(parts[n])
	}
	return b.String()
}
