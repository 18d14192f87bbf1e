package skill

import (
	"io/fs"
	"path"
	"strings"
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
		if name := path.Base(p.Path); name != FileName && strings.EqualFold(name, FileName) {
			p.file(nil, "the file is named %s, clients look for %s", name, FileName)
		}
	},
}

var structureOrphan = Rule{
	ID: "structure-orphan", Family: "structure", Severity: Warning, Profiles: []string{Strict},
	Doc:     "A bundled file is mentioned nowhere.",
	Explain: "The model reads a file under references/, scripts/ or assets/ only when the skill tells it to. Mention it in SKILL.md or in a file mentioned there, or delete it.",
	check:   checkOrphans,
}

// maxBundled bounds the files looked at beside a skill.
const maxBundled = 500

// checkOrphans looks for the names of bundled files in SKILL.md and in the text files it bundles. A name anywhere counts:
// what is left is mentioned by nobody.
func checkOrphans(p *pass) {
	files := bundled(p.Folder)
	if len(files) == 0 {
		return
	}
	text := p.Text
	for _, f := range files {
		if ext := path.Ext(f); ext == ".md" || ext == ".py" || ext == ".sh" || ext == ".js" || ext == ".ts" {
			if data, err := readBounded(p.Folder, f); err == nil {
				text += "\n" + string(data)
			}
		}
	}
	for _, f := range files {
		folder := path.Base(path.Dir(f))
		if !strings.Contains(text, path.Base(f)) && !strings.Contains(text, folder+"/*") {
			p.file(nil, "%s is mentioned nowhere in the skill", f)
		}
	}
}

// bundled lists the files in the conventional folders of a skill.
func bundled(folder fs.FS) []string {
	if folder == nil {
		return nil
	}
	var files []string
	for _, dir := range []string{"assets", "references", "scripts"} {
		_ = fs.WalkDir(folder, dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || len(files) >= maxBundled {
				return fs.SkipAll
			}
			if hidden := strings.HasPrefix(e.Name(), ".") || e.Name() == "__pycache__" || e.Name() == "node_modules"; hidden && e.IsDir() {
				return fs.SkipDir
			} else if !hidden && e.Type().IsRegular() && e.Name() != "__init__.py" {
				files = append(files, name)
			}
			return nil
		})
	}
	return files
}

// readBounded reads a bundled file unless it is large.
func readBounded(folder fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > 1<<20 || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	return fs.ReadFile(folder, name)
}

var structureSection = Rule{
	ID: "structure-section", Family: "structure", Severity: Error, Profiles: []string{LangChain},
	Doc:     "A section that LangChain skills have is missing.",
	Explain: "The structural suite wants an overview, code examples, boundaries, gotchas and links to documentation. It reads them off headings of level 2: ## Overview, ## Code Examples, ## Boundaries, ## Gotchas, ## Documentation.",
	check: func(p *pass) {
		for _, c := range Score(p.Document, ScoreOptions{}).Sections() {
			if !c.OK {
				p.line(p.textLine(), nil, "%s", c.Detail)
			}
		}
	},
}
