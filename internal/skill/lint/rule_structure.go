package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

var structureBody = Rule{
	ID: "structure-body", Family: "structure", Severity: Warning,
	Doc:     "The skill has no instructions.",
	Explain: "The body below the frontmatter is what the model gets when the skill is used; here it is empty.",
	check: func(p *pass) {
		if p.Frontmatter.Closed && p.Root.Empty() {
			p.line(p.Frontmatter.EndLine, nil, "the skill has no instructions below its frontmatter")
		}
	},
}

var structureFileName = Rule{
	ID: "structure-file-name", Family: "structure", Severity: Warning,
	Doc:     "The file is not named SKILL.md.",
	Explain: "Clients look for exactly SKILL.md; where file names are case-sensitive, skill.md is not found.",
	check: func(p *pass) {
		if name := path.Base(p.Path); name != skill.FileName && strings.EqualFold(name, skill.FileName) {
			p.file(nil, "the file is named %s, clients look for %s", name, skill.FileName)
		}
	},
}

var structureOrphan = Rule{
	ID: "structure-orphan", Family: "structure", Severity: Warning, Profiles: []string{Strict},
	Doc:     "A bundled file is mentioned nowhere.",
	Explain: "The model reads a file under references/, scripts/ or assets/ only when the skill tells it to. Mention it in SKILL.md or in a file mentioned there, or delete it.",
	check:   checkOrphans,
}

// checkOrphans looks for the names of bundled files in SKILL.md and in the text files it bundles. A name anywhere counts,
// and so does that of the folder: what is left is mentioned by nobody.
func checkOrphans(p *pass) {
	wanted := map[string]bool{} // what would be a mention, and whether it was found
	for _, f := range p.bundle() {
		if f.conventional() {
			wanted[path.Base(f.name)], wanted[path.Dir(f.name)+"/"] = false, false
			if f.kind == script {
				wanted[f.module()] = false
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	for _, s := range p.sources() {
		noteMentions(s, wanted)
	}
	for _, f := range p.bundle() {
		mentioned := wanted[path.Base(f.name)] || wanted[path.Dir(f.name)+"/"] || f.kind == script && wanted[f.module()]
		if f.conventional() && !mentioned {
			p.file(nil, "%s is mentioned nowhere in the skill", f.name)
		}
	}
}

// conventional reports whether a file lies in one of the skill's own folders and is worth a mention.
func (f *bundledFile) conventional() bool {
	base := path.Base(f.name)
	top, _, _ := strings.Cut(f.name, "/")
	return slices.Contains(folderNames[:], top) && f.name != base && base[0] != '.' && f.leads == "" && base != "__init__.py" && !strings.Contains(f.name, "__pycache__/") &&
		!strings.ContainsFunc(f.name, endsWord) // a name of several words can be written in many ways
}

// endsWord reports whether a character cannot be part of a file's name in a text.
func endsWord(r rune) bool {
	return r < 0x80 && !isAlnum(byte(r)) && !strings.ContainsRune("/._-+@", r)
}

// module is how another script names a script it uses.
func (f *bundledFile) module() string {
	return "import " + strings.TrimSuffix(path.Base(f.name), path.Ext(f.name))
}

// noteMentions marks the names and folders that stand in a text.
func noteMentions(s *source, wanted map[string]bool) {
	note := func(word string) {
		if _, ok := wanted[word]; ok {
			wanted[word] = true
		}
	}
	own := path.Base(s.path)
	for word := range strings.FieldsFuncSeq(s.text, endsWord) {
		word = strings.TrimRight(word, ".")
		if name := path.Base(word); name != own || s.own {
			note(name)
			if i := strings.LastIndexByte(name, '.'); s.kind == script || strings.HasPrefix(name, "scripts.") {
				note("import " + name[i+1:]) // a module, or python -m scripts.module
			}
		}
		if folder := strings.TrimPrefix(word, "./"); strings.HasSuffix(folder, "/") {
			note(folder)
		}
	}
}

var structureSection = Rule{
	ID: "structure-section", Family: "structure", Severity: Error, Profiles: []string{LangChain},
	Doc:     "A section that LangChain skills have is missing.",
	Explain: "The structural suite wants an overview, code examples, boundaries, gotchas and links to documentation. It reads them off headings of level 2: ## Overview, ## Code Examples or ## Basic Usage, ## Boundaries, ## Gotchas, ## Documentation or ## Links; any link to http(s) will do for the last.",
	check: func(p *pass) {
		names := [...]string{"## Overview", "## Code Examples", "## Boundaries", "## Gotchas", "links to documentation"}
		var missing []string
		for i, c := range skill.Score(p.Document, skill.ScoreOptions{}).Sections() {
			if !c.OK {
				missing = append(missing, names[i])
			}
		}
		if len(missing) > 0 {
			p.line(p.textLine(), nil, "missing: %s", strings.Join(missing, ", "))
		}
	},
}
