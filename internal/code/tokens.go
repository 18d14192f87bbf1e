package code

// tokenized is a source cut into tokens, with every bracket's partner known.
type tokenized struct {
	src    string
	tokens []token
	match  []int        // for each token, the index of the bracket it pairs with; -1 for all others
	parent []int        // for each token, the index of the innermost bracket around it; -1 outside of all
	bodies map[int]bool // the braces that open the body of a class, once they were asked for
}

// tokenize cuts a source by a lexer. Angle brackets are paired too where they can be: a pair around a comparison is
// still only a pair, and whoever asks looks at what is around it.
func tokenize(src string, d dialect) *tokenized {
	l := newLexer(src, d)
	var tokens []token
	for t := l.next(); t.kind != tokEOF; t = l.next() {
		tokens = append(tokens, t)
	}
	return pair(src, tokens)
}

func pair(src string, tokens []token) *tokenized {
	z := &tokenized{src: src, tokens: tokens, match: make([]int, len(tokens)), parent: make([]int, len(tokens))}
	var open []int // brackets that wait for their partner
	inside := -1
	for i := range tokens {
		z.match[i], z.parent[i] = -1, inside
		if tokens[i].kind != tokPunct {
			continue
		}
		switch text := z.text(i); text {
		case "(", "[", "{":
			open = append(open, i)
			inside = i
		case "<":
			open = append(open, i)
		case ">":
			arrow := z.is(i-1, "-") && z.adjacent(i)
			if n := len(open); n > 0 && z.text(open[n-1]) == "<" && !arrow {
				z.match[open[n-1]], z.match[i] = i, open[n-1]
				open = open[:n-1]
			}
		case ")", "]", "}", ";":
			for n := len(open); n > 0 && z.text(open[n-1]) == "<"; n = len(open) {
				open = open[:n-1]
			}
			if n := len(open); n > 0 && partner(z.text(open[n-1])) == text {
				z.match[open[n-1]], z.match[i] = i, open[n-1]
				open = open[:n-1]
				inside = z.parent[z.match[i]]
				z.parent[i] = inside
			}
		}
	}
	return z
}

func partner(open string) string {
	switch open {
	case "(":
		return ")"
	case "[":
		return "]"
	}
	return "}"
}

// text is a token as written; nothing outside of the source.
func (z *tokenized) text(i int) string {
	if i < 0 || i >= len(z.tokens) {
		return ""
	}
	return z.src[z.tokens[i].start:z.tokens[i].end]
}

// is reports whether a token is this punctuation.
func (z *tokenized) is(i int, p string) bool {
	return i >= 0 && i < len(z.tokens) && z.tokens[i].kind == tokPunct && z.text(i) == p
}

// word reports whether a token is one of these names.
func (z *tokenized) word(i int, list string) bool {
	return z.ident(i) && hasWord(list, z.text(i))
}

func (z *tokenized) ident(i int) bool {
	return i >= 0 && i < len(z.tokens) && z.tokens[i].kind == tokIdent
}

// adjacent reports whether nothing stands between a token and the one before it.
func (z *tokenized) adjacent(i int) bool {
	return i > 0 && i < len(z.tokens) && z.tokens[i-1].end == z.tokens[i].start
}

// inClass reports whether the innermost bracket around a token is the body of a class or an interface.
func (z *tokenized) inClass(i int) bool {
	if z.bodies == nil {
		z.findBodies()
	}
	return z.bodies[z.parent[i]]
}

// findBodies notes the braces that open the body of a class or an interface: the first behind the keyword that is
// neither in brackets of its own nor between angle brackets, as in class A extends B<{ a: string }> {.
func (z *tokenized) findBodies() {
	z.bodies = map[int]bool{}
	for i := range z.tokens {
		if !z.word(i, "class interface") || z.separated(i) || z.is(i+1, ":") {
			continue
		}
		const most = 200 // tokens of a heading
		for j := i + 1; j < min(i+most, len(z.tokens)); j++ {
			if z.is(j, "{") {
				z.bodies[j] = true
				break
			}
			if z.is(j, ";") || z.is(j, ")") || z.is(j, "}") {
				break
			}
			if m := z.match[j]; m > j {
				j = m
			}
		}
	}
}
