package code

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImportsArchives(t *testing.T) {
	runArchives(t, "imports", func(_ *testing.T, archive, _, input string) string {
		return renderImports(Imports(archive, input), archive == "unknown" || archive == "diff")
	})
}

func TestTextImportsArchives(t *testing.T) {
	runArchives(t, "text", func(_ *testing.T, _, _, input string) string {
		return renderImports(TextImports(input), true)
	})
}

func renderImports(imports []Import, lang bool) string {
	var out strings.Builder
	for _, i := range imports {
		fmt.Fprintf(&out, "%d:%d", i.Line, i.Col)
		if lang {
			fmt.Fprintf(&out, " %s", i.Lang)
		}
		fmt.Fprintf(&out, " %s", i.Path)
		if len(i.Names) > 0 {
			fmt.Fprintf(&out, " {%s}", strings.Join(i.Names, ", "))
		}
		fmt.Fprintf(&out, " in %q\n", i.Text)
	}
	return out.String()
}

func TestMatches(t *testing.T) {
	tests := []struct {
		lang, src, module string
		want              bool
	}{
		{"ts", `import x from "o1js"`, "o1js", true},
		{"ts", `import x from "O1JS"`, "o1js", true},
		{"ts", `import x from "o1js"`, " o1js ", true},
		{"ts", `import x from "o1js/dist"`, "o1js", false},
		{"ts", `import x from "@solana/web3.js"`, "@solana/web3.js", true},
		{"ts", `import x from "@solana/web3.js"`, "@solana/web3xjs", false},
		{"ts", `import x from "x"`, "", false},
		{"go", `import "github.com/cosmos/cosmos-sdk/types"`, "github.com/cosmos/cosmos-sdk/types", true},
		{"go", `import "github.com/cosmos/cosmos-sdk/types"`, "github.com/cosmos/cosmos-sdk", false},
		{"rust", `use anchor_lang::prelude::*;`, "anchor_lang", true},
		{"rust", `use anchor_lang::prelude::*;`, "anchor-lang", true},
		{"rust", `use anchor_lang::prelude::*;`, "anchor_lang::prelude", true},
		{"rust", `use anchor_lang::prelude::*;`, "anchor_lang::prelude::*", true},
		{"rust", `use anchor_lang::{prelude::*, Key};`, "anchor_lang::Key", true},
		{"rust", `use ::anchor_lang::Key;`, "::anchor_lang", true},
		{"rust", `use anchor_lang::prelude::*;`, "anchor", false},
		{"rust", `use anchor_lang_x::prelude::*;`, "anchor_lang", false},
		{"rust", `use anchor_lang;`, "anchor_lang::prelude", false},
		{"python", `import langchain.agents`, "langchain", true},
		{"python", `import langchain.agents`, "LangChain.Agents", true},
		{"python", `import langchain_core`, "langchain", false},
		{"python", `from langchain import agents, chains`, "langchain.chains", true},
		{"python", `from langchain import agents`, "langchain.chains", false},
		{"python", `from . import x`, ".x", true},
		{"python", `from .a import x`, ".a", true},
		{"sol", `import "@openzeppelin/contracts/token/ERC20/ERC20.sol";`, "@openzeppelin/contracts/token/ERC20/ERC20.sol", true},
		{"sol", `import "@openzeppelin/contracts/token/ERC20/ERC20.sol";`, "@openzeppelin/contracts", false},
	}
	for _, test := range tests {
		imports := Imports(test.lang, test.src)
		if len(imports) == 0 {
			t.Errorf("%s: no imports in %s", test.lang, test.src)
		}
		got := slices.ContainsFunc(imports, func(i Import) bool { return i.Matches(test.module) })
		if got != test.want {
			t.Errorf("%s matches %q: got %t, want %t", test.src, test.module, got, test.want)
		}
	}
}

// TestCoversPatterns holds has_import to the regular expressions it replaces: where one of them matches a well-formed
// statement, so must the scanners, in a block with the language, in one without, and in running text.
func TestCoversPatterns(t *testing.T) {
	statements := []struct{ lang, module, text string }{
		{"typescript", "o1js", `import { Field, SmartContract } from 'o1js';`},
		{"typescript", "o1js", `import * as o1js from "o1js"`},
		{"typescript", "o1js", `import o1js, { Field } from "o1js"`},
		{"typescript", "o1js", `import type { Field } from "o1js"`},
		{"typescript", "@coral-xyz/anchor", `import * as anchor from "@coral-xyz/anchor";`},
		{"javascript", "dotenv/config", `import 'dotenv/config';`},
		{"javascript", "@solana/web3.js", `const web3 = require('@solana/web3.js');`},
		{"javascript", "x", "const x = require( `x` )"},
		{"rust", "anchor_lang", `use anchor_lang::prelude::*;`},
		{"rust", "anchor_lang::prelude", `use anchor_lang::prelude::*;`},
		{"rust", "solana_program", `use solana_program::{account_info::AccountInfo, pubkey::Pubkey};`},
		{"go", "github.com/cosmos/cosmos-sdk/types", `import sdk "github.com/cosmos/cosmos-sdk/types"`},
		{"go", "fmt", `import "fmt"`},
		{"go", "embed", `import _ "embed"`},
	}
	for _, s := range statements {
		if !patternMatches(s.text, s.module) {
			t.Errorf("the patterns do not match %s", s.text)
		}
		for _, doc := range []string{
			"Text\n\n```" + s.lang + "\n" + s.text + "\n```\n",
			"Text\n\n```\n" + s.text + "\n```\n",
			"Text:\n\n" + s.text + "\n\nthat is all there is to say, it's easy.",
			"Write `" + s.text + "` first.",
			s.text,
		} {
			if strings.Contains(s.text, "`") && strings.Contains(doc, "Write") {
				continue
			}
			if !slices.ContainsFunc(TextImports(doc), func(i Import) bool { return i.Matches(s.module) }) {
				t.Errorf("no import of %s in %q", s.module, doc)
			}
		}
	}
}

func patternMatches(response, module string) bool {
	m := regexp.QuoteMeta(module)
	for _, p := range []string{
		"import\\s+.*\\s+from\\s+['\"`]" + m + "['\"`]",
		"import\\s+['\"`]" + m + "['\"`]",
		"require\\s*\\(\\s*['\"`]" + m + "['\"`]\\s*\\)",
		"use\\s+" + m,
		"import\\s+.*[\"']" + m + "[\"']",
	} {
		if regexp.MustCompile("(?i)" + p).MatchString(response) {
			return true
		}
	}
	return false
}

func TestImportsLineEndings(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		src := strings.Join([]string{"// x", "import {", "\ta,", "} from 'b'", "", "é; import c from \"d\""}, end)
		want := "2:1 b {a}\n6:4 d {default}\n"
		var got strings.Builder
		for _, i := range Imports("ts", src) {
			fmt.Fprintf(&got, "%d:%d %s {%s}\n", i.Line, i.Col, i.Path, strings.Join(i.Names, ", "))
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("line end %q (-want +got)\n%s", end, diff)
		}
	}
}
