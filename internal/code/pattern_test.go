package code

import (
	"fmt"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	const ts = `import { tool } from "@langchain/core/tools"; // uses createReactAgent
const agent = createAgent<State>({
  model: 'openai:gpt-4',
  tools,
});
/* await agent.stream() */
const text = ` + "`call .batch() ${agent . invoke (input)} now`" + `;
const graph = new StateGraph( State )
  .addNode("a  b", fn);
`
	for _, tc := range []struct{ pattern, want string }{
		{".invoke(", "7:37"},
		{"agent.invoke(input)", "7:31"},
		{"createAgent", "2:15"},
		{"createagent", ""},
		{"createReactAgent", ""},
		{"text:createReactAgent", "1:55"},
		{".stream(", ""},
		{".batch(", ""},
		{"text:.batch(", "7:20"},
		{"gpt-4", ""},
		{`"openai:gpt-4"`, "3:10"},
		{`model: "openai:gpt-4"`, "3:3"},
		{`gpt-4'`, "3:18"},
		{"text:gpt-4", "3:18"},
		{"@langchain/core", "1:23"},
		{`from "@langchain/core/tools"`, "1:17"},
		{`addNode("a  b"`, "9:4"},
		{`addNode("a b"`, ""},
		{"new StateGraph(State).addNode(", "8:15"},
		{"newStateGraph", ""},
		{"import{tool}from", "1:1"},
		{"const", "2:1 7:1 8:1"},
		{"// uses", "1:47"},
		{"model: 'openai:gpt-4'", "3:3"},
		{"text: 'openai:gpt-4'", ""},
		{"call:createAgent", "2:15"},
		{"call:createAgent(", "2:15"},
		{"call:createAgent()", "2:15"},
		{"call:StateGraph", "8:19"},
		{"call:agent.invoke", "7:39"},
		{"call:invoke", "7:39"},
		{"call:.invoke", "7:39"},
		{"call:.createAgent", ""},
		{"call:Agent", ""},
		{"call:stream", ""},
		{"call:other.invoke", ""},
		{`re:new\s+StateGraph`, "8:15"},
		{`re:new\s+stategraph`, ""},
		{`re:(?<=\.\s)invoke\s*\(`, "7:39"},
		{`re:createReact`, ""},
		{`re:['"]openai:`, "3:10"},
		{`re:gpt`, ""},
	} {
		p, err := ParsePattern(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		matches, err := p.Find("ts", ts, FindOptions{})
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
		}
		if got := renderMatches(matches); got != tc.want {
			t.Errorf("%s: found at %q, want %q", tc.pattern, got, tc.want)
		}
	}
}

func renderMatches(matches []Match) string {
	var out []string
	for _, m := range matches {
		out = append(out, fmt.Sprintf("%d:%d", m.Line, m.Col))
	}
	return strings.Join(out, " ")
}

func TestPatternLanguages(t *testing.T) {
	for _, tc := range []struct{ lang, src, pattern, want string }{
		{"python", "x = 1 # graph.compile()\n'''graph.compile()'''\n", "graph.compile", ""},
		{"python", "if x:\n    graph . compile ()\n", "graph.compile()", "2:5"},
		{"python", "llm = init('gpt-4')", `"gpt-4"`, "1:12"},
		{"python", "from langchain import agents", "from langchain", "1:1"},
		{"python", "@tool\ndef f(): pass", "call:tool", "1:2"},
		{"rust", "fn f<'a>(x: &'a str) { g(r#\"h(1)\"#) }", "call:h", ""},
		{"rust", "fn f<'a>(x: &'a str) { println!(\"x\") }", "call:println!", "1:24"},
		{"rust", "fn f<'a>(x: &'a str) {}", "&'a str", "1:13"},
		{"go", "import (\n\t\"github.com/x/y\"\n)\nvar s = \"github.com/z\"", "github.com/x", "2:3"},
		{"go", "import (\n\t\"github.com/x/y\"\n)\nvar s = \"github.com/z\"", "github.com/z", ""},
		{"text", "anything call(1)", "call:call", "1:10"},
		{"", "a . b", "a.b", "1:1"},
	} {
		p, err := ParsePattern(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		matches, err := p.Find(tc.lang, tc.src, FindOptions{})
		if got := renderMatches(matches); err != nil || got != tc.want {
			t.Errorf("%s %q in %q: found at %q (%v), want %q", tc.lang, tc.pattern, tc.src, got, err, tc.want)
		}
	}
}

func TestPatternEverywhere(t *testing.T) {
	for _, text := range []string{"secret", "re:secret"} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		matches, err := p.Find("ts", "// secret\n'secret'", FindOptions{Everywhere: true})
		if got := renderMatches(matches); err != nil || got != "1:4 2:2" {
			t.Errorf("%s: found at %q (%v)", text, got, err)
		}
	}
}

func TestParsePatternErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":               "the pattern is empty, and so in every code",
		" \n":            "the pattern is empty, and so in every code",
		"re:":            "nothing stands behind re:",
		"call: ":         "nothing stands behind call:",
		"re:(":           "not a regular expression: missing closing )",
		"call:new Agent": `"new Agent" is no name of a function: write call:createAgent or call:graph.compile`,
		"call:a..b":      `"a..b" is no name of a function: write call:createAgent or call:graph.compile`,
		"call:.":         `"." is no name of a function: write call:createAgent or call:graph.compile`,
		"re:" + strings.Repeat("a", maxExpression+1): "the expression is longer than 10000 characters",
	} {
		if _, err := ParsePattern(text); err == nil || err.Error() != want {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
}

// TestPatternTimeLimit holds that an expression that backtracks without end is an error and no verdict.
func TestPatternTimeLimit(t *testing.T) {
	p, err := ParsePattern(`re:^(a+)+$`)
	if err != nil {
		t.Fatal(err)
	}
	if matches, err := p.Find("ts", strings.Repeat("a", 60)+"!", FindOptions{}); err == nil {
		t.Errorf("found %v, want an error", matches)
	}
}

func TestProvides(t *testing.T) {
	for _, tc := range []struct {
		lang, src, pkg string
		want           bool
	}{
		{"ts", `import { tool } from "@langchain/core/tools"`, "@langchain/core", true},
		{"ts", `import "@langchain/core"`, "@langchain/core", true},
		{"ts", `const x = require("@langchain/core")`, "@langchain/core", true},
		{"ts", `const x = await import("@langchain/core/tools")`, "@langchain/core", true},
		{"ts", `export * from "@langchain/core"`, "@langchain/core", true},
		{"ts", `import type { X } from "@langchain/core"`, "@langchain/core", true},
		{"ts", `import x = require("@langchain/core")`, "@langchain/core", true},
		{"ts", `import "@langchain/core/tools"`, "@langchain/core/tools", true},
		{"ts", `import "@langchain/core/tools.js"`, "@langchain/core/tools", true},
		{"ts", `import "@langchain/core"`, "@langchain/core/tools", false},
		{"ts", `import "@langchain/core-x"`, "@langchain/core", false},
		{"ts", `import "@Langchain/core"`, "@langchain/core", false},
		{"ts", `import "@langchain/x"`, "langchain", false},
		{"ts", `import "langchain-foo"`, "langchain", false},
		{"ts", `import "langchain/agents"`, "langchain", true},
		{"ts", `import "npm:@langchain/core@0.3/tools"`, "@langchain/core", true},
		{"ts", `import "npm:langchain@1"`, "langchain", true},
		{"ts", `import "npm:langchain-foo@1"`, "langchain", false},
		{"ts", `import "https://esm.sh/@langchain/core@0.3.1/tools?target=es2020"`, "@langchain/core", true},
		{"ts", `import "https://cdn.jsdelivr.net/npm/zod@3"`, "zod", true},
		{"ts", `import "node:fs/promises"`, "fs", true},
		{"ts", `import "fs"`, "node:fs", true},
		{"ts", `import "./langchain"`, "langchain", false},
		{"ts", `// import "langchain"`, "langchain", false},
		{"ts", `import "langchain"`, "", false},
		{"python", "from langchain_core.tools import tool", "langchain_core", true},
		{"python", "import langchain_core as lc", "langchain_core", true},
		{"python", "import langchain_core as lc", "langchain-core", true},
		{"python", "import langchain_core", "langchain", false},
		{"python", "import Langchain_core", "langchain_core", false},
		{"python", "from langchain import agents", "langchain.agents", true},
		{"python", "from langchain import chains", "langchain.agents", false},
		{"python", "from langchain_core.tools import tool", "langchain_core.tools", true},
		{"rust", "use anchor_lang::prelude::*;", "anchor-lang", true},
		{"rust", "use Anchor_lang::prelude::*;", "anchor_lang", false},
		{"go", `import "github.com/tmc/langchaingo/llms"`, "github.com/tmc/langchaingo", true},
		{"go", `import "github.com/tmc/langchaingox"`, "github.com/tmc/langchaingo", false},
		{"sol", `import "@openzeppelin/contracts/token/ERC20/ERC20.sol";`, "@openzeppelin/contracts", true},
	} {
		got := false
		for _, i := range Imports(tc.lang, tc.src) {
			got = got || i.Provides(tc.pkg)
		}
		if got != tc.want {
			t.Errorf("%s provides %q: got %t, want %t", tc.src, tc.pkg, got, tc.want)
		}
	}
}
