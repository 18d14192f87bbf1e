package lint

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

// entry is what the rules across files need to know of one skill.
type entry struct {
	file              string
	name, description string
	namePlace         span
	descriptionPlace  span
	folders           [2]string
	ignores           []ignore
	used              []bool // suppressions that covered something
}

type span struct {
	line, col, endLine, endCol int
	start, end                 int    // the same as byte offsets
	text                       string // the line it begins on
	at                         int    // where in the line it begins
}

func newEntry(d *skill.Document) *entry {
	e := &entry{
		file: d.Path, name: d.Name(), description: d.Description(), folders: d.Folders,
		ignores: readIgnores(d),
	}
	e.used = make([]bool, len(e.ignores))
	e.namePlace = fieldSpan(d, "name")
	e.descriptionPlace = fieldSpan(d, "description")
	return e
}

func fieldSpan(d *skill.Document, key string) span {
	f, ok := d.Frontmatter.Get(key)
	if !ok {
		return span{line: 1, col: 1, endLine: 1, endCol: 1, text: strings.Clone(d.Line(1))}
	}
	s := span{line: f.ValueLine, col: f.ValCol, text: strings.Clone(d.Line(f.ValueLine))}
	s.start = d.Offset(f.ValueLine, f.ValCol)
	s.end = max(f.ValueEnd, s.start)
	s.at = s.start - d.Offset(f.ValueLine, 1)
	s.endLine, s.endCol = d.Place(s.end)
	return s
}

// twins reports whether two skills are the same one in two languages: <skill>/js and <skill>/python.
func (e *entry) twins(f *entry) bool {
	return e.folders[1] == f.folders[1] && e.folders[0] != f.folders[0] &&
		skill.IsLanguageFolder(e.folders[0]) && skill.IsLanguageFolder(f.folders[0])
}
