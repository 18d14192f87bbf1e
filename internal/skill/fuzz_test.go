package skill

import (
	"testing"

	"github.com/mettle-eval/mettle/internal/skill/skilltest"
)

func FuzzParse(f *testing.F) {
	skilltest.Seed(f, func(data []byte) { f.Add(data) }, "testdata/document/*.txtar", "lint/testdata/lint/*.txtar")
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Parse("x/SKILL.md", data)
		for _, s := range d.Root.All() {
			if s.Start > s.End || s.End > len(data) || s.Line < 1 || s.EndLine < s.Line || s.Total < s.Own {
				t.Fatalf("section %+v", s)
			}
		}
		for _, b := range d.Blocks {
			if b.Start < 0 || b.Start > b.End || b.End > len(data) || b.Section == nil {
				t.Fatalf("block %+v", b)
			}
		}
		for _, l := range d.Links {
			if l.Line < 1 || l.Col < 1 || l.Line > d.Lines() || l.Section == nil {
				t.Fatalf("link %+v", l)
			}
		}
		for _, q := range d.Frontmatter.Quotes {
			if q.Start > q.End || q.End > len(data) {
				t.Fatalf("quote %+v", q)
			}
		}
		for _, field := range d.Frontmatter.Fields {
			if field.KeyStart > len(data) || field.ValueEnd > len(data) || field.Node == nil {
				t.Fatalf("field %+v", field)
			}
		}
		_ = dump(d)
	})
}
