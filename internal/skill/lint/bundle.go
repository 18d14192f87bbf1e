package lint

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

// Bounds of what is read beside a skill. What lies beyond them is not looked at.
const (
	maxBundled      = 500
	maxBundledFile  = 1 << 20
	maxBundledTotal = 8 << 20
)

// fileKind says how a file is read.
type fileKind uint8

const (
	binary fileKind = iota // not read
	prose                  // instructions
	script                 // run by the agent
	data                   // neither
)

// bundledFile is a file that comes with a skill.
type bundledFile struct {
	name string // relative to the folder of the skill
	kind fileKind
	size int64
}

// folderNames are the folders that the specification names for what a skill brings along.
var folderNames = [...]string{"assets", "references", "scripts"}

// bundle lists the files beside SKILL.md and in the folders the specification names.
func (p *pass) bundle() []bundledFile {
	if p.Folder == nil || p.listed {
		return p.files
	}
	p.listed = true
	entries, _ := fs.ReadDir(p.Folder, ".")
	for _, e := range entries {
		switch {
		case e.Type().IsRegular() && !strings.EqualFold(e.Name(), skill.FileName):
			p.addBundled(e.Name(), e)
		case e.IsDir() && slices.Contains(folderNames[:], e.Name()): // a link could lead anywhere
			p.walkBundled(e.Name())
		}
	}
	return p.files
}

func (p *pass) walkBundled(folder string) {
	_ = fs.WalkDir(p.Folder, folder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir // locked
		case len(p.files) >= maxBundled:
			return fs.SkipAll
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"):
			return fs.SkipDir
		case e.Type().IsRegular():
			p.addBundled(name, e)
		}
		return nil
	})
}

func (p *pass) addBundled(name string, e fs.DirEntry) {
	info, err := e.Info()
	if err != nil || len(p.files) >= maxBundled || strings.HasPrefix(e.Name(), ".") {
		return
	}
	p.files = append(p.files, bundledFile{name, kindOf(name), info.Size()})
}

// kindOf tells by its extension how a file is read.
func kindOf(name string) fileKind {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".txt", ".rst":
		return prose
	case ".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".pl", ".ps1", ".psm1",
		".bat", ".cmd", ".php", ".lua", ".go", ".rs", ".java", ".kt", ".swift", ".cs", "":
		return script
	case ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties", ".csv", ".xml", ".html", ".css", ".sql":
		return data
	}
	return binary
}

// content reads a bundled file as text, once. It is false for what is too large, not text, or not to be read.
func (p *pass) content(name string) (string, bool) {
	if text, ok := p.contents[name]; ok {
		return text, text != ""
	}
	text := ""
	if raw, err := readBounded(p.Folder, name); err == nil && p.readBytes+len(raw) <= maxBundledTotal && !isBinary(raw) {
		text = string(raw)
		p.readBytes += len(raw)
	}
	if p.contents == nil {
		p.contents = map[string]string{}
	}
	p.contents[name] = text
	return text, text != ""
}

// isBinary reports whether bytes are no text: a zero among the first of them, as version control has it.
func isBinary(raw []byte) bool {
	return bytes.IndexByte(raw[:min(len(raw), 8000)], 0) >= 0
}

// readBounded reads a bundled file unless it is large.
func readBounded(folder fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxBundledFile || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	return fs.ReadFile(folder, name)
}
