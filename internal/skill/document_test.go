package skill

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/skill/skilltest"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

func TestDocumentArchives(t *testing.T) {
	skilltest.Run(t, "testdata/document/*.txtar", *update, func(_ *testing.T, _, input string) string {
		return dump(Parse("x/SKILL.md", []byte(input)))
	})
}

func dump(d *Document) string {
	var b strings.Builder
	fm := d.Frontmatter
	fmt.Fprintf(&b, "frontmatter present=%t closed=%t blank=%t lines=%d-%d map=%t\n", fm.Present, fm.Closed, fm.Blank, fm.Line, fm.EndLine, fm.Map)
	if fm.Err != nil {
		fmt.Fprintf(&b, "  error %d:%d %s\n", fm.Err.Line, fm.Err.Col, fm.Err.Message)
	}
	for _, q := range fm.Quotes {
		line, col := d.Place(q.Start)
		fmt.Fprintf(&b, "  quote %d:%d %s: %s (%s)\n", line, col, q.Key, q.Quoted, q.Why)
	}
	for _, f := range fm.Fields {
		fmt.Fprintf(&b, "  %d:%d %s = %d:%d %s %q\n", f.Line, f.Col, f.Key, f.ValueLine, f.ValCol, f.Kind(), f.Text())
	}
	fmt.Fprintf(&b, "facts %+v\n", d.Facts)
	for _, s := range d.Root.All() {
		fmt.Fprintf(&b, "%ssection %d:%d-%d %q own=%d total=%d empty=%t\n", strings.Repeat("  ", s.Level), s.Line, s.Col, s.EndLine, s.Title, s.Own, s.Total, s.Empty())
	}
	for _, x := range d.Blocks {
		fmt.Fprintf(&b, "block %d:%d-%d %s %q closed=%t in %q\n", x.Line, x.Col, x.EndLine, x.Fence, x.Info, x.Closed, x.Section.Title)
	}
	for _, x := range d.Tables {
		fmt.Fprintf(&b, "table %d:%d %q %dx%d in %q\n", x.Line, x.Col, x.Header, x.Columns, x.Rows, x.Section.Title)
	}
	for _, x := range d.Links {
		fmt.Fprintf(&b, "link %d:%d %s %q -> %q image=%t\n", x.Line, x.Col, x.Kind, x.Text, x.Target, x.Image)
	}
	for _, x := range d.Mentions {
		fmt.Fprintf(&b, "mention %d:%d %s\n", x.Line, x.Col, x.Path)
	}
	return b.String()
}

func TestPlaceAndOffset(t *testing.T) {
	text := byteOrderMark + "é1\r\n日本\rx\n" + strings.Repeat("ü", 5000) + "!"
	d := Parse("SKILL.md", []byte(text))
	for i, r := range text {
		if r == '\n' || r == '\r' || i == 0 {
			continue
		}
		line, col := d.Place(i)
		if got := d.Offset(line, col); got != i {
			t.Fatalf("offset %d is at %d:%d, which is offset %d", i, line, col, got)
		}
	}
	if line, col := d.Place(len(text) - 1); line != 4 || col != 5001 {
		t.Errorf("last character at %d:%d, want 4:5001", line, col)
	}
}
