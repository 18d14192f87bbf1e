// Package skill reads Agent Skills: SKILL.md files and the folders around them.
//
// [Parse] turns one file into a [Document]: frontmatter, sections, code blocks, tables, links and named files, each with
// its place. It never fails; package lint says what is wrong with a file. [Find] looks for skills below a folder and
// [Load] reads one with the folder around it; [FindFS] and [LoadFS] do the same in a file system, and a [Library] is a
// folder of skills that tests are about. [Score] computes the structural scores of a skill.
//
// Everything here takes foreign text: nothing panics, and time grows with the length of a file, not with its shape. All
// functions are safe for concurrent use; a Document is not changed once it is made. Lines and columns start at 1 and
// columns count characters; offsets count bytes of the file as it is stored.
package skill

import (
	"io/fs"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
)

const byteOrderMark = "\ufeff"

// Document is a SKILL.md file, read once.
type Document struct {
	Path  string // as given to [Parse], with forward slashes
	Text  string // the file as stored, byte order mark and line ends included
	Index        // of Text

	Frontmatter Frontmatter
	Root        *Section // the body; its children are the top headings
	Blocks      []Block  // fenced code blocks in order
	Tables      []Table
	Links       []Link
	Attributes  []Link    // href and src of HTML elements in the text
	Mentions    []Mention // files named in back-ticks

	Facts Facts

	// Folder is the folder of the skill, nil when only the text is known. Rules that look for files are silent then.
	Folder fs.FS

	Folders            [2]string // names of the folder of the file and of the one around it, empty when not known
	BodyStart, BodyEnd int       // byte range of the body in Text
}

// Facts are properties of the file as a whole that make trouble for one reader or another.
type Facts struct {
	BOM          bool  // begins with a byte order mark
	CRLF, LF, CR int   // line ends of each kind
	UTF16        bool  // is in UTF-16, of which nothing is read
	Fenced       bool  // the whole file stands in a code fence; the text inside is read
	InvalidUTF8  int   // offset of the first byte that is not UTF-8, -1 when there is none
	Controls     []int // offsets of control characters other than tab and line ends, C1 and U+2028/9 included; the first 100
	MergeMarkers []int // lines that look like unresolved merge conflicts; the first 100
	Irregular    []int // first lines of paragraphs too irregular to look for links in; the first 100
}

// Block is a fenced code block and the section it stands in.
type Block struct {
	code.Block
	Section *Section
}

// Parse reads a file. Path is used in messages, and its folder's name is compared with the skill's.
func Parse(path string, data []byte) *Document {
	d := &Document{Path: strings.ReplaceAll(path, "\\", "/"), Text: string(data)}
	d.Index = NewIndex(d.Text)
	if parts := strings.Split(d.Path, "/"); len(parts) > 1 {
		d.Folders[0] = parts[len(parts)-2]
		if len(parts) > 2 {
			d.Folders[1] = parts[len(parts)-3]
		}
	}
	start, end := d.readFacts()
	d.BodyStart, d.BodyEnd = d.readFrontmatter(start, end), end
	d.readBody()
	return d
}

// Body is the text below the frontmatter.
func (d *Document) Body() string { return d.Text[d.BodyStart:d.BodyEnd] }

// BodyLine is the line the body begins on.
func (d *Document) BodyLine() int { return d.LineAt(d.BodyStart) }

// Name is the skill's name as the frontmatter has it, empty when there is none.
func (d *Document) Name() string { return d.Frontmatter.Text("name") }

// Description is the skill's description, empty when there is none.
func (d *Document) Description() string { return d.Frontmatter.Text("description") }

// Language is the language that a skill is written for, "js" or "python": the one the frontmatter names, else that of a
// <skill>/<lang>/SKILL.md layout. It is empty when neither says so, or the language is another one.
func (d *Document) Language() string {
	name := d.Frontmatter.Text("language")
	if name == "" && IsLanguageFolder(d.Folders[0]) {
		name = d.Folders[0]
	}
	switch code.Canonical(name) {
	case "javascript", "typescript":
		return "js"
	case "python":
		return "python"
	}
	return ""
}
