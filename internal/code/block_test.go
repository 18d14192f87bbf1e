package code

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestBlocksArchives(t *testing.T) {
	runArchives(t, "blocks", func(_ *testing.T, _, _, input string) string {
		var out strings.Builder
		for _, b := range Blocks(input) {
			fmt.Fprintf(&out, "%d:%d-%d %s %q lang=%q closed=%t\n", b.Line, b.Col, b.EndLine, b.Fence, b.Info, b.Lang, b.Closed)
			for l := range strings.Lines(b.Text) {
				fmt.Fprintf(&out, "  |%s", l)
			}
		}
		return out.String()
	})
}

func TestBlocksLineEndings(t *testing.T) {
	want := []Block{
		{Info: "ts", Lang: "typescript", Text: "a\n\nb\n", Fence: "```", Line: 2, Col: 1, TextLine: 3, EndLine: 6, Closed: true},
		{Fence: "~~~", Text: " \tc\n", Line: 8, Col: 3, TextLine: 9, EndLine: 9},
	}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		doc := strings.Join([]string{"x", "```ts", "a", "", "b", "```", "", "> ~~~", ">  \tc"}, end)
		got := Blocks(doc)
		ignore := []cmp.Option{cmpopts.IgnoreUnexported(Block{}), cmpopts.IgnoreFields(Block{}, "Start", "End")}
		if diff := cmp.Diff(want, got, ignore...); diff != "" {
			t.Errorf("line end %q (-want +got)\n%s", end, diff)
		}
	}
}

func TestBlocksByteOrderMark(t *testing.T) {
	b := Blocks("\ufeff```go\nx\n```")
	if len(b) != 1 || b[0].Lang != "go" || b[0].Line != 1 || b[0].Col != 1 {
		t.Errorf("got %+v", b)
	}
}

func TestBlocksRange(t *testing.T) {
	doc := "- a\n\n  ```ts\n  é\n  ```\n- b\n~~~\nx"
	var got []string
	for _, b := range Blocks(doc) {
		got = append(got, doc[b.Start:b.End])
	}
	want := []string{"```ts\n  é\n  ```", "~~~\nx"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPlace(t *testing.T) {
	const doc = "1. list\n\n   > ```ts\n   > let é = X;\n   >  Y\n   > ```\n\n```\nZ\n```\n-\t```\n\tW\n"
	lines := strings.Split(doc, "\n")
	for _, b := range Blocks(doc) {
		for n, l := range strings.Split(b.Text, "\n") {
			i := strings.IndexAny(l, "XYZW")
			if i < 0 {
				continue
			}
			line, col := b.Place(n+1, len([]rune(l[:i]))+1)
			if got := string([]rune(lines[line-1])[col-1]); got != l[i:i+1] {
				t.Errorf("%s is at %d:%d, found %q there", l[i:i+1], line, col, got)
			}
		}
	}
}

// TestBlocksAgreeWithReference compares with what commonmark.js 0.31.2, the reference implementation, finds in random
// documents made of the pieces that matter to block structure.
func TestBlocksAgreeWithReference(t *testing.T) {
	data, err := os.ReadFile("testdata/commonmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents []struct {
		Doc    string
		Blocks [][2]string // info and text
	}
	if err := json.Unmarshal(data, &documents); err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		got := [][2]string{}
		for _, b := range Blocks(d.Doc) {
			got = append(got, [2]string{b.Info, b.Text})
		}
		if diff := cmp.Diff(d.Blocks, got); diff != "" {
			t.Errorf("document %q (-reference +ours)\n%s", d.Doc, diff)
		}
	}
}
