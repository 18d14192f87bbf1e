package skill

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/code"
)

// CompatLangChain makes [Score] compute what the LangChain skills evaluators compute, field by field.
const CompatLangChain = "langchain-1.0"

// ScoreOptions choose how a skill is scored.
type ScoreOptions struct {
	// Compat is empty or [CompatLangChain].
	//
	// Without it the checks read the parsed document, and two of them mean what their names say: a section is empty when
	// neither it nor a sub-section has content, and the code language is right when every tagged block agrees with it.
	// The original takes every heading directly above another heading for an empty section, which nearly every real file
	// has, and is content with one block in the right language among any number in a wrong one.
	Compat string
	// Language is that of the skill, "js" or another that counts as python; empty means what the frontmatter says.
	Language string
	// Keys are the frontmatter keys that a skill must have, and Sections its headings, each with alternatives behind a |.
	// Empty means those of the structural suite. They have no effect on Compat.
	Keys, Sections []string
}

// Check is one yes or no behind the scores.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Hard   bool   `json:"hard"` // failing it fails the skill; the other checks only lower scores
	Detail string `json:"detail,omitempty"`
}

// Scores are the five structural scores of a skill and the checks they are made of.
type Scores struct {
	FrontmatterValid     float64 `json:"frontmatter_valid"`
	SectionsCompleteness float64 `json:"sections_completeness"`
	CodeQuality          float64 `json:"code_quality"`
	SectionDepth         float64 `json:"section_depth"`
	StructuralScore      float64 `json:"structural_score"`

	Checks []Check `json:"checks"`

	keys, sections int // how many of the checks are of keys, the frontmatter itself among them, and of sections
}

// Names of the checks, in the order of [Scores.Checks].
const (
	checkFrontmatter = "frontmatter"
	checkName        = "name"
	checkDescription = "description"
	checkLanguage    = "language"
	checkOverview    = "overview"
	checkExamples    = "code_examples"
	checkBoundaries  = "boundaries"
	checkGotchas     = "gotchas"
	checkDocs        = "doc_links"
	checkBlocks      = "code_blocks"
	checkCode        = "code_language"
	checkFilled      = "no_empty_sections"
	checkDepth       = "overview_50_words"
	checkTwoBlocks   = "two_code_blocks"
	checkTable       = "table"
	checkLinks       = "valid_links"
)

// structure is what is known of a skill before it is scored, by either reading.
type structure struct {
	frontmatter, name, description, language         bool
	overview, examples, boundaries, gotchas, docs    bool
	blocks                                           int
	codeLanguage, emptySections, hasTable, linksGood bool
	overviewWords                                    int
	ownKeys, ownSections                             []Check // instead of those above, where the caller names them
	wrong, empty                                     string  // details: the first block and the first section that are wrong
}

// Score computes the structural scores.
func Score(d *Document, opts ScoreOptions) Scores {
	if opts.Compat == CompatLangChain {
		return compatStructure(d.Text, opts.Language).score()
	}
	s := d.structure(opts)
	return s.score()
}

// Check returns the check with this name.
func (s *Scores) Check(name string) (Check, bool) {
	for _, c := range s.Checks {
		if c.Name == name {
			return c, true
		}
	}
	return Check{}, false
}

// Sections are the checks of the five required sections.
func (s Scores) Sections() []Check { return s.Checks[s.keys : s.keys+s.sections] }

// Part is one of the five scores by its name, with the checks it is made of.
func (s Scores) Part(name string) (value float64, checks []Check) {
	switch name {
	case "frontmatter_valid":
		return s.FrontmatterValid, s.Checks[:s.keys]
	case "sections_completeness":
		return s.SectionsCompleteness, s.Sections()
	case "code_quality":
		return s.CodeQuality, s.Checks[s.depth()-3 : s.depth()]
	case "section_depth":
		return s.SectionDepth, s.Checks[s.depth():]
	}
	return s.StructuralScore, s.Checks[:s.depth()]
}

// depth is where the checks of depth begin.
func (s *Scores) depth() int { return len(s.Checks) - 4 }

func (x structure) score() Scores {
	var s Scores
	keys := []Check{
		{checkName, x.name, true, "the frontmatter has no name"},
		{checkDescription, x.description, true, "the frontmatter has no description"},
		{checkLanguage, x.language, true, "the frontmatter has no language"},
	}
	sections := []Check{
		{checkOverview, x.overview, true, "there is no section ## Overview"},
		{checkExamples, x.examples, true, "there is no section of code examples (## Code Examples, ## Basic Usage or ### … Example)"},
		{checkBoundaries, x.boundaries, true, "there is no section ## Boundaries"},
		{checkGotchas, x.gotchas, true, "there is no section ## Gotchas"},
		{checkDocs, x.docs, true, "there are no links to documentation (## Documentation, ## Links or a link to http(s))"},
	}
	if x.ownKeys != nil {
		keys = x.ownKeys
	}
	if x.ownSections != nil {
		sections = x.ownSections
	}
	s.keys, s.sections = 1+len(keys), len(sections)
	s.Checks = slices.Concat([]Check{{checkFrontmatter, x.frontmatter, true, "the file has no frontmatter"}}, keys, sections, []Check{
		{checkBlocks, x.blocks > 0, true, "there is no code block"},
		{checkCode, x.codeLanguage, true, "the code is not in the language of the skill" + x.wrong},
		{checkFilled, !x.emptySections, false, "a section is empty" + x.empty},
		{checkDepth, x.overviewWords >= 50, false, fmt.Sprintf("the overview has %d words, want 50", x.overviewWords)},
		{checkTwoBlocks, x.blocks >= 2, false, fmt.Sprintf("%d code blocks, want 2", x.blocks)},
		{checkTable, x.hasTable, false, "there is no table"},
		{checkLinks, x.linksGood, false, "a link does not begin with http:// or https://"},
	})
	for i := range s.Checks {
		if s.Checks[i].OK {
			s.Checks[i].Detail = ""
		}
	}
	s.FrontmatterValid = score(s.share(0, s.keys) == 1)
	s.SectionsCompleteness = s.share(s.keys, s.keys+s.sections)
	s.CodeQuality = weigh([]bool{x.blocks > 0, x.codeLanguage, !x.emptySections}, []float64{4, 3, 3})
	s.SectionDepth = s.share(s.depth(), len(s.Checks))
	s.StructuralScore = score(s.share(0, s.depth()) == 1)
	return s
}

// share is the part of some checks that hold.
func (s *Scores) share(from, to int) float64 {
	n := 0
	for _, c := range s.Checks[from:to] {
		if c.OK {
			n++
		}
	}
	return float64(n) / float64(to-from)
}

// weigh adds up tenths, so that 0.4 + 0.3 is 0.7 and not a hair beside it.
func weigh(holds []bool, tenths []float64) float64 {
	sum := 0.0
	for i, ok := range holds {
		if ok {
			sum += tenths[i]
		}
	}
	return sum / 10
}

func score(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// structure reads the parsed document.
func (d *Document) structure(opts ScoreOptions) structure {
	fm, language := &d.Frontmatter, opts.Language
	x := structure{
		frontmatter: fm.Readable() && len(fm.Fields) > 0,
		name:        fm.Text("name") != "", description: fm.Text("description") != "", language: fm.Text("language") != "",
		blocks: len(d.Blocks), hasTable: len(d.Tables) > 0, linksGood: true,
	}
	if language == "" {
		language = fm.Text("language")
	}
	for _, s := range d.Root.All()[1:] {
		x.readSection(s)
	}
	for _, l := range d.Links {
		web := strings.HasPrefix(l.Target, "http://") || strings.HasPrefix(l.Target, "https://")
		x.docs = x.docs || web && !l.Image
		x.linksGood = x.linksGood && (web || l.Image)
	}
	x.codeLanguage, x.wrong = d.codeLanguage(language, len(opts.Keys) > 0 && !slices.Contains(opts.Keys, "language"))
	for _, key := range opts.Keys {
		field, ok := fm.Get(key)
		ok = ok && field.Kind() != "null" && (Resolve(field.Node).Kind != yaml.ScalarNode || field.Text() != "")
		x.ownKeys = append(x.ownKeys, Check{key, ok, true, "the frontmatter has no " + key})
	}
	for i, names := range opts.Sections {
		s := d.named(strings.Split(names, "|"))
		x.ownSections = append(x.ownSections, Check{strings.ToLower(names), s != nil, true, "there is no section " + strings.ReplaceAll(names, "|", " or ")})
		if i == 0 && s != nil {
			x.overviewWords = s.Total
		}
	}
	return x
}

// named is the first section below the title whose heading begins with one of the names.
func (d *Document) named(names []string) *Section {
	for _, s := range d.Root.All()[1:] {
		title := strings.ToLower(strings.Join(strings.Fields(s.Title), " "))
		if s.Level >= 2 && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(title, strings.ToLower(strings.TrimSpace(n))) }) {
			return s
		}
	}
	return nil
}

// readSection notes what a heading stands for. Like the original, a heading of level 1 names the skill and is none of
// the required sections, and words may follow the name of a section.
func (x *structure) readSection(s *Section) {
	if s.Level >= 2 && s.Empty() && !x.emptySections {
		x.emptySections = true
		x.empty = fmt.Sprintf(": %q on line %d", Shorten(s.Title, 60), s.Line)
	}
	if s.Level < 2 {
		return
	}
	title := strings.ToLower(strings.Join(strings.Fields(s.Title), " "))
	begins := func(names ...string) bool {
		for _, n := range names {
			if strings.HasPrefix(title, n) {
				return true
			}
		}
		return false
	}
	if begins("overview") && !x.overview {
		x.overview, x.overviewWords = true, s.Total
	}
	x.examples = x.examples || begins("code example", "basic usage") || s.Level >= 3 && strings.Contains(title, "example")
	x.boundaries = x.boundaries || begins("boundaries") ||
		s.Level >= 3 && begins("what can ", "what cannot ", "what can't ", "what agent can", "what agents can")
	x.gotchas = x.gotchas || begins("gotchas")
	x.docs = x.docs || begins("documentation", "full documentation", "links")
}

// codeLanguage reports whether every tagged block is in the language of the skill, or in one that goes with any, and at
// least one is in it. A skill that needs no language and names none may have code in any, as long as one block says which.
// Without blocks there is nothing to object to.
func (d *Document) codeLanguage(language string, optional bool) (bool, string) {
	tagged, own := false, false
	for _, b := range d.Blocks {
		if b.Lang == "" {
			continue
		}
		tagged = true
		if own = own || optional && language == ""; own && language == "" {
			continue
		}
		if Foreign(b.Lang, language) {
			return false, fmt.Sprintf(": %s on line %d", b.Lang, b.Line)
		}
		own = own || inLanguage(b.Lang, language)
	}
	if len(d.Blocks) > 0 && !tagged {
		return false, ": no block names its language"
	}
	return own || len(d.Blocks) == 0, ""
}

// inLanguage reports whether a block is in the language of a skill. TypeScript and JavaScript are one, and every
// language other than js is taken for python, as in the original, unless it is one we know.
func inLanguage(lang, language string) bool {
	switch want := code.Canonical(language); want {
	case "javascript", "typescript":
		return code.SameLanguage("typescript", lang) || code.SameLanguage("javascript", lang)
	case "", "python":
		return code.SameLanguage("python", lang)
	default:
		return code.SameLanguage(want, lang)
	}
}

// Foreign reports whether a block is in a programming language that is not that of the skill. Shells, data, markup and
// plain text belong to every skill.
func Foreign(lang, language string) bool {
	switch lang {
	case "c", "cpp", "csharp", "elixir", "fsharp", "go", "haskell", "java", "javascript", "jsx", "julia", "kotlin", "lua",
		"objective-c", "ocaml", "perl", "php", "python", "r", "ruby", "rust", "scala", "solidity", "swift", "tsx", "typescript", "zig":
		return !inLanguage(lang, language)
	}
	return false
}

// Shorten cuts a text to a number of characters and marks the cut with an ellipsis.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
