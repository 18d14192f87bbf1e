package lint

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mettle-eval/mettle/internal/skill"
)

// nameField is the name if it is there and a text, in the form that readers compare.
func (p *pass) nameField() (*skill.Field, string, bool) {
	f, ok := p.Frontmatter.Get("name")
	if !ok || f.Text() == "" {
		return nil, "", false
	}
	return f, normalName(strings.TrimSpace(f.Text())), true
}

// normalName is a name in normal form NFKC, as in the reference validator: a letter with an accent may be written as one
// character or as two, and file systems differ in which they keep.
func normalName(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return name
	}
	return norm.NFKC.String(name)
}

var nameASCII = Rule{
	ID: "name-ascii", Family: "name", Severity: Info, Profiles: []string{ClaudeCode, Strict},
	Doc:     "The name has letters outside of a-z.",
	Explain: "The specification speaks of lower-case letters, digits and hyphens. The reference validator takes letters of any script, most other tools do not.",
	check: func(p *pass) {
		if f, name, ok := p.nameField(); ok && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
			p.field(f, nil, "the name has letters outside of a-z, which many clients do not take")
		}
	},
}

var nameCharacters = Rule{
	ID: "name-characters", Family: "name", Severity: Error, Fixes: true,
	Doc:     "The name has characters other than lower-case letters, digits and hyphens.",
	Explain: "Clients use the name in paths and commands. Letters of other scripts are accepted here, as the reference validator does.",
	check: func(p *pass) {
		f, name, ok := p.nameField()
		if !ok {
			return
		}
		for _, r := range name {
			if r == '-' || unicode.IsNumber(r) || unicode.IsLetter(r) && unicode.ToLower(r) == r {
				continue
			}
			p.field(f, p.renameToFolder(f), "the name must have lower-case letters, digits and hyphens only; it has %q", r)
			return
		}
	},
}

// renameToFolder offers the folder's name where it differs from the name only in what a name may not have: then there
// is no doubt what it should be.
func (p *pass) renameToFolder(f *skill.Field) *Fix {
	name, folder := f.Node.Value, p.Folders[0]
	start := p.Offset(f.ValueLine, f.ValCol)
	if f.Node.Style != 0 || !strings.HasPrefix(p.Text[start:], name) || hyphenated(name) != folder {
		return nil
	}
	return replace(start, start+len(name), folder, "use the name of the folder")
}

// hyphenated is a name in the form the specification wants.
func hyphenated(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return strings.Join(words, "-")
}

var nameDuplicate = Rule{
	ID: "name-duplicate", Family: "name", Severity: Warning,
	Doc:     "Two skills have the same name.",
	Explain: "A client loads one of them and hides the other. The same skill in two languages (<skill>/js and <skill>/python) is not meant.",
	checkAll: func(p *pass) {
		first := map[string]*entry{}
		for _, e := range p.entries {
			if e.name == "" {
				continue
			}
			name := normalName(e.name)
			f, ok := first[name]
			if !ok {
				first[name] = e
			} else if !e.twins(f) {
				p.entry(e, e.namePlace, "name %q is already used by %s", skill.Shorten(e.name, 64), f.file)
			}
		}
	},
}

var nameFolder = Rule{
	ID: "name-folder", Family: "name", Severity: Error, Fixes: true,
	Doc:     "The name differs from the name of the folder.",
	Explain: "The specification wants them equal, because clients find skills by folder and users by name. In a <skill>/<lang>/SKILL.md layout the folder above counts, with or without the language at the end.",
	check: func(p *pass) {
		f, name, ok := p.nameField()
		folder := normalName(p.Folders[0])
		if !ok || folder == "" || folder == "." || folder == ".." || name == folder {
			return
		}
		if skill.IsLanguageFolder(folder) && p.Folders[1] != "" {
			folder = normalName(p.Folders[1])
			if name == folder || name == folder+"-"+p.Folders[0] {
				return
			}
		}
		p.field(f, p.renameToFolder(f), "the name is %q, but the folder is %q", skill.Shorten(name, 64), folder)
	},
}

var nameHyphen = Rule{
	ID: "name-hyphen", Family: "name", Severity: Error,
	Doc:     "The name has a hyphen at an end or two in a row.",
	Explain: "Hyphens stand between words only.",
	check: func(p *pass) {
		f, name, ok := p.nameField()
		switch {
		case !ok:
		case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
			p.field(f, nil, "the name must not begin or end with a hyphen")
		case strings.Contains(name, "--"):
			p.field(f, nil, "the name must not have two hyphens in a row")
		}
	},
}

var nameLength = Rule{
	ID: "name-length", Family: "name", Severity: Error,
	Doc:     "The name is longer than 64 characters.",
	Explain: "The specification's limit, counted in characters.",
	check: func(p *pass) {
		if f, name, ok := p.nameField(); ok && utf8.RuneCountInString(name) > 64 {
			p.field(f, nil, "the name has %d characters, at most 64 are allowed", utf8.RuneCountInString(name))
		}
	},
}

var nameRequired = Rule{
	ID: "name-required", Family: "name", Severity: Error,
	Doc:     "The name is missing or is not a text.",
	Explain: "The specification requires a name of 1 to 64 characters.",
	check:   func(p *pass) { checkRequired(p, "name") },
}

// checkRequired reports a text field that is missing, blank, or a list or map.
func checkRequired(p *pass, key string) {
	f, ok := p.Frontmatter.Get(key)
	switch {
	case !p.Frontmatter.Readable():
	case !ok:
		p.line(p.Frontmatter.Line, nil, "the frontmatter has no %s", key)
	case f.Kind() == "map" || f.Kind() == "list":
		p.key(f, nil, "%s is a %s, want a string", key, f.Kind())
	case strings.TrimSpace(f.Text()) == "":
		p.key(f, nil, "%s is empty", key)
	}
}

var nameReserved = Rule{
	ID: "name-reserved", Family: "name", Severity: Error, Profiles: []string{ClaudeCode, Strict},
	Doc:     "The name is a reserved word.",
	Explain: "Anthropic's platform does not take skills with anthropic or claude in their names.",
	check: func(p *pass) {
		f, name, ok := p.nameField()
		if !ok || name == "claude-api" { // Anthropic's own
			return
		}
		for _, word := range strings.Split(name, "-") {
			if word == "anthropic" || word == "claude" {
				p.field(f, nil, "%q is reserved and cannot be part of a name", word)
			}
		}
	},
}

var nameVague = Rule{
	ID: "name-vague", Family: "name", Severity: Warning, Profiles: []string{Strict},
	Doc:     "The name says nothing about what the skill does.",
	Explain: "An agent chooses among many skills by name and description; helper, utils or misc fit all and none.",
	check: func(p *pass) {
		f, name, ok := p.nameField()
		if !ok {
			return
		}
		switch strings.TrimSuffix(name, "s") {
		case "helper", "util", "utility", "utilitie", "tool", "misc", "general", "stuff", "skill", "my-skill", "common", "data", "document", "file":
			p.field(f, nil, "the name %q does not say what the skill does", name)
		}
	},
}
