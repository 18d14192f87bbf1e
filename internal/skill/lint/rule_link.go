package lint

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mettle-eval/mettle/internal/skill"
)

// reportLink reports a finding for a link of the skill.
func (p *pass) reportLink(l *skill.Link, fix *Fix, format string, args ...any) {
	(&page{Document: p.Document}).report(p, l, fix, format, args...)
}

// isTemplate reports whether a target is a pattern to be filled in, not a path.
func isTemplate(target string) bool {
	return target == "" || strings.ContainsAny(target, "{}<>*$|\"` \n\t") || strings.Contains(target, "...") || target == "url" || target == "link" ||
		strings.HasPrefix(target, "path/to")
}

func isAbsolute(target string) bool {
	return strings.HasPrefix(target, "/") || strings.HasPrefix(target, "~") || strings.HasPrefix(target, "file:") ||
		len(target) > 2 && target[1] == ':' && unicode.IsLetter(rune(target[0])) && (target[2] == '\\' || target[2] == '/')
}

var linkAbsolute = Rule{
	ID: "link-absolute", Family: "link", Severity: Warning,
	Doc:     "A link points to an absolute path.",
	Explain: "The path exists on one machine. Paths in a skill are relative to its folder.",
	check: func(p *pass) {
		for i := range p.Links {
			if l := &p.Links[i]; !strings.HasPrefix(l.Target, "//") && isAbsolute(l.Target) && !isTemplate(l.Target) {
				p.reportLink(l, nil, "the link points to an absolute path, %q", skill.Shorten(l.Target, 80))
			}
		}
	},
}

var linkAnchor = Rule{
	ID: "link-anchor", Family: "link", Severity: Warning,
	Doc:     "A link points to a heading that does not exist.",
	Explain: "Anchors are made of headings: lower case, punctuation dropped, spaces turned to hyphens.",
	check: func(p *pass) {
		for _, g := range p.pages() {
			for l := range g.links() {
				file, anchor, ok := strings.Cut(l.Target, "#")
				if !ok || anchor == "" || l.Kind == skill.LinkURL || isTemplate(l.Target) || isAbsolute(l.Target) || p.full() {
					continue
				}
				to := g
				if file != "" {
					if to = p.page(g.resolve(p, l)); to == nil {
						continue
					}
				}
				if decoded, err := url.PathUnescape(anchor); err == nil {
					anchor = decoded
				}
				anchor = strings.TrimPrefix(anchor, "user-content-") // what GitHub puts in front of anchors
				if !to.anchors()[strings.ToLower(anchor)] {
					g.report(p, l, nil, "no heading has the anchor %q%s", skill.Shorten(l.Target, 80), nearAnchor(anchor, to.anchors()))
				}
			}
		}
	},
}

// page is a text with links: the skill itself, or a Markdown file bundled with it.
type page struct {
	*skill.Document
	name  string // relative to the folder of the skill
	own   bool
	names map[string]bool // of its anchors, once they are asked for
}

// maxPages bounds the bundled files that are searched for links.
const maxPages = 200

// pages lists the texts with links, the skill itself first.
func (p *pass) pages() []*page {
	if p.linked != nil {
		return p.linked
	}
	p.linked = []*page{{Document: p.Document, name: skill.FileName, own: true}}
	for _, s := range p.sources()[1:] {
		if s.isMarkdown() && len(p.linked) < maxPages && (strings.Contains(s.text, "](") || strings.Contains(s.text, "]:") ||
			strings.Contains(s.text, "href=") || strings.Contains(s.text, "src=") || strings.Contains(s.text, "scripts/")) {
			p.linked = append(p.linked, &page{Document: skill.Parse(s.path, []byte(s.text)), name: s.name})
		}
	}
	return p.linked
}

// page is the one with a name, nil when there is none that can be linked to by headings.
func (p *pass) page(name string) *page {
	for _, g := range p.pages() {
		if g.name == name {
			return g
		}
	}
	for _, s := range p.sources()[1:] {
		if s.name == name && s.isMarkdown() {
			g := &page{Document: skill.Parse(s.path, []byte(s.text)), name: name}
			p.linked = append(p.linked, g)
			return g
		}
	}
	return nil
}

// links yields the links of Markdown and of HTML.
func (g *page) links() func(yield func(*skill.Link) bool) {
	return func(yield func(*skill.Link) bool) {
		for _, list := range [...][]skill.Link{g.Links, g.Attributes} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// resolve is the file that a link of a page points to, from the folder of the skill. References are read by models that
// stand in that folder, so a path from there counts too.
func (g *page) resolve(p *pass, l *skill.Link) string {
	file := path.Join(path.Dir(g.name), l.Path())
	if fromTop := path.Clean(l.Path()); !g.own && !escapes(fromTop) && !p.missing(fromTop) && (escapes(file) || p.missing(file)) {
		return fromTop
	}
	return file
}

// report reports a finding for a link of a page, at its target where that is known.
func (g *page) report(p *pass, l *skill.Link, fix *Fix, format string, args ...any) {
	start, end := l.Start, l.Start+1
	if l.TargetStart >= 0 {
		start, end = l.TargetStart, l.TargetStart+len(l.Target)
	}
	p.report(g.Path, &g.Index, start, min(end, len(g.Text)), fix, format, args...)
}

func nearAnchor(want string, anchors map[string]bool) string {
	if len(anchors) > 500 {
		return ""
	}
	var names []string
	for a := range anchors {
		names = append(names, a)
	}
	return didYouMean(want, sorted(names))
}

// anchors are the names of headings as GitHub makes them, and of HTML anchors.
func (g *page) anchors() map[string]bool {
	if g.names != nil {
		return g.names
	}
	names, count := map[string]bool{"top": true}, map[string]int{} // browsers know that one
	g.names = names
	for _, s := range g.Root.All()[1:] {
		a := anchor(s.Title)
		names[a] = true
		if n := count[a]; n > 0 {
			names[a+"-"+itoa(n)] = true
		}
		count[a]++
	}
	for _, attribute := range [...]string{"id=", "name="} {
		for rest := g.Text; ; {
			_, after, ok := strings.Cut(rest, attribute)
			if !ok {
				break
			}
			value := strings.TrimLeft(after[:min(len(after), 200)], `"'`)
			if end := strings.IndexAny(value, "\"' >\n"); end > 0 {
				names[strings.ToLower(value[:end])] = true
			}
			rest = after
		}
	}
	return names
}

func anchor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

var linkBackslash = Rule{
	ID: "link-backslash", Family: "link", Severity: Warning, Fixes: true,
	Doc:     "A path is written with backslashes.",
	Explain: "Only Windows reads them as folders. Forward slashes work everywhere.",
	check: func(p *pass) {
		for i := range p.Links {
			l := &p.Links[i]
			if l.Kind != skill.LinkFile || !strings.Contains(l.Target, "\\") || isAbsolute(l.Target) || isTemplate(l.Target) {
				continue
			}
			var fix *Fix
			if l.TargetStart >= 0 {
				fix = replace(l.TargetStart, l.TargetStart+len(l.Target), strings.ReplaceAll(l.Target, "\\", "/"), "use forward slashes")
			}
			p.reportLink(l, fix, "the path %q is written with backslashes", skill.Shorten(l.Target, 80))
		}
	},
}

var linkBroken = Rule{
	ID: "link-broken", Family: "link", Severity: Warning,
	Doc:     "A link points to a file that does not exist.",
	Explain: "The model will try to read the file and fail. Paths are relative to the folder of SKILL.md.",
	check: func(p *pass) {
		for _, g := range p.pages() {
			for l := range g.links() {
				if l.Kind != skill.LinkFile || isTemplate(l.Target) || isAbsolute(l.Target) || p.full() {
					continue
				}
				if file := g.resolve(p, l); !escapes(file) && l.File() != "" && p.missing(file) {
					g.report(p, l, nil, "the link points to %q, which does not exist", skill.Shorten(l.Path(), 80))
				}
			}
		}
		p.undefined()
	},
}

// undefined reports the links of the skill that name a label which is not defined: [text][label].
func (p *pass) undefined() {
	body := p.Body()
	own := p.sources()[0]
	for at := 0; !p.full(); {
		i := strings.Index(body[at:], "][")
		if i < 0 {
			return
		}
		at += i + 2
		label, _, closed := strings.Cut(body[at:min(len(body), at+80)], "]")
		open := strings.LastIndexByte(body[max(0, at-82):at-2], '[')
		if open += max(0, at-82); !closed || open < max(0, at-82) || strings.ContainsAny(label, "[\n(<>{}$^*|,") || !isLabel(label) || !isLabel(body[open+1:at-2]) {
			continue
		}
		start := p.BodyStart + open
		if open > 0 && strings.IndexByte("]!)\\", body[open-1]) >= 0 || open > 0 && isAlnum(body[open-1]) || own.fenced(start) || own.quoted(start, start+1) || p.defines(label) {
			continue
		}
		p.at(p.BodyStart+at, p.BodyStart+at+len(label), nil, "no definition [%s]: says where this link points", label)
	}
}

// isLabel reports whether the text between brackets can be that of a link: it has a word of two letters.
func isLabel(s string) bool {
	for i := 1; i < len(s); i++ {
		if isLetterASCII(s[i-1]) && isLetterASCII(s[i]) {
			return !strings.Contains(s, "\n")
		}
	}
	return false
}

// defines reports whether the skill says where a label points.
func (p *pass) defines(label string) bool {
	if p.labels == nil {
		p.labels = map[string]bool{}
		for n := p.BodyLine(); n <= p.Lines(); n++ {
			line := strings.TrimLeft(p.Line(n), " >\t")
			if name, _, ok := strings.Cut(line, "]:"); ok && strings.HasPrefix(name, "[") {
				p.labels[strings.ToLower(name[1:])] = true
			}
		}
	}
	return p.labels[strings.ToLower(label)]
}

// missing reports whether a file is not there; not when that cannot be known.
func (p *pass) missing(file string) bool {
	if p.Folder == nil || !fs.ValidPath(file) {
		return false
	}
	_, err := fs.Stat(p.Folder, file)
	return errors.Is(err, fs.ErrNotExist)
}

// escapes reports whether a clean path leaves the folder.
func escapes(file string) bool { return file == ".." || strings.HasPrefix(file, "../") }

var linkChain = Rule{
	ID: "link-chain", Family: "link", Severity: Info, Profiles: []string{Strict},
	Doc:     "A reference leads on to a file that SKILL.md does not name.",
	Explain: "The specification wants references one step away from SKILL.md: a model that follows a chain of files reads them in part, or not at all. Name the file in SKILL.md too.",
	check: func(p *pass) {
		for _, f := range p.bundle() {
			text, ok := "", f.kind == prose && strings.HasPrefix(f.name, "references/")
			if ok {
				text, ok = p.content(f.name)
			}
			if !ok {
				continue
			}
			for _, target := range linkTargets(text) {
				file := path.Join(path.Dir(f.name), target)
				if kindOf(file) == prose && fs.ValidPath(file) && !strings.Contains(p.Text, path.Base(file)) && !p.missing(file) && !p.full() {
					p.file(nil, "%s leads on to %s, which SKILL.md does not name", f.name, file)
				}
			}
		}
	},
}

// linkTargets lists the files that a bundled text links to, each once. It is not read as Markdown: a link inside of an
// example costs a hint, not an error.
func linkTargets(text string) []string {
	var targets []string
	for rest := text; len(targets) < 100; {
		_, after, ok := strings.Cut(rest, "](")
		if !ok {
			break
		}
		rest = after
		end := strings.IndexAny(after[:min(len(after), 300)], ")# \n")
		if end <= 0 || after[end] == ' ' || after[end] == '\n' {
			continue
		}
		target := after[:end]
		if skill.KindOf(target) == skill.LinkFile && !isTemplate(target) && !isAbsolute(target) && !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	return targets
}

var linkDeep = Rule{
	ID: "link-deep", Family: "link", Severity: Info, Profiles: []string{Strict},
	Doc:     "A linked file lies deeper than one folder.",
	Explain: "The specification recommends files one level below SKILL.md: references/forms.md rather than references/pdf/forms.md.",
	check: func(p *pass) {
		for i := range p.Links {
			l := &p.Links[i]
			file := path.Clean(l.Path())
			if l.Kind == skill.LinkFile && !isTemplate(l.Target) && !isAbsolute(l.Target) && !escapes(file) && strings.Count(file, "/") > 1 {
				p.reportLink(l, nil, "%q lies deeper than one folder", skill.Shorten(file, 80))
			}
		}
	},
}

var linkDirectory = Rule{
	ID: "link-directory", Family: "link", Severity: Info,
	Doc:     "A link points to a folder.",
	Explain: "The model must guess which file in it to read. Name the file.",
	check: func(p *pass) {
		for i := range p.Links {
			l := &p.Links[i]
			if l.Kind != skill.LinkFile || isTemplate(l.Target) || isAbsolute(l.Target) || p.Folder == nil {
				continue
			}
			file := path.Clean(l.Path())
			if !fs.ValidPath(file) || file == "." {
				continue
			}
			if info, err := fs.Stat(p.Folder, file); err == nil && info.IsDir() {
				p.reportLink(l, nil, "the link points to a folder, %q", skill.Shorten(l.Path(), 80))
			}
		}
	},
}

var linkEscape = Rule{
	ID: "link-escape", Family: "link", Severity: Warning,
	Doc:     "A link leaves the folder of the skill.",
	Explain: "A skill is installed by copying its folder; what lies outside is not copied. Bring the file in, or name the other skill instead of its file.",
	check: func(p *pass) {
		for i := range p.Links {
			l := &p.Links[i]
			if l.Kind == skill.LinkFile && !isTemplate(l.Target) && escapes(path.Clean(l.Path())) {
				p.reportLink(l, nil, "the link leaves the folder of the skill: %q", skill.Shorten(l.Path(), 80))
			}
		}
	},
}

var linkHome = Rule{
	ID: "link-home", Family: "link", Severity: Warning, Profiles: []string{Strict},
	Doc:     "The text has a path in somebody's home folder.",
	Explain: "It exists on the machine of whoever wrote the skill, and gives away their name. Write a path from the skill's folder, ~ or a placeholder. Names such as user or ubuntu are taken for placeholders.",
	check: func(p *pass) {
		p.sources()[0].linesAbout(aboutHome, func(start, end int) {
			line := p.Text[start:end]
			if len(line) > maxPatternLine || p.full() {
				return
			}
			if m := homeFolder().FindStringSubmatchIndex(line); m != nil && isPerson(line[m[4]:m[5]]) {
				path := strings.TrimRight(line[m[2]:m[3]], ".")
				p.at(start+m[2], start+m[2]+len(path), nil, "%q lies in one person's home folder", skill.Shorten(path, 80))
			}
		})
	},
}

var homeFolder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s"'(=:` + "`" + `])((?:/Users/|/home/|[A-Za-z]:\\{1,2}Users\\{1,2})([A-Za-z][A-Za-z0-9._-]*)(?:[/\\]+[A-Za-z0-9._-]+)+)`)
})

// isPerson reports whether a home folder has the name of somebody, not one that stands for anybody.
func isPerson(name string) bool {
	lower := strings.ToLower(name)
	if strings.Contains(lower, "user") || strings.Contains(lower, "your") || strings.Contains(lower, "name") || strings.HasPrefix(lower, "my") {
		return false
	}
	switch lower {
	case "me", "you", "dev", "developer", "ubuntu", "runner", "vscode", "node", "app", "root", "admin", "shared", "public", "default", "foo", "example",
		"alice", "bob", "jane", "john", "jdoe", "johndoe", "test", "testuser", "sandbox", "agent", "claude", "codespace", "coder", "jovyan", "pi",
		"ec2-user", "deploy", "git", "linuxbrew", "home", "project", "workspace", "runneradmin", "circleci", "gitpod", "oai", "x", "xxx", "xyz", "abc":
		return false
	}
	return true
}

var linkMention = Rule{
	ID: "link-mention", Family: "link", Severity: Warning,
	Doc:     "A file under scripts/, references/ or assets/ is named but does not exist.",
	Explain: "A path in back-ticks that begins with one of the skill's own folders is an instruction to use that file.",
	check: func(p *pass) {
		for _, g := range p.pages() {
			for _, m := range g.Mentions {
				if p.full() {
					return
				}
				if p.namesNothing(m.Path) {
					p.report(g.Path, &g.Index, m.Start, m.End, nil, "%q does not exist", skill.Shorten(path.Clean(m.Path), 80))
				}
			}
			for i := range g.Blocks {
				p.runsNothing(g, &g.Blocks[i])
			}
		}
	},
}

// namesNothing reports whether a path begins with one of the skill's own folders and names no file in it. Without the
// folder itself, the path is one of the project the skill works on.
func (p *pass) namesNothing(name string) bool {
	file := path.Clean(name)
	folder, _, _ := strings.Cut(file, "/")
	return slices.Contains(folderNames[:], folder) && path.Ext(file) != "" && !p.missing(folder) && p.missing(file)
}

// interpreters run a script that is named after them.
var interpreters = [...]string{"python ", "python3 ", "node ", "bash ", "sh ", "zsh ", "ruby ", "perl ", "deno run ", "bun ", "bun run ", "npx tsx ", "uv run ", "source ", "php "}

// runsNothing reports the scripts of the skill that a block of commands runs and that are not there.
func (p *pass) runsNothing(g *page, b *skill.Block) {
	if b.Lang != "" && !isShell(b.Lang) || !strings.Contains(b.Text, "scripts/") {
		return
	}
	for n := b.TextLine; n < b.EndLine && !p.full(); n++ {
		line := g.Line(n)
		command := strings.TrimLeft(strings.TrimLeft(line, " \t"), "$> ")
		for _, with := range interpreters {
			if rest, ok := strings.CutPrefix(command, with); ok {
				command = strings.TrimLeft(rest, " ")
				break
			}
		}
		if !strings.HasPrefix(command, "scripts/") && !strings.HasPrefix(command, "./scripts/") {
			continue
		}
		name := command[:strings.IndexAny(command+" ", " \t;|&\"')")]
		if isTemplate(name) || !p.namesNothing(name) {
			continue
		}
		from, _ := g.Bounds(n)
		from += len(line) - len(command)
		p.report(g.Path, &g.Index, from, from+len(name), nil, "%q does not exist", skill.Shorten(path.Clean(name), 80))
	}
}
