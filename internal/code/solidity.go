package code

// solidityImports reads import "x.sol"; import "x.sol" as y; import * as y from "x.sol"; import {A as B} from "x.sol";
// The statements are JavaScript's without its calls: require(…) is an assertion here.
func solidityImports(src string) []Import {
	s := newStatements(src, "solidity", dialect{})
	for s.tok.kind != tokEOF {
		if !s.word("import") || s.property() {
			s.advance()
			continue
		}
		start := s.tok.start
		s.advance()
		var names []string
		if s.tok.kind != tokString {
			var ok bool
			if names, ok = s.bracedNames(nil); !ok || !s.takeWord("from") {
				continue
			}
		}
		s.quotedModule(start, names)
	}
	return s.found
}

// solidityCalls are the rules for calls.
var solidityCalls = callRules{
	keywords: "if else for while do return returns mapping function constructor fallback receive catch try unchecked assembly using new emit import pragma",
	defines:  "function event error modifier struct enum contract library interface",
	options:  true,
}
