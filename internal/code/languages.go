// Package code reads the code inside Markdown answers and documents.
//
// [Blocks] finds fenced blocks with their places, and [ReadAnswer] those that are the program an answer was asked for.
// [Syntax] asks a real parser whether a source is well formed, [Checkers] the language's own where that is configured.
// [Imports] reads the import statements of one source and [TextImports] those of a whole Markdown text;
// [Import.Matches] and [Import.Provides] are the rules by which a statement counts as an import of a module. [Calls] lists
// what a source calls, and a [Pattern] finds pieces of code, calls and expressions in it, comments and strings left out.
//
// What is known of a language is in its package below this one, and in its line of the table in languages.go.
// Everything here takes foreign text: nothing panics, and time grows with the length of the input, not with its shape.
// All functions are safe for concurrent use. Lines and columns start at 1; columns count characters.
package code

import (
	"context"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/golang"
	"github.com/mettle-eval/mettle/internal/code/javascript"
	"github.com/mettle-eval/mettle/internal/code/program"
	"github.com/mettle-eval/mettle/internal/code/python"
	"github.com/mettle-eval/mettle/internal/code/rust"
	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/shell"
	"github.com/mettle-eval/mettle/internal/code/solidity"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// language is all this package knows of one language. Only name is required.
type language struct {
	name    string
	aliases string // other names, lower case, separated by single spaces
	is      string // the broader language this one counts as when that is asked for

	// syntax reports what is wrong with src; false when this source could not be checked.
	syntax func(src string) ([]Problem, bool)

	checker string // who speaks when syntax does

	// program is the name of the language's own checker, and ask what it says of a source.
	program string
	ask     func(ctx context.Context, p *program.Program, src string) ([]Problem, error)

	// imports lists the import statements of src in order. Languages without it are read by all scanners.
	imports func(src string) []Import

	// dialect is how the language is cut into tokens. Without it, as the C family is.
	dialect *scan.Dialect

	// cut does it for a language that has a lexer of its own.
	cut func(src string) *scan.List

	// calls tells calls from what looks like them. Without it, the rules of the C family do.
	calls *scan.CallRules
}

// languages is the table: a new language is its package and its line here. Order matters in two places only: Languages
// follows it, and when several scanners read the same statement the first in the table names its language.
var languages = [...]*language{
	{
		name: "typescript", aliases: "ts mts cts deno ts-node",
		syntax: javascript.CheckTypeScript, checker: javascript.Checker,
		imports: javascript.Imports("typescript"), dialect: &javascript.Dialect, calls: &javascript.Calls,
	},
	{
		name: "tsx", aliases: "typescriptreact", is: "typescript",
		syntax: javascript.CheckTSX, checker: javascript.Checker,
		imports: javascript.Imports("tsx"), dialect: &javascript.Dialect, calls: &javascript.Calls,
	},
	{
		name: "javascript", aliases: "js mjs cjs node nodejs node.js ecmascript es6",
		syntax: javascript.CheckJSX, checker: javascript.Checker,
		imports: javascript.Imports("javascript"), dialect: &javascript.Dialect, calls: &javascript.Calls,
	},
	{
		name: "jsx", aliases: "javascriptreact react", is: "javascript",
		syntax: javascript.CheckJSX, checker: javascript.Checker,
		imports: javascript.Imports("jsx"), dialect: &javascript.Dialect, calls: &javascript.Calls,
	},
	{
		name: "go", aliases: "golang",
		syntax: golang.Check, checker: golang.Checker,
		imports: golang.Imports, dialect: &golang.Dialect, calls: &golang.Calls,
	},
	{
		name: "rust", aliases: "rs",
		syntax: rust.Check, checker: source.OwnChecker, program: "rustfmt", ask: rust.Ask,
		imports: rust.Imports, dialect: &rust.Dialect, calls: &rust.Calls,
	},
	{
		name: "python", aliases: "py python3 python2 py3 pycon ipython ipython3 jupyter pyi",
		syntax: python.Check, checker: source.OwnChecker, program: "python3", ask: python.Ask,
		imports: python.Imports, cut: python.Tokens, calls: &python.Calls,
	},
	{
		name: "solidity", aliases: "sol",
		syntax: solidity.Check, checker: source.OwnChecker, program: "solc", ask: solidity.Ask,
		imports: solidity.Imports, calls: &solidity.Calls,
	},
	{name: "json", aliases: "json-schema geojson webmanifest", syntax: jsonSyntax, checker: jsonChecker},
	{
		name: "jsonc", aliases: "json-with-comments jsonwithcomments hujson", is: "json",
		syntax: jsonCommentsSyntax, checker: jsonCommentsChecker,
	},
	{name: "yaml", aliases: "yml", syntax: yamlSyntax, checker: yamlChecker},
	{
		name: "bash", aliases: "sh shell zsh ksh shellscript shell-script",
		syntax: shell.Check, checker: shell.Checker, dialect: &shell.Dialect, calls: &shell.Calls,
	},
	{
		name: "console", aliases: "shell-session shellsession sh-session bash-session terminal", is: "bash",
		syntax: shell.CheckSession, checker: shell.Checker, dialect: &shell.Dialect, calls: &shell.Calls,
	},
	{name: "toml", syntax: tomlSyntax, checker: tomlChecker, dialect: &tomlDialect},

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
	{name: "json5", is: "json"},
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
	{name: "sql", aliases: "mysql postgres postgresql plpgsql sqlite psql tsql pgsql"},
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
		if l.name == name || source.HasWord(l.aliases, name) {
			return l
		}
	}
	return nil
}
