package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

// Fix mends a finding. It is offered only where the mend is certain.
type Fix struct {
	Message string `json:"message"` // what it does, as an order: "quote the value"
	Edits   []Edit `json:"edits"`
}

// Edit replaces a byte range of the file. The places are those of the range, as in a [Finding]; they are filled in when
// the finding is reported.
type Edit struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	EndLine int    `json:"end_line"`
	EndCol  int    `json:"end_col"`
	New     string `json:"new"`
}

// place works out the lines and columns of the edits.
func (f *Fix) place(d *skill.Document) {
	for i := range f.Edits {
		e := &f.Edits[i]
		e.Line, e.Col = d.Place(e.Start)
		e.EndLine, e.EndCol = d.Place(e.End)
	}
}

// Apply makes the edits of the fixes of findings and returns the new text and how many findings it mended. A fix that
// overlaps one made before is left for the next time.
func Apply(text string, findings []Finding) (fixed string, applied int) {
	var edits []Edit
	for _, f := range findings {
		if f.Fix == nil || f.Suppressed != "" || overlaps(edits, f.Fix.Edits, len(text)) {
			continue
		}
		edits = append(edits, f.Fix.Edits...)
		applied++
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	var b strings.Builder
	last := 0
	for _, e := range edits {
		b.WriteString(text[last:e.Start])
		b.WriteString(e.New)
		last = e.End
	}
	b.WriteString(text[last:])
	return b.String(), applied
}

func overlaps(made, wanted []Edit, size int) bool {
	for _, w := range wanted {
		if w.Start < 0 || w.End < w.Start || w.End > size {
			return true
		}
		for _, m := range made {
			if w.Start < m.End && m.Start < w.End || w.Start == m.Start {
				return true
			}
		}
	}
	return false
}

// replace is a fix of one edit.
func replace(start, end int, text, message string) *Fix {
	return &Fix{Message: message, Edits: []Edit{{Start: start, End: end, New: text}}}
}
