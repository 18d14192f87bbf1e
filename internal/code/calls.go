package code

import "github.com/mettle-eval/mettle/internal/code/scan"

// Call is a place where a source calls something.
type Call = scan.Call

// Calls lists the calls of a source in order. What stands in comments and strings is not among them, but what stands in
// the holes of a template string is; nor are definitions, declarations and the conditions of statements. The source need
// not be valid. Languages without rules of their own are read by those of the C family.
func Calls(lang, src string) []Call {
	l := find(Canonical(lang))
	rules := &plainCalls
	if l != nil && l.calls != nil {
		rules = l.calls
	}
	return rules.Calls(l.tokens(src))
}

// plainCalls reads languages of the C family.
var plainCalls = scan.CallRules{
	Keywords: "if else for foreach while do switch case catch return throw using lock sizeof typeof when until unless match function func fun fn def new delete and or not in is",
	Defines:  "function func fun fn def class struct interface record enum void sub proc",
	Generics: true,
}

// tokens cuts a source into tokens by the rules of the language; nil is an unknown one.
func (l *language) tokens(src string) *scan.List {
	switch {
	case l != nil && l.cut != nil:
		return l.cut(src)
	case l == nil || l.dialect == nil:
		return scan.Tokenize(src, scan.Dialect{})
	}
	return scan.Tokenize(src, *l.dialect)
}
