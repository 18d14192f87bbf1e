package lint

import (
	"bytes"
	encoding "encoding/binary"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/mettle-eval/mettle/internal/skill"
)

// Bounds of what is read beside a skill. What lies beyond them is said to be unread.
const (
	maxBundled      = 2000
	maxBundledFile  = 4 << 20
	maxBundledTotal = 16 << 20
)

// fileKind says how a file is read.
type fileKind uint8

const (
	binary fileKind = iota // not text
	media                  // pictures, sounds and fonts: not read
	prose                  // instructions
	script                 // run by the agent
	data                   // neither
)

// bundledFile is a file that comes with a skill.
type bundledFile struct {
	name   string // relative to the folder of the skill
	kind   fileKind
	size   int64
	unread string // why nobody looked into it, empty when somebody did or it is not for reading
	leads  string // where a symbolic link leads that leaves the skill or ends nowhere
}

// folderNames are the folders that the specification names for what a skill brings along.
var folderNames = [...]string{"assets", "references", "scripts"}

// bundle lists the files of a skill, whatever folder they are in. Of other skills below it, which are linted by themselves,
// and of version control nothing is listed.
func (p *pass) bundle() []bundledFile {
	if p.Folder == nil || p.listed {
		return p.files
	}
	p.listed = true
	_ = fs.WalkDir(p.Folder, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case name == "." || strings.EqualFold(name, skill.FileName):
		case len(p.files) >= maxBundled:
			p.files = append(p.files, bundledFile{name: name, unread: "the skill has more files than are looked at"})
			return fs.SkipAll
		case err != nil:
			p.files = append(p.files, bundledFile{name: name, unread: "it cannot be opened"})
			return fs.SkipDir
		case e.IsDir():
			return p.enter(name)
		default:
			p.addBundled(name, e)
		}
		return nil
	})
	return p.files
}

// enter decides whether a folder of a skill is looked into.
func (p *pass) enter(name string) error {
	top, _, _ := strings.Cut(name, "/")
	switch base := path.Base(name); {
	case base == ".git":
		return fs.SkipDir
	case base == "node_modules":
		p.files = append(p.files, bundledFile{name: name, unread: "installed packages are not looked into"})
		return fs.SkipDir
	case skill.MayHoldSkills(top) && !p.missing(path.Join(name, skill.FileName)):
		return fs.SkipDir
	}
	return nil
}

func (p *pass) addBundled(name string, e fs.DirEntry) {
	f := bundledFile{name: name, kind: kindOf(name)}
	info, err := e.Info()
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		if f.leads = p.leadsOut(name); f.leads == "" {
			return // it is listed under its own name
		}
		f.kind = binary
	case err != nil || !e.Type().IsRegular():
		f.unread = "it is no regular file"
	default:
		f.size = info.Size()
	}
	p.files = append(p.files, f)
}

// leadsOut says where a symbolic link leads, empty when it stays in the skill.
func (p *pass) leadsOut(name string) string {
	target, err := fs.ReadLink(p.Folder, name)
	if err != nil {
		return "an unknown place"
	}
	to := path.Join(path.Dir(name), strings.ReplaceAll(target, "\\", "/"))
	if isAbsolute(target) || escapes(to) || p.missing(to) {
		return target
	}
	return ""
}

// kindOf tells by its extension how a file is read. What is unknown is looked into.
func kindOf(name string) fileKind {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".txt", ".rst", ".html", ".htm", ".svg", ".xml", ".adoc", ".org", ".tex", ".mdc", ".prompt":
		return prose
	case ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties", ".csv", ".tsv", ".css", ".sql", ".lock", ".xsd":
		return data
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp", ".avif", ".tif", ".tiff", ".mp3", ".mp4", ".m4a", ".wav", ".ogg", ".webm", ".mov",
		".ttf", ".otf", ".woff", ".woff2", ".eot":
		return media
	case ".pyc", ".exe", ".dll", ".so", ".dylib", ".class", ".o", ".a", ".wasm":
		return binary
	}
	return script
}

// content reads a bundled file as text, once. It is false for what is too large, not text, or not to be read.
func (p *pass) content(name string) (string, bool) {
	if text, ok := p.contents[name]; ok {
		return text, text != ""
	}
	if p.contents == nil {
		p.contents = map[string]string{}
	}
	raw, err := readBounded(p.Folder, name)
	text, why := "", ""
	switch {
	case errors.Is(err, errLarge):
		why = "it has more than " + strconv.Itoa(maxBundledFile>>20) + " MB"
	case err != nil:
		why = "it cannot be opened"
	case p.readBytes+len(raw) > maxBundledTotal:
		why = "the files of the skill have more than " + strconv.Itoa(maxBundledTotal>>20) + " MB together"
	default:
		var ok bool
		if text, ok = asText(raw); !ok {
			why = "it is not text"
		}
	}
	p.readBytes += len(text)
	p.contents[name] = text
	if why != "" {
		if i := slices.IndexFunc(p.files, func(f bundledFile) bool { return f.name == name }); i >= 0 {
			p.files[i].unread = why
		}
	}
	return text, text != ""
}

// asText is what bytes say, in UTF-8 or, with a byte order mark, in UTF-16.
func asText(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0]^raw[1] != 0xfe^0xff || raw[0]&0xfe != 0xfe {
		return string(raw), !isBinary(raw)
	}
	var order encoding.ByteOrder = encoding.LittleEndian
	if raw[0] == 0xfe {
		order = encoding.BigEndian
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 2; i+1 < len(raw); i += 2 {
		units = append(units, order.Uint16(raw[i:]))
	}
	return string(utf16.Decode(units)), true
}

// isBinary reports whether bytes are no text: a zero among the first of them, as version control has it.
func isBinary(raw []byte) bool {
	return bytes.IndexByte(raw[:min(len(raw), 8000)], 0) >= 0
}

var errLarge = errors.New("too large")

// readBounded reads a bundled file unless it is large.
func readBounded(folder fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fs.ErrInvalid
	case info.Size() > maxBundledFile:
		return nil, errLarge
	}
	return fs.ReadFile(folder, name)
}

var securityUnread = Rule{
	ID: "security-unread", Family: "security", Severity: Info,
	Doc: "A file of the skill was not looked into.",
	Explain: "An agent may read or run it all the same: it is an archive or another format that is no text, it is very large, or it cannot be opened. " +
		"Pictures, sounds, fonts and what version control keeps under .git are not reported.",
	check: func(p *pass) {
		p.sources()
		for i := range p.files {
			if f := &p.files[i]; f.unread != "" && compiled(p, *f) == "" {
				p.bundled(f.name, "%s was not looked into: %s", f.name, f.unread)
			}
		}
	},
}

var linkSymbolic = Rule{
	ID: "link-symbolic", Family: "link", Severity: Warning,
	Doc:     "A symbolic link leads out of the folder of the skill, or nowhere.",
	Explain: "Where the skill is installed something else is there, or nothing: an agent that follows the link reads a file that was not reviewed. The target of the link was not read. Copy the file into the skill.",
	check: func(p *pass) {
		for _, f := range p.bundle() {
			if f.leads != "" {
				p.bundled(f.name, "%s is a link that leaves the skill or ends nowhere: %s", f.name, skill.Shorten(f.leads, 80))
			}
		}
	},
}

// bundled reports a finding about a bundled file as a whole.
func (p *pass) bundled(name, format string, args ...any) {
	empty := skill.NewIndex("")
	p.report(path.Join(path.Dir(p.Path), name), &empty, 0, 0, nil, format, args...)
}
