package javascript

import (
	"github.com/mettle-eval/mettle/internal/code/scan"
)

// Calls are the rules of TypeScript and JavaScript.
var Calls = scan.CallRules{
	Keywords: "if for while switch catch return typeof await async yield void delete throw new in of instanceof else do case " +
		"function import super with extends default as satisfies keyof infer is",
	Defines:    "function class interface type enum namespace module get set static async public private protected readonly override abstract declare accessor",
	Generics:   true,
	Script:     true,
	Decorators: true,
	Definition: definition,
}

// definition reports whether name(…) is a method: of a class or an object, with its body, or a signature in an
// interface or a type.
func definition(z *scan.List, i, open int) bool {
	if z.Is(i-1, "*") && (z.Word(i-2, "function async") || z.Is(i-2, "{") || z.Is(i-2, ",") || z.Is(i-2, "}")) {
		return true // a generator
	}
	if z.Word(i-1, "extends new await return case") {
		return false
	}
	end := z.Match[open]
	if end < 0 {
		return false
	}
	if z.Is(end+1, "{") && !z.Tokens[end+1].First {
		return true // no call can stand right in front of a brace
	}
	if z.Is(end+1, ":") && z.Tokens[i].First && z.Is(i-1, ">") {
		return true // a signature behind one whose type ends with the bracket
	}
	return memberStart(z, i) && (z.Is(end+1, "{") || z.Is(end+1, ":") || z.InClass(i))
}

// memberStart reports whether a member of a class, an object or a type can begin with the token at i.
func memberStart(z *scan.List, i int) bool {
	if i == 0 || z.Is(i-1, "{") || z.Is(i-1, "}") || z.Is(i-1, ";") || z.Is(i-1, ",") {
		return true
	}
	// A name that begins a line begins a member unless the line before is unfinished. A decorator may stand before it.
	return z.Tokens[i].First && (z.Tokens[i-1].Kind != scan.Punct || z.Is(i-1, ")") || z.Is(i-1, "]"))
}
