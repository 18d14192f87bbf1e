package skill

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// The LangChain skills evaluators, version 1.0, read a skill with regular expressions over its raw text. What follows
// gives the same answers, quirks included: headings are found in the middle of lines and inside code, frontmatter is not
// YAML, and a heading above a sub-heading is an empty section.

// white is white space as JavaScript's \s has it.
const white = `[\s\v\x{a0}\x{feff}\p{Zs}\x{2028}\x{2029}]`

// inline is JavaScript's dot.
const inline = `[^\n\r\x{2028}\x{2029}]`

type compatPatterns struct {
	frontmatter, overview, overviewWord, nextSection, examples, boundaries, gotchas, docs, blocks, empty, table, links *regexp.Regexp
}

var compat = sync.OnceValue(func() *compatPatterns {
	// Letters in patterns stand for themselves in either case. Go's own flag would also take ſ for s and K for k.
	c := func(pattern string) *regexp.Regexp {
		var b strings.Builder
		for i := range len(pattern) {
			switch x := pattern[i]; {
			case x == '_':
				b.WriteString(white)
			case x == '@':
				b.WriteString(inline)
			case isLetterASCII(x) && (i == 0 || pattern[i-1] != '\\'):
				b.Write([]byte{'[', x, x - 'a' + 'A', ']'})
			default:
				b.WriteByte(x)
			}
		}
		return regexp.MustCompile(b.String())
	}
	return &compatPatterns{
		frontmatter:  regexp.MustCompile(`(?s)\A---` + white + `*\n(.*?)\n---`),
		overview:     c(`##_+overview`),
		overviewWord: c(`##_+overview\b`),
		nextSection:  c(`\n##_`),
		examples:     c(`##_+code_+examples?|###_+@*example|##_+basic_+usage`),
		boundaries:   c(`##_+boundaries|###_+what_+(?:agents?_+)?can(?:not|'t)?_`),
		gotchas:      c(`##_+gotchas`),
		docs:         c(`##_+(?:full_+)?documentation|##_+links|\[@*\]\(https?://@*\)`),
		blocks:       regexp.MustCompile("(?s)```([0-9A-Za-z_]*)\\n.*?```"),
		empty:        c(`(?:\A|[\n\r\x{2028}\x{2029}])#{2,}_+@+\n+#{2,}_`),
		table:        c(`\|@+\|@+\|`),
		links:        c(`\[[^\]]*\]\(([^)]+)\)`),
	}
})

// compatStructure reads a file the way the original does.
func compatStructure(text, language string) structure {
	p := compat()
	x := structure{}
	body := text
	fields := map[string]string{}
	if m := p.frontmatter.FindStringSubmatchIndex(text); m != nil {
		x.frontmatter = true
		fields = compatFields(text[m[2]:m[3]])
		body = strings.TrimFunc(text[m[1]:], isJSSpace) // a file without frontmatter is not trimmed
	}
	x.name, x.description, x.language = fields["name"] != "", fields["description"] != "", fields["language"] != ""
	if language == "" {
		language = fields["language"]
	}
	x.overview = p.overview.MatchString(body)
	x.examples = p.examples.MatchString(body)
	x.boundaries = p.boundaries.MatchString(body)
	x.gotchas = p.gotchas.MatchString(body)
	x.docs = p.docs.MatchString(body)
	x.emptySections = p.empty.MatchString(body)
	x.hasTable = p.table.MatchString(body)
	x.overviewWords = compatOverview(p, body)
	x.blocks, x.codeLanguage = compatBlocks(p, body, language)
	x.linksGood = true
	for _, m := range p.links.FindAllStringSubmatch(body, -1) {
		x.linksGood = x.linksGood && (strings.HasPrefix(m[1], "http://") || strings.HasPrefix(m[1], "https://"))
	}
	return x
}

// compatFields splits each line at its first colon. Nested keys and block scalars give odd entries, and a later line
// wins over an earlier one.
func compatFields(text string) map[string]string {
	fields := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if i := strings.IndexByte(line, ':'); i > 0 {
			fields[strings.TrimFunc(line[:i], isJSSpace)] = strings.TrimFunc(line[i+1:], isJSSpace)
		}
	}
	return fields
}

// isJSSpace is what JavaScript's trim takes off.
func isJSSpace(r rune) bool {
	return r != 0x85 && (unicode.IsSpace(r) || r == 0xfeff)
}

// compatOverview counts the words behind the word overview of the heading, the rest of its line included, up to the next
// heading of level 2. A longer word ("Overviewing") makes a section, but not this one.
func compatOverview(p *compatPatterns, body string) int {
	m := p.overviewWord.FindStringIndex(body)
	if m == nil {
		return 0
	}
	text := body[m[1]:]
	if next := p.nextSection.FindStringIndex(text); next != nil {
		text = text[:next[0]]
	}
	return len(strings.FieldsFunc(text, isJSSpace))
}

// compatBlocks counts the blocks whose info string is empty or one word, and judges the tags: none at all, or at least
// one of the language, in small letters.
func compatBlocks(p *compatPatterns, body, language string) (blocks int, right bool) {
	want := []string{"py", "python"}
	if language == "js" {
		want = []string{"ts", "typescript", "js", "javascript"}
	}
	tagged := false
	for _, m := range p.blocks.FindAllStringSubmatch(body, -1) {
		blocks++
		tagged = tagged || m[1] != ""
		right = right || slices.Contains(want, m[1])
	}
	return blocks, right || !tagged
}
