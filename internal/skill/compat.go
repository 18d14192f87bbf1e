package skill

import (
	"regexp"
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
	frontmatter, overview, examples, boundaries, gotchas, docs, blocks, empty, table, links *regexp.Regexp
}

var compat = sync.OnceValue(func() *compatPatterns {
	c := func(pattern string) *regexp.Regexp {
		return regexp.MustCompile(strings.NewReplacer("_", white, "@", inline).Replace(pattern))
	}
	return &compatPatterns{
		frontmatter: c(`^---_*\n(?s:(.*?))\n---`),
		overview:    c(`(?i)##_+overview`),
		examples:    c(`(?i)##_+code_+examples?|###_+@*example|##_+basic_+usage`),
		boundaries:  c(`(?i)##_+boundaries|###_+what_+(?:agents?_+)?can(?:not|'t)?_`),
		gotchas:     c(`(?i)##_+gotchas`),
		docs:        c(`(?i)##_+(?:full_+)?documentation|##_+links|\[[^\]]+\]\(https?://[^)]+\)`),
		blocks:      c("```([0-9A-Za-z\\x{5f}]*)\\n(?s:.*?)```"),
		empty:       c(`(?m:^)##[^\n]*\n_*##`),
		table:       c(`\|@+\|@+\|`),
		links:       c(`\[[^\]]+\]\(([^)]+)\)`),
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
		body = text[m[1]:]
	}
	body = strings.TrimFunc(body, isJSSpace)
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

// compatOverview counts the words between the overview heading and the next "## " at the start of a line.
func compatOverview(p *compatPatterns, body string) int {
	m := p.overview.FindStringIndex(body)
	if m == nil {
		return 0
	}
	_, text, _ := strings.Cut(body[m[1]:], "\n")
	if strings.HasPrefix(text, "## ") {
		return 0
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return len(strings.FieldsFunc(text, isJSSpace))
}

// compatBlocks counts the blocks whose info string is empty or one word, and judges the tags: none at all, or at least
// one of the language.
func compatBlocks(p *compatPatterns, body, language string) (blocks int, right bool) {
	want := []string{"py", "python"}
	if language == "js" {
		want = []string{"ts", "typescript", "js", "javascript"}
	}
	tagged := false
	for _, m := range p.blocks.FindAllStringSubmatch(body, -1) {
		blocks++
		tag := strings.ToLower(m[1])
		tagged = tagged || tag != ""
		for _, w := range want {
			right = right || tag == w
		}
	}
	return blocks, right || !tagged
}
