package skill

import (
	"strings"
	"testing"
)

const jsSkill = "---\nname: x\ndescription: y\nlanguage: js\n---\n"

type compatCase struct {
	quirk string
	text  string // the body of a skill in JavaScript, or a whole file when it has dashes near its beginning
	check string
	want  bool
}

func (c *compatCase) file() string {
	if i := strings.Index(c.text, "---"); i >= 0 && i < 4 {
		return c.text
	}
	return jsSkill + c.text
}

// compatCases are the quirks of the original, one by one. Each expectation was checked against the original's expressions
// run by a JavaScript engine, as were some 400,000 random texts made of such pieces.
var compatCases = []compatCase{
	{"frontmatter needs no space after the dashes", "---\na\n---", checkFrontmatter, true},
	{"blank lines and spaces after the dashes", "--- \t\n\n\na\n---", checkFrontmatter, true},
	{"frontmatter must not be empty", "---\n---\n", checkFrontmatter, false},
	{"an empty line is enough", "---\n\n---\n", checkFrontmatter, true},
	{"the closing dashes may have text behind them", "---\nname: x\n---more", checkName, true},
	{"four dashes close it too", "---\nname: x\n----\n", checkName, true},
	{"a dash inside of a value does not close it", "---\na: b --- c\nname: x\n---\n", checkName, true},
	{"white space of other scripts", "---\u00a0\u3000\nname: x\n---\n", checkName, true},
	{"next line is no white space", "---\u0085\nname: x\n---\n", checkFrontmatter, false},
	{"a byte order mark hides it", byteOrderMark + jsSkill, checkFrontmatter, false},
	{"text in front hides it", " " + jsSkill, checkFrontmatter, false},
	{"windows line ends", "---\r\nname: x\r\n---\r\n", checkName, true},

	{"a nested key counts", "---\nmetadata:\n  name: x\n---\n", checkName, true},
	{"a later line wins", "---\nname: x\nname:\n---\n", checkName, false},
	{"quotes are kept", "---\nname: \"\"\n---\n", checkName, true},
	{"no space after the colon", "---\nname:x\n---\n", checkName, true},
	{"a key with a space", "---\nname : x\n---\n", checkName, true},
	{"a comment is no key", "---\n# name: x\n---\n", checkName, false},
	{"a line that begins with a colon", "---\n: name: x\n---\n", checkName, false},
	{"a list item is another key", "---\n- name: x\n---\n", checkName, false},
	{"a block scalar's mark is its value", "---\ndescription: |\n  text\n---\n", checkDescription, true},
	{"a block scalar's text can be a key", "---\ndescription: |\n  name: x\n---\n", checkName, true},
	{"capitals make another key", "---\nName: x\n---\n", checkName, false},

	{"overview at any level but the first", "#### Overview", checkOverview, true},
	{"overview of level 1", "# Overview", checkOverview, false},
	{"overview as the beginning of a word", "## Overviews", checkOverview, true},
	{"overview in the middle of a line", "see ## overview", checkOverview, true},
	{"overview in code", "```\n## Overview\n```", checkOverview, true},
	{"overview on the next line", "##\n\nOverview", checkOverview, true},
	{"overview after something else", "## An Overview", checkOverview, false},
	{"overview without a space", "##Overview", checkOverview, false},
	{"overview after a space of another kind", "##\u3000Overview", checkOverview, true},
	{"overview in the frontmatter", "---\nname: x\na: ## Overview\n---\n", checkOverview, false},

	{"code example in the singular", "## Code Example", checkExamples, true},
	{"code and examples apart", "##  code \n examples", checkExamples, true},
	{"examples alone", "## Examples", checkExamples, false},
	{"an example at level 3", "### One more EXAMPLE here", checkExamples, true},
	{"an example on the line after an empty heading", "###\nfor example", checkExamples, true},
	{"an example on the line after a heading", "### A\nfor example", checkExamples, false},
	{"a line separator ends a line", "### A\u2028example", checkExamples, false},
	{"basic usage at level 4", "#### Basic usage", checkExamples, true},

	{"boundaries", "## boundaries of it", checkBoundaries, true},
	{"boundary", "## Boundary", checkBoundaries, false},
	{"what agents can", "### What Agents CAN Do", checkBoundaries, true},
	{"what agent can't", "### what agent can't do", checkBoundaries, true},
	{"what agent can’t with a curly mark", "### what agent can’t do", checkBoundaries, false},
	{"what can", "### What can be done", checkBoundaries, true},
	{"what cannot", "### What cannot be done", checkBoundaries, true},
	{"what you can", "### What You CAN Do", checkBoundaries, false},
	{"what can at level 2", "## What can be done", checkBoundaries, false},
	{"what can at the end", "### What can", checkBoundaries, false}, // the body is trimmed
	{"what can at the end of a line", "### What can\nx", checkBoundaries, true},
	{"what candles", "### What candles do", checkBoundaries, false},

	{"gotchas", "## GOTCHAS", checkGotchas, true},
	{"gotcha", "## Gotcha", checkGotchas, false},
	{"a letter that only looks like an s", "## Gotchaſ", checkGotchas, false},
	{"a sign that only looks like a k", "## lin\u212as", checkDocs, false},

	{"documentation", "## Full  Documentation", checkDocs, true},
	{"links", "### links", checkDocs, true},
	{"a link without text or address", "[](http://)", checkDocs, true},
	{"a scheme in capitals", "[a](HTTPS://x)", checkDocs, true},
	{"a link over two lines", "[a\nb](https://x)", checkDocs, false},
	{"a bracket far in front", "[a] and b](https://x)", checkDocs, true},
	{"a relative link", "[a](b.md)", checkDocs, false},
	{"an image", "![a](https://x)", checkDocs, true},
	{"an address alone", "<https://x>", checkDocs, false},

	{"a block without a tag", "```\na\n```", checkBlocks, true},
	{"a block with attributes", "```ts x=1\na\n```", checkBlocks, false},
	{"a space in front of the tag", "``` ts\na\n```", checkBlocks, false},
	{"a tag with a sign", "```c++\na\n```", checkBlocks, false},
	{"the end of a block is the beginning of one", "```c++\na\n```\ntext\n```c\n", checkBlocks, true},
	{"tildes", "~~~\na\n~~~", checkBlocks, false},
	{"windows line ends in blocks", "```\r\na\r\n```", checkBlocks, false},
	{"a block in a line", "a ```\nb``` c", checkBlocks, true},
	{"a block that is not closed", "```\na", checkBlocks, false},

	{"no block", "a", checkCode, true},
	{"no tag", "```\na\n```", checkCode, true},
	{"one right tag of two", "```py\na\n```\n```js\na\n```", checkCode, true},
	{"only a wrong tag", "```py\na\n```", checkCode, false},
	{"only a shell", "```bash\na\n```", checkCode, false},
	{"capitals in a tag", "```TypeScript\na\n```", checkCode, false},
	{"tsx is no typescript", "```tsx\na\n```", checkCode, false},
	{"another language is python", "---\nlanguage: go\n---\n```py\na\n```", checkCode, true},
	{"capitals in the language", "---\nlanguage: JS\n---\n```js\na\n```", checkCode, false},
	{"quotes around the language", "---\nlanguage: \"js\"\n---\n```js\na\n```", checkCode, false},

	{"a heading above a sub-heading", "## A\n\n### B\ntext", checkFilled, false},
	{"a heading above one of level 1", "## A\n\n# B\ntext", checkFilled, true},
	{"a heading of level 1 above another", "# A\n\n## B\ntext", checkFilled, true},
	{"a space between them", "## A\n \n## B\ntext", checkFilled, true},
	{"windows line ends between them", "## A\r\n\r\n## B\r\ntext", checkFilled, true},
	{"a heading without a title", "##\n\ntext\n## B\nc", checkFilled, false},
	{"headings in code", "```\n## A\n## B\n```", checkFilled, false},
	{"an indented heading", "text\n ## A\n## B\nc", checkFilled, true},
	{"the last heading has no title", "## A\n##", checkFilled, true},
	{"no space after the marks", "## A\n##B\nc", checkFilled, true},
	{"a heading at the end is not empty", "text\n## A", checkFilled, true},
	{"a line separator begins a line", "x\u2028## A\n## B\nc", checkFilled, false},

	{"fifty words", "## Overview\n" + strings.Repeat("w ", 50), checkDepth, true},
	{"forty-nine words", "## Overview\n" + strings.Repeat("w ", 49), checkDepth, false},
	{"the rest of the heading counts", "## Overview of it\n" + strings.Repeat("w ", 48), checkDepth, true},
	{"signs count as words", "## Overview\n" + strings.Repeat("- ", 50), checkDepth, true},
	{"a sub-section belongs to it", "## Overview\n### A\n" + strings.Repeat("w ", 48), checkDepth, true},
	{"a sub-section's heading belongs to it", "## Overview\n### A\n" + strings.Repeat("w ", 47), checkDepth, false},
	{"the next section does not", "## Overview\n" + strings.Repeat("w ", 49) + "\n## B\nw", checkDepth, false},
	{"a heading without a title ends it", "## Overview\n" + strings.Repeat("w ", 49) + "\n##\nw", checkDepth, false},
	{"overviews has no words", "## Overviews\n" + strings.Repeat("w ", 60), checkDepth, false},
	{"the first whole word counts", "## Overviews\nx\n## Overview\n" + strings.Repeat("w ", 50), checkDepth, true},
	{"the first one counts", "## Overview\nfew\n## Overview\n" + strings.Repeat("w ", 60), checkDepth, false},

	{"two blocks", "```\na\n```\n```\nb\n```", checkTwoBlocks, true},
	{"one block and the text between", "```\na\n```\n", checkTwoBlocks, false},

	{"a table", "| a | b |", checkTable, true},
	{"two bars", "| a |", checkTable, false},
	{"bars without text", "|||", checkTable, false},
	{"four bars", "||||", checkTable, false},
	{"five bars", "|||||", checkTable, true},
	{"a table over two lines", "| a |\n b |", checkTable, false},
	{"a shell pipe", "a | b | c | d", checkTable, true},

	{"no link", "a", checkLinks, true},
	{"a relative link is not valid", "[a](https://x) [b](c.md)", checkLinks, false},
	{"an anchor is not valid", "[a](#b)", checkLinks, false},
	{"a scheme in capitals is not valid", "[a](HTTP://x)", checkLinks, false},
	{"an empty target is no link", "[a]()", checkLinks, true},
	{"a call in code is a link", "```\na[0](b)\n```", checkLinks, false},
	{"a link over two lines is one", "[a\nb](c)", checkLinks, false},
	{"a space in front of the address", "[a]( https://x)", checkLinks, false},
}

func TestCompatQuirks(t *testing.T) {
	for _, c := range compatCases {
		t.Run(c.quirk, func(t *testing.T) {
			s := Score(Parse("x/SKILL.md", []byte(c.file())), ScoreOptions{Compat: CompatLangChain})
			if got, ok := s.Check(c.check); !ok || got.OK != c.want {
				t.Errorf("%s is %v, want %v", c.check, got.OK, c.want)
			}
		})
	}
}
