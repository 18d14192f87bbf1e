package code

import "strings"

// Call is a place where a source calls something: a function, a method, a constructor, a macro, a template's tag or a
// decorator.
type Call struct {
	// Name is the path that is called, as far as it is made of names: "createAgent", "graph.compile",
	// "Pubkey::find_program_address". It starts with a separator when something else stands in front of it: ".compile" in
	// build().compile().
	Name string

	Line, Col int // where the last name of the path begins
}

// callRules is what must be known of a language to tell a call from what looks like one.
type callRules struct {
	keywords   string // words that brackets may follow and that are no functions
	defines    string // words in front of a name that is defined and not called
	generics   bool   // name<T>(…)
	turbofish  bool   // name::<T>(…)
	index      bool   // name[T](…)
	lines      bool   // a line ends a statement, and keywords are no names of members
	macros     bool   // name!(…)
	options    bool   // name{value: 1}(…)
	script     bool   // name?.(…), name!(…), name`…`
	decorators bool   // @name

	// definition recognises those that no word in front gives away. The name is token i, its bracket token open.
	definition func(z *tokenized, i, open int) bool
}

// maxCallPath bounds the names of one path that are kept.
const maxCallPath = 32

// Calls lists the calls of a source in order.
func (r *callRules) all(z *tokenized) []Call {
	places := newPlaces(z.src)
	var found []Call
	for i := range z.tokens {
		if r.isCall(z, i) {
			line, col := places.at(z.tokens[i].start)
			found = append(found, Call{Name: callPath(z, i), Line: line, Col: col})
		}
	}
	return found
}

// isCall reports whether the name at i is called there.
func (r *callRules) isCall(z *tokenized, i int) bool {
	if !z.ident(i) {
		return false
	}
	property := z.separated(i)
	if (!property || r.lines) && hasWord(r.keywords, z.text(i)) {
		return false
	}
	if r.decorators && r.decorated(z, i) {
		return true
	}
	open := r.bracket(z, i)
	if open < 0 || (z.tokens[i+1].first || z.tokens[open].first) && r.breaks(z, i) {
		return false
	}
	if property {
		return true
	}
	if z.word(i-1, r.defines) {
		return false
	}
	return r.definition == nil || !r.definition(z, i, open)
}

// breaks reports whether a bracket at the beginning of a line does not belong to the name before it: where lines end
// statements, and behind a type.
func (r *callRules) breaks(z *tokenized, i int) bool {
	if r.lines {
		return z.parent[i] < 0
	}
	if z.is(i+1, "<") && z.tokens[i+1].first {
		return true
	}
	first := z.pathStart(i)
	return r.script && (z.is(first-1, "=>") || z.is(first-1, ":") || z.is(first-1, "|") || z.is(first-1, "&"))
}

// pathStart is the index of the first name of the path that ends with the name at i.
func (z *tokenized) pathStart(i int) int {
	for n := 0; n < maxCallPath && z.is(i-1, ".") && z.ident(i-2); n++ {
		i -= 2
	}
	return i
}

// bracket is the index of the token that opens the arguments of the name at i, -1 when it has none.
func (r *callRules) bracket(z *tokenized, i int) int {
	j := i + 1
	switch {
	case r.script && z.adjacent(j) && z.startsTemplate(j):
		return j
	case r.script && z.is(j, "?") && z.is(j+1, ".") && z.adjacent(j+1):
		j += 2
	case r.macros && z.is(j, "!") && (z.is(j+1, "(") || z.is(j+1, "[") || z.is(j+1, "{")):
		return j + 1
	case r.script && z.is(j, "!") && z.is(j+1, "("):
		return j + 1
	case r.turbofish && z.is(j, "::") && z.is(j+1, "<"):
		j++
	case r.options && z.is(j, "{") && z.match[j] > 0 && z.is(z.match[j]+1, "("):
		return z.match[j] + 1
	case r.index && z.is(j, "[") && z.match[j] > 0 && z.is(z.match[j]+1, "(") && (!r.lines || isUpper(z.text(i)[0])):
		return z.match[j] + 1 // in Python, whose names tell classes from lists of functions
	}
	if (r.generics || r.turbofish && j > i+1) && z.is(j, "<") {
		if !z.typeArguments(j) {
			return -1
		}
		j = z.match[j] + 1
		if r.script && z.startsTemplate(j) {
			return j
		}
	}
	if z.is(j, "(") {
		return j
	}
	return -1
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// decorated reports whether the name at i is the last of a decorator without arguments; one with arguments is a call
// like any other.
func (r *callRules) decorated(z *tokenized, i int) bool {
	if z.is(i+1, ".") || r.bracket(z, i) >= 0 {
		return false
	}
	at := z.pathStart(i) - 1
	if !z.is(at, "@") {
		return false
	}
	// Elsewhere than at the beginning of a line it may multiply matrices.
	return z.tokens[at].first || r.script && !z.ident(at-1) && !z.is(at-1, ")") && !z.is(at-1, "]")
}

// separated reports whether a separator stands before the name at i, so that it is a member of something.
func (z *tokenized) separated(i int) bool {
	if z.is(i-1, "::") {
		return true
	}
	return z.is(i-1, ".") && !(z.is(i-2, ".") && z.adjacent(i-1)) // not the end of a spread
}

// typeArguments reports whether the angle bracket at i opens a list of types: it has a partner, and nothing in between
// that only a comparison has. A pair is looked into once for each name in front of one, so nested ones are bounded.
func (z *tokenized) typeArguments(i int) bool {
	const most = 500
	end := z.match[i]
	if end < 0 || end-i > most {
		return false
	}
	for j := i + 1; j < end; j++ {
		if z.is(j, "&") && z.is(j+1, "&") && z.adjacent(j+1) || z.is(j, "|") && z.is(j+1, "|") && z.adjacent(j+1) {
			return false
		}
	}
	return true
}

// startsTemplate reports whether a token is a template string or its first piece.
func (z *tokenized) startsTemplate(i int) bool {
	return i < len(z.tokens) && z.tokens[i].kind != tokPunct && z.src[z.tokens[i].start] == '`'
}

// callPath is the path that ends with the name at i.
func callPath(z *tokenized, i int) string {
	parts := []string{z.text(i)}
	for len(parts) < 2*maxCallPath {
		if !z.separated(i) {
			break
		}
		parts = append(parts, z.text(i-1))
		i -= 2
		if z.is(i, "?") || z.is(i, "!") { // a?.b and a!.b
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
