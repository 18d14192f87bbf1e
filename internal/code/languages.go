// Package code reads the code inside Markdown answers and documents.
//
// [Blocks] finds fenced blocks with their places, and [ReadAnswer] those that are the program an answer was asked for.
// [Syntax] asks a real parser whether a source is well formed, [SyntaxWith] also the language's own where it is on the
// machine. [Imports] reads the import statements of one source and [TextImports] those of a whole Markdown text;
// [Import.Matches] and [Import.Provides] are the rules by which a statement counts as an import of a module. [Calls] lists
// what a source calls, and a [Pattern] finds pieces of code, calls and expressions in it, comments and strings left out.
//
// What is known of each language stands in the files named after it and in one line of the table in languages.go.
// Everything here takes foreign text: nothing panics, and time grows with the length of the input, not with its shape.
// All functions are safe for concurrent use. Lines and columns start at 1; columns count characters.
package code

import (
	"context"
	"strings"
)

// language is all this package knows of one language. Only name is required.
type language struct {
	name    string
	aliases string // other names, lower case, separated by single spaces
	is      string // the broader language this one counts as when that is asked for

	// syntax reports what is wrong with src; false when this source could not be checked.
	syntax func(src string) ([]Problem, bool)

	checker string // who speaks when syntax does

	// outside asks a program of the language's own; false when it is not there or has no verdict.
	outside func(ctx context.Context, t Tools, src string) (Verdict, bool)

	// imports lists the import statements of src in order. Languages without it are read by all scanners.
	imports func(src string) []Import

	// dialect is how the language is cut into tokens. Without it, as the C family is.
	dialect *dialect

	// cut does it for a language that has a lexer of its own.
	cut func(src string) *tokenized

	// calls tells calls from what looks like them. Without it, the rules of the C family do.
	calls *callRules

	// segment separates the parts of a module path. With one, asking for a module also accepts what is inside it.
	segment string
}

// languages is the table: a new language is its file and its line here. Order matters in two places only: Languages
// follows it, and when several scanners read the same statement the first in the table names its language.
var languages = [...]*language{
	&typescript, &tsx, &javascript, &jsx,
	&golang, &rust, &python, &solidity,
	&jsonStrict, &jsonComments, &json5, &yamlLanguage,
	&bash, &console, &toml, &sqlLanguage,

	{name: "powershell", aliases: "ps1 pwsh posh"},
	{name: "batch", aliases: "bat cmd dosbatch"},
	{name: "c", aliases: "h"},
	{name: "cpp", aliases: "c++ cc cxx hpp"},
	{name: "csharp", aliases: "cs c#"},
	{name: "css"},
	{name: "diff", aliases: "patch udiff"},
	{name: "dockerfile", aliases: "docker containerfile"},
	{name: "elixir", aliases: "ex exs"},
	{name: "fsharp", aliases: "fs f#"},
	{name: "graphql", aliases: "gql"},
	{name: "haskell", aliases: "hs"},
	{name: "html", aliases: "htm xhtml"},
	{name: "ini", aliases: "cfg conf properties"},
	{name: "java"},
	{name: "julia", aliases: "jl"},
	{name: "kotlin", aliases: "kt kts"},
	{name: "lua"},
	{name: "makefile", aliases: "make mk"},
	{name: "markdown", aliases: "md mdown mkd"},
	{name: "mdx"},
	{name: "objective-c", aliases: "objc objectivec"},
	{name: "ocaml", aliases: "ml"},
	{name: "perl", aliases: "pl"},
	{name: "php"},
	{name: "protobuf", aliases: "proto proto3"},
	{name: "r"},
	{name: "ruby", aliases: "rb"},
	{name: "scala", aliases: "sc"},
	{name: "svelte"},
	{name: "swift"},
	{name: "terraform", aliases: "tf hcl"},
	{name: "text", aliases: "txt plain plaintext plain-text none output"},
	{name: "vue"},
	{name: "xml", aliases: "xsd xsl svg"},
	{name: "zig"},
}

// Canonical gives the one name this package uses for a language: "ts" is "typescript", "golang" is "go". A name it does
// not know comes back in lower case.
func Canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if l := find(name); l != nil {
		return l.name
	}
	return name
}

// SameLanguage reports whether code marked as have is in the language want. Aliases are the same language, and a
// dialect counts as the language it extends: tsx satisfies typescript, jsx javascript, jsonc and json5 json, console
// bash. Not the other way round: who asks for tsx does not get plain typescript.
func SameLanguage(want, have string) bool {
	want, have = Canonical(want), Canonical(have)
	if want == have {
		return true
	}
	l := find(have)
	return l != nil && l.is != "" && l.is == want
}

// Languages lists the languages [Syntax] can check.
func Languages() []string {
	var names []string
	for _, l := range languages {
		if l.syntax != nil {
			names = append(names, l.name)
		}
	}
	return names
}

// find returns the language with this name or alias, nil when there is none. The name is in lower case.
func find(name string) *language {
	if name == "" || strings.Contains(name, " ") {
		return nil
	}
	for _, l := range languages {
		if l.name == name || hasWord(l.aliases, name) {
			return l
		}
	}
	return nil
}

// hasWord reports whether word stands alone in a list separated by single spaces.
func hasWord(list, word string) bool {
	for i := 0; i+len(word) <= len(list); i++ {
		if end := i + len(word); list[i:end] == word && (end == len(list) || list[end] == ' ') {
			return true
		}
		for i < len(list) && list[i] != ' ' { // lists and words are short: a search for the space takes longer to begin
			i++
		}
	}
	return false
}
