package solidity

import (
	"github.com/mettle-eval/mettle/internal/code/scan"
)

// Imports reads import "x.sol"; import "x.sol" as y; import * as y from "x.sol"; import {A as B} from "x.sol";
// The statements are JavaScript's without its calls: require(…) is an assertion here.
func Imports(src string) []scan.Import {
	s := scan.NewStatements(src, "solidity", scan.Dialect{})
	for s.Tok.Kind != scan.EOF {
		if !s.Word("import") || s.Property() {
			s.Advance()
			continue
		}
		start := s.Tok.Start
		s.Advance()
		var names []string
		if s.Tok.Kind != scan.String {
			var ok bool
			if names, ok = s.BracedNames(nil); !ok || !s.TakeWord("from") {
				continue
			}
		}
		s.QuotedModule(start, names)
	}
	return s.Found
}

// Calls are the rules for calls.
var Calls = scan.CallRules{
	Keywords: "if else for while do return returns mapping function constructor fallback receive catch try unchecked assembly using new emit import pragma",
	Defines:  "function event error modifier struct enum contract library interface",
	Options:  true,
}
