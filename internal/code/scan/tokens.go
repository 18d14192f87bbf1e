package scan

import (
	"github.com/mettle-eval/mettle/internal/code/source"
)

// List is a source cut into tokens, with every bracket's partner known.
type List struct {
	Src    string
	Tokens []Token
	Match  []int        // for each token, the index of the bracket it pairs with; -1 for all others
	Parent []int        // for each token, the index of the innermost bracket around it; -1 outside of all
	bodies map[int]bool // the braces that open the body of a class, once they were asked for
}

// Tokenize cuts a source by a lexer. Angle brackets are paired too where they can be: a pair around a comparison is
// still only a pair, and whoever asks looks at what is around it.
func Tokenize(src string, d Dialect) *List {
	l := NewLexer(src, d)
	var tokens []Token
	for t := l.Next(); t.Kind != EOF; t = l.Next() {
		tokens = append(tokens, t)
	}
	return Pair(src, tokens)
}

// Pair finds the partners of the brackets among the tokens of a source.
func Pair(src string, tokens []Token) *List {
	z := &List{Src: src, Tokens: tokens, Match: make([]int, len(tokens)), Parent: make([]int, len(tokens))}
	var open []int // brackets that wait for their partner
	inside := -1
	for i := range tokens {
		z.Match[i], z.Parent[i] = -1, inside
		if tokens[i].Kind != Punct {
			continue
		}
		switch text := z.text(i); text {
		case "(", "[", "{":
			open = append(open, i)
			inside = i
		case "<":
			open = append(open, i)
		case ">":
			arrow := z.Is(i-1, "-") && z.adjacent(i)
			if n := len(open); n > 0 && z.text(open[n-1]) == "<" && !arrow {
				z.Match[open[n-1]], z.Match[i] = i, open[n-1]
				open = open[:n-1]
			}
		case ")", "]", "}", ";":
			for n := len(open); n > 0 && z.text(open[n-1]) == "<"; n = len(open) {
				open = open[:n-1]
			}
			if n := len(open); n > 0 && partner(z.text(open[n-1])) == text {
				z.Match[open[n-1]], z.Match[i] = i, open[n-1]
				open = open[:n-1]
				inside = z.Parent[z.Match[i]]
				z.Parent[i] = inside
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
func (z *List) text(i int) string {
	if i < 0 || i >= len(z.Tokens) {
		return ""
	}
	return z.Src[z.Tokens[i].Start:z.Tokens[i].End]
}

// Is reports whether a token is this punctuation.
func (z *List) Is(i int, p string) bool {
	return i >= 0 && i < len(z.Tokens) && z.Tokens[i].Kind == Punct && z.text(i) == p
}

// Word reports whether a token is one of these names.
func (z *List) Word(i int, list string) bool {
	return z.ident(i) && source.HasWord(list, z.text(i))
}

func (z *List) ident(i int) bool {
	return i >= 0 && i < len(z.Tokens) && z.Tokens[i].Kind == Ident
}

// adjacent reports whether nothing stands between a token and the one before it.
func (z *List) adjacent(i int) bool {
	return i > 0 && i < len(z.Tokens) && z.Tokens[i-1].End == z.Tokens[i].Start
}

// InClass reports whether the innermost bracket around a token is the body of a class or an interface.
func (z *List) InClass(i int) bool {
	if z.bodies == nil {
		z.findBodies()
	}
	return z.bodies[z.Parent[i]]
}

// findBodies notes the braces that open the body of a class or an interface: the first behind the keyword that is
// neither in brackets of its own nor between angle brackets, as in class A extends B<{ a: string }> {.
func (z *List) findBodies() {
	z.bodies = map[int]bool{}
	for i := range z.Tokens {
		if !z.Word(i, "class interface") || z.separated(i) || z.Is(i+1, ":") {
			continue
		}
		const most = 200 // tokens of a heading
		for j := i + 1; j < min(i+most, len(z.Tokens)); j++ {
			if z.Is(j, "{") {
				z.bodies[j] = true
				break
			}
			if z.Is(j, ";") || z.Is(j, ")") || z.Is(j, "}") {
				break
			}
			if m := z.Match[j]; m > j {
				j = m
			}
		}
	}
}
