package code

// scriptCalls are the rules of TypeScript and JavaScript.
var scriptCalls = callRules{
	keywords: "if for while switch catch return typeof await async yield void delete throw new in of instanceof else do case " +
		"function import super with extends default as satisfies keyof infer is",
	defines:    "function class interface type enum namespace module get set static async public private protected readonly override abstract declare accessor",
	generics:   true,
	script:     true,
	decorators: true,
	definition: scriptDefinition,
}

// scriptDefinition reports whether name(…) is a method: of a class or an object, with its body, or a signature in an
// interface or a type.
func scriptDefinition(z *tokenized, i, open int) bool {
	if z.is(i-1, "*") && (z.word(i-2, "function async") || z.is(i-2, "{") || z.is(i-2, ",") || z.is(i-2, "}")) {
		return true // a generator
	}
	if z.word(i-1, "extends new await return case") {
		return false
	}
	end := z.match[open]
	if end < 0 {
		return false
	}
	if z.is(end+1, "{") && !z.tokens[end+1].first {
		return true // no call can stand right in front of a brace
	}
	if z.is(end+1, ":") && z.tokens[i].first && z.is(i-1, ">") {
		return true // a signature behind one whose type ends with the bracket
	}
	return memberStart(z, i) && (z.is(end+1, "{") || z.is(end+1, ":") || z.inClass(i))
}

// memberStart reports whether a member of a class, an object or a type can begin with the token at i.
func memberStart(z *tokenized, i int) bool {
	if i == 0 || z.is(i-1, "{") || z.is(i-1, "}") || z.is(i-1, ";") || z.is(i-1, ",") {
		return true
	}
	// A name that begins a line begins a member unless the line before is unfinished. A decorator may stand before it.
	return z.tokens[i].first && (z.tokens[i-1].kind != tokPunct || z.is(i-1, ")") || z.is(i-1, "]"))
}
