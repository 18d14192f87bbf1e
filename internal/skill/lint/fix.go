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
// overlaps one made before is left for the next time, and one is made only if the frontmatter can be read afterwards and
// every key that it does not touch keeps its value.
func Apply(text string, findings []Finding) (fixed string, applied int) {
	fm, body := skill.ParseFrontmatter(text)
	var inBody, quotes, others []Finding // all that can be made at once; those that need each other; the rest
	var made []Edit
	for _, f := range findings {
		if f.Fix == nil || f.Suppressed != "" || overlaps(made, f.Fix.Edits, len(text)) {
			continue
		}
		made = append(made, f.Fix.Edits...)
		switch {
		case !slices.ContainsFunc(f.Fix.Edits, func(e Edit) bool { return e.Start < body }):
			inBody = append(inBody, f)
		case f.Rule == frontmatterQuote.ID:
			quotes = append(quotes, f)
		default:
			others = append(others, f)
		}
	}
	good := inBody
	if all := slices.Concat(inBody, quotes, others); keeps(text, fm, all) {
		good = all
	} else {
		if some := slices.Concat(good, quotes); keeps(text, fm, some) {
			good = some
		}
		for _, f := range others {
			if some := append(slices.Clip(good), f); keeps(text, fm, some) {
				good = some
			}
		}
	}
	return edited(text, good), len(good)
}

// edited makes the edits of findings.
func edited(text string, findings []Finding) string {
	var edits []Edit
	for _, f := range findings {
		edits = append(edits, f.Fix.Edits...)
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
	return b.String()
}

// keeps reports whether fixes leave a frontmatter that every reader understands, in which the keys are those of before and
// have their values, but for those that a fix is about.
func keeps(text string, before *skill.Frontmatter, findings []Finding) bool {
	after, _ := skill.ParseFrontmatter(edited(text, findings))
	if !after.Valid() || len(after.Fields) != len(before.Fields) {
		return false
	}
	for i := range after.Fields {
		b, a := &before.Fields[i], &after.Fields[i]
		if b.Key != a.Key || !b.Equal(a) && !slices.ContainsFunc(findings, func(f Finding) bool { return f.Fix.touches(b) }) {
			return false
		}
	}
	return true
}

// touches reports whether a fix changes the value of a field.
func (f *Fix) touches(field *skill.Field) bool {
	return slices.ContainsFunc(f.Edits, func(e Edit) bool { return e.Start >= field.KeyStart && e.End <= field.ValueEnd })
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
