package lint

import (
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/skill"
)

var codeSyntax = Rule{
	ID: "code-syntax", Family: "code", Severity: Warning,
	Doc:     "A code block does not parse in its language.",
	Explain: "Models copy examples, mistakes included. Each block with a known language is read by a parser for it; fragments are fine, as are blocks that say with ... or <placeholders> that they are not complete.",
	check:   checkExamplesParse,
}

// maxParsed is the most blocks of a file that are parsed. Each costs the parser a start; real files have a few dozen.
const maxParsed = 1000

// parseExamples finds the examples of some files and reads those of all files together for which that is cheaper. A
// file with many of them is left to [checkExamplesParse], which need not read them all.
func parseExamples(passes []*pass) {
	var all []*skill.Block
	for _, p := range passes {
		for i := range p.Blocks {
			if b := &p.Blocks[i]; p.claimsSyntax(b) {
				p.examples = append(p.examples, b)
			}
		}
		if len(p.examples) <= maxTogether {
			all = append(all, p.examples...)
		}
	}
	parsed := parsedTogether(all)
	for _, p := range passes {
		p.parsed = parsed
	}
}

func checkExamplesParse(p *pass) {
	rest := p.examples[:min(len(p.examples), maxParsed)]
	for len(rest) > 0 && !p.full() {
		batch := rest[:min(len(rest), maxTogether)]
		rest = rest[len(batch):]
		good := p.parsed
		if len(p.examples) > maxTogether {
			good = parsedTogether(batch)
		}
		for _, b := range batch {
			if !good[b] && !p.full() {
				checkSyntax(p, b)
			}
		}
	}
	if len(p.examples) > maxParsed && !p.full() {
		b := p.examples[maxParsed]
		p.at(b.Start, b.Start+len(b.Fence), nil, "the file has more than %d code blocks; from here on they are not parsed", maxParsed)
	}
}

// claimsSyntax reports whether a block is meant to parse.
func (p *pass) claimsSyntax(b *skill.Block) bool {
	return b.Lang != "" && b.Closed && !isSketch(b.Lang, b.Text) && !(isShell(b.Lang) && hasAngles(b.Text)) && !p.showsWrong(b)
}

func checkSyntax(p *pass, b *skill.Block) {
	lang := b.Lang
	if lang == "json" {
		lang = "jsonc" // examples are commented, and everyone reads them
	}
	problems, _ := code.Syntax(lang, b.Text)
	problems = withoutRepeats(problems)
	if len(problems) == 0 || isMarkup(b) || isFragment(b, lang) || isOutput(b, problems[0]) {
		return
	}
	line, col := b.Place(problems[0].Line, problems[0].Col)
	start := p.Offset(line, col)
	_, end := p.Bounds(min(line, p.Lines()))
	p.at(start, max(end, start), nil, "the %s does not parse: %s", b.Lang, skill.Shorten(problems[0].Message, 120))
}

// withoutRepeats leaves out the problems of a source that has a name twice: a block that shows two ways of doing a thing
// does.
func withoutRepeats(problems []code.Problem) []code.Problem {
	return slices.DeleteFunc(problems, func(x code.Problem) bool {
		return strings.HasSuffix(x.Message, "has already been declared") || strings.HasPrefix(x.Message, "Multiple exports with the same name") ||
			strings.HasPrefix(x.Message, "key ") && strings.Contains(x.Message, " is already set in line ") // YAML
	})
}

// isMarkup reports whether a block of TSX is a piece of markup and no program: elements beside each other, or a tag alone.
func isMarkup(b *skill.Block) bool {
	if b.Lang != "tsx" && b.Lang != "jsx" {
		return false
	}
	for line := range strings.Lines(b.Text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "{/*") {
			return line[0] == '<'
		}
	}
	return false
}

// isSketch reports whether a block says of itself that something is left out or to be filled in.
func isSketch(lang, text string) bool {
	// {{ name }} is a place in a template; in TSX {{a: 1}} is an object, and in Python a set of sets.
	if leavesOut(lang, text) || strings.Contains(text, "{{ ") || strings.Contains(text, "{%") || isDiff(text) ||
		strings.Contains(text, "{{") && (lang == "json" || lang == "yaml" || isShell(lang)) {
		return true
	}
	for _, pair := range [][2]string{{"<", ">"}, {"[", "]"}, {"{", "}"}} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, pair[0])
			if !ok {
				break
			}
			if end := strings.Index(after[:min(len(after), 60)], pair[1]); end > 0 && isPlaceholder(after[:end]) {
				return true
			}
			rest = after
		}
	}
	return false
}

// isDiff reports whether lines are marked as added and as taken out.
func isDiff(text string) bool {
	added, removed := false, false
	for line := range strings.Lines(text) {
		added = added || strings.HasPrefix(line, "+ ")
		removed = removed || strings.HasPrefix(line, "- ")
		if c := line[0]; c != '+' && c != '-' && c != ' ' && c != '\n' && c != '@' && c != '\r' {
			return false
		}
	}
	return added && removed
}

// leavesOut reports whether dots stand for something that is not shown. Those of ...args are part of the language.
func leavesOut(lang, text string) bool {
	spreads := false
	switch lang {
	case "typescript", "javascript", "tsx", "jsx":
		spreads = true
	}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "...")
		if !ok {
			return strings.Contains(text, "…")
		}
		if !spreads || after == "" || !isLetterASCII(after[0]) && strings.IndexByte("_$[{(", after[0]) < 0 {
			return true
		}
		rest = after
	}
}

// isPlaceholder reports whether the text between brackets asks to be replaced: YOUR_KEY, your-name, Feature Name.
func isPlaceholder(s string) bool {
	if strings.ContainsAny(s, "\n,;:=()\"'") {
		return false
	}
	lower := strings.ToLower(s)
	if strings.HasPrefix(lower, "your") || strings.HasPrefix(lower, "insert ") {
		return true
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' })
	return len(words) > 1 && strings.ToUpper(s[:1]) == s[:1] && isAlnum(s[0])
}

func isShell(lang string) bool {
	switch lang {
	case "bash", "sh", "zsh", "fish", "shell", "console", "powershell":
		return true
	}
	return false
}

// hasAngles reports whether a shell command has something in angle brackets: a placeholder, though the shell would read
// a file and write another.
func hasAngles(text string) bool {
	for line := range strings.Lines(text) {
		_, after, ok := strings.Cut(line, "<")
		if ok && after != "" && after[0] != '<' && after[0] != ' ' && after[0] != '(' && strings.Contains(after, ">") {
			return true
		}
	}
	return false
}

// showsWrong reports whether a block is an example of how not to do it.
func (p *pass) showsWrong(b *skill.Block) bool {
	if strings.Contains(b.Text, "❌") || strings.Contains(strings.ToLower(b.Info), "bad") {
		return true
	}
	for _, mark := range [...]string{"# ", "// "} {
		for _, word := range [...]string{"INVALID", "Invalid", "invalid", "WRONG", "Wrong", "wrong", "BAD", "Bad"} {
			if strings.Contains(b.Text, mark+word) {
				return true
			}
		}
	}
	return false
}

var codeUntagged = Rule{
	ID: "code-untagged", Family: "code", Severity: Info, Profiles: []string{Strict},
	Doc:     "Code blocks do not name their language.",
	Explain: "The language after the fence (```python) tells readers and tools what the block is; use text for output and diagrams. A file is reported once.",
	check: func(p *pass) {
		var first *skill.Block
		count := 0
		for i := range p.Blocks {
			if b := &p.Blocks[i]; b.Info == "" {
				count++
				if first == nil {
					first = b
				}
			}
		}
		switch {
		case count == 1:
			p.at(first.Start, first.Start+len(first.Fence), nil, "the code block does not name its language")
		case count > 1:
			p.at(first.Start, first.Start+len(first.Fence), nil, "%d of %d code blocks do not name their language; this is the first", count, len(p.Blocks))
		}
	},
}

var languageMix = Rule{
	ID: "language-mix", Family: "language", Severity: Warning, Profiles: []string{LangChain, Strict},
	Doc:     "A code block is in another language than the skill.",
	Explain: "A skill that says language: js and shows Python teaches the model to mix them. Shell, data and text blocks are not meant.",
	check: func(p *pass) {
		language := p.Frontmatter.Text("language")
		if language == "" {
			language = p.Language()
		}
		if language == "" {
			return
		}
		for _, b := range p.Blocks {
			if skill.Foreign(b.Lang, language) {
				p.at(b.Start, b.Start+len(b.Fence)+len(b.Info), nil, "the code block is in %s, the skill is in %s", b.Lang, language)
			}
		}
	},
}
