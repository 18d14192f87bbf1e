package code

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Answer is the code of an answer to a coding challenge: a program in one language, in as many blocks as it has files.
type Answer struct {
	Lang   string   // the language asked for
	Blocks []Block  // its code in that language, in order; Lang of each is the language it is to be read in
	Other  []Block  // its other blocks: commands, data, output, programs in other languages
	Notes  []string // what was unusual, one line each

	sniffed int // blocks whose language was looked for
}

// maxSniffed bounds for how many blocks the language is looked for; no program has as many files.
const maxSniffed = 64

// ReadAnswer finds the code of an answer in the language asked for. Models do not always write what Markdown says:
//
//   - Blocks of the language's family count, however they name it: a js block answers a TypeScript challenge.
//   - A block without a language counts if it parses in the language asked for. If no block names the language, one that
//     does not parse still counts, provided it looks like code and is not valid in another language.
//   - A fence inside a string of the program does not end its block, if the program parses only with what follows.
//   - An answer without fences is code if it looks like it, words before and behind it left out.
//   - A block that is never closed counts; the answer was cut off or its end forgotten.
//   - A diff counts, when there is nothing else, as what it leads to.
//
// Everything else is in Other, so that whoever finds no code can say what there was instead.
func ReadAnswer(text, lang string) *Answer {
	a := &Answer{Lang: Canonical(lang)}
	a.read(text, 0)
	return a
}

// Foreign is the language of the program that the answer has instead of one in the language asked for; empty when it has
// one in that language, or none at all.
func (a *Answer) Foreign() string {
	if len(a.Blocks) > 0 {
		return ""
	}
	for _, b := range a.Other {
		if l := find(b.Lang); strings.TrimSpace(b.Text) != "" && l != nil && l.calls != nil && !SameLanguage("bash", l.name) {
			return l.name
		}
	}
	return ""
}

func (a *Answer) read(text string, depth int) {
	blocks := Blocks(text)
	if bare := blocks == nil || len(blocks) == 1 && !blocks[0].Closed && strings.TrimSpace(blocks[0].Text) == ""; bare {
		if blocks != nil {
			text = text[:blocks[0].Start] // a closing fence whose opening one is missing
		}
		a.unfenced(text)
		return
	}
	blocks = a.mend(text, blocks)
	named := slices.ContainsFunc(blocks, func(b Block) bool { return a.accepts(b.Lang) })
	for _, b := range blocks {
		a.sort(b, named)
	}
	if len(a.Blocks) == 0 && depth < maxMarkdownDepth {
		a.nested(depth)
	}
	if len(a.Blocks) == 0 {
		a.diffs()
	}
	if n := len(a.Blocks); n > 0 && !a.Blocks[n-1].Closed {
		a.note("the last block is never closed")
	}
}

func (a *Answer) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// sort puts a block where it belongs. named tells whether some block names the language asked for.
func (a *Answer) sort(b Block, named bool) {
	switch {
	case strings.TrimSpace(b.Text) == "": // an empty block is no code
		a.Other = append(a.Other, b)
		return
	case a.accepts(b.Lang):
		b.Lang = a.reading(b.Lang)
		a.Blocks = append(a.Blocks, b)
		return
	case b.Info != "":
		a.Other = append(a.Other, b)
		return
	}
	switch lang := a.sniff(b.Text); {
	case lang == a.Lang || lang == "" && !named && a.sniffed <= maxSniffed && looksLikeCode(b.Text):
		b.Lang = a.Lang
		a.Blocks = append(a.Blocks, b)
		a.note("the block at line %d names no language and was read as %s", b.Line, a.Lang)
	default:
		b.Lang = lang
		a.Other = append(a.Other, b)
	}
}

const scripts = "typescript tsx javascript jsx"

// accepts reports whether a block of a language can be part of the program.
func (a *Answer) accepts(lang string) bool {
	return lang != "" && (SameLanguage(a.Lang, lang) || source.HasWord(scripts, a.Lang) && source.HasWord(scripts, lang))
}

// reading is the language a block is read in: JavaScript in a TypeScript program is TypeScript, but TypeScript is no
// JavaScript.
func (a *Answer) reading(lang string) string {
	if !source.HasWord(scripts, a.Lang) {
		return lang
	}
	markup := lang == "tsx" || lang == "jsx"
	switch typed := a.Lang == "typescript" || a.Lang == "tsx"; {
	case typed && markup:
		return "tsx"
	case typed:
		return "typescript"
	case markup:
		return "jsx"
	}
	return "javascript"
}

// sniff is the language of code that does not name it: the one asked for if it parses, else another it parses in. Shell
// and YAML are not tried, because nearly everything parses in them.
func (a *Answer) sniff(src string) string {
	if a.sniffed++; a.sniffed > maxSniffed || strings.TrimSpace(src) == "" {
		return ""
	}
	if parses(a.Lang, src) {
		return a.Lang
	}
	for _, lang := range [...]string{"json", "typescript", "python", "go", "rust", "solidity"} {
		if !a.accepts(lang) && parses(lang, src) {
			return lang
		}
	}
	return ""
}

// parses reports whether a source was checked and is well formed.
func parses(lang, src string) bool {
	problems, checked := Syntax(lang, src)
	return checked && len(problems) == 0
}

// mend takes back closing fences that are part of a program: Markdown written in a string of the program has fences of
// its own, and the first that looks like an end is not the end.
func (a *Answer) mend(text string, blocks []Block) []Block {
	const tries = 6          // for one block
	rescans := 24            // for the whole answer: each reads all of it again
	inside := map[int]bool{} // lines of fences that close nothing
	for i := 0; i < len(blocks) && rescans > 0; i++ {
		b := blocks[i]
		if !b.Closed || i == len(blocks)-1 || !a.mayBe(b) || parses(a.lang(b), b.Text) {
			continue
		}
		trial := maps.Clone(inside)
		for n := 0; n < tries && b.Closed; n++ {
			rescans--
			trial[b.EndLine] = true
			longer := scanBlocks(text, trial)
			if b = longer[i]; parses(a.lang(b), withoutFences(b.Text)) {
				a.note("a fence inside the program at line %d does not end its block", blocks[i].EndLine)
				blocks, inside = longer, trial
				break
			}
		}
	}
	return blocks
}

// withoutFences blanks the marks of the fences in a text. In a template string they would have to be escaped; a model that
// forgot it wrote one program all the same.
func withoutFences(text string) string {
	out := []byte(text)
	for rest := text; rest != ""; {
		start := len(text) - len(rest)
		var l string
		l, rest = source.CutLine(rest)
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		if run, _, ok := fenceRun(l[indent:]); ok {
			for i := range run {
				out[start+indent+i] = ' '
			}
		}
	}
	return string(out)
}

// mayBe reports whether a block may be part of the program, as far as can be said before it was parsed.
func (a *Answer) mayBe(b Block) bool {
	if b.Info == "" {
		return looksLikeCode(b.Text)
	}
	return a.accepts(b.Lang)
}

// lang is the language a block would be read in.
func (a *Answer) lang(b Block) string {
	if b.Lang == "" {
		return a.Lang
	}
	return a.reading(b.Lang)
}

// nested looks for the program in Markdown that is itself in a block: some models fence their whole answer.
func (a *Answer) nested(depth int) {
	for _, outer := range a.Other {
		if outer.Lang != "markdown" && outer.Lang != "mdx" {
			continue
		}
		inner := &Answer{Lang: a.Lang}
		inner.read(outer.Text, depth+1)
		for _, b := range inner.Blocks {
			a.Blocks = append(a.Blocks, b.inside(outer))
		}
	}
}

// inside moves a block that was found in the text of another to its place in the document.
func (b Block) inside(outer Block) Block {
	lines := strings.Count(b.Text, "\n")
	shifts := make([]int, lines)
	for i := range shifts {
		_, shifts[i] = outer.Place(b.TextLine+i, 1)
		shifts[i]--
		if i < len(b.shifts) {
			shifts[i] += b.shifts[i]
		}
	}
	b.Line, b.Col = outer.Place(b.Line, b.Col)
	b.TextLine += outer.TextLine - 1
	b.EndLine += outer.TextLine - 1
	b.Start, b.End = outer.Start, outer.End // all that is known of the bytes
	b.shifts = shifts
	return b
}

// diffs takes what a diff leads to for the program, if it parses.
func (a *Answer) diffs() {
	for _, b := range a.Other {
		if b.Lang != "diff" {
			continue
		}
		if b.Text = patched(b.Text); parses(a.Lang, b.Text) {
			b.Lang = a.Lang
			a.Blocks = append(a.Blocks, b)
			a.note("the diff at line %d was read as the code it leads to", b.Line)
		}
	}
}

// unfenced takes an answer without fences for code, if it is: as a whole if it parses, or else from its first to its last
// line of code, if that parses or most of it looks like code.
func (a *Answer) unfenced(text string) {
	text = strings.TrimRight(text, " \t\r\n")
	first, last := codeLines(text)
	if first == 0 {
		return
	}
	likely := looksLikeCode(text)
	if likely && a.sniff(text) != "" {
		first, last = 1, 1+strings.Count(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	}
	src := lineRange(text, first, last)
	lang := a.sniff(src)
	if lang == "" && !likely {
		return
	}
	b := Block{Lang: a.Lang, Text: src, Line: first, Col: 1, TextLine: first, EndLine: last, Closed: true, End: len(text)}
	if lang != "" && lang != a.Lang {
		b.Lang = lang
		a.Other = append(a.Other, b)
		return
	}
	a.Blocks = append(a.Blocks, b)
	a.note("the answer has no fence; lines %d to %d were read as %s", first, last, a.Lang)
}

// codeLines are the numbers of the first and last line that look like code; 0 when fewer than two do.
func codeLines(text string) (first, last int) {
	n, seen := 0, 0
	for text != "" {
		var l string
		l, text = source.CutLine(text)
		n++
		if l = strings.TrimSpace(l); l == "" || !isCodeLine(l) {
			continue
		}
		if seen++; seen == 1 {
			first = n
		}
		last = n
	}
	if seen < 2 && n > 1 {
		return 0, 0
	}
	return first, last
}

// lineRange is the text of some lines, each ended by a line feed.
func lineRange(text string, first, last int) string {
	var b strings.Builder
	for n := 1; text != "" && n <= last; n++ {
		var l string
		l, text = source.CutLine(text)
		if n >= first {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
