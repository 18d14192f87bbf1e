package kind

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

// streamed are files whose items are parsed one by one.
var streamed = []string{
	"tests:\n  - id: a\n    n: 1\n",
	"name: x\ntests: # of mine\n- id: a\n  list:\n  - {type: contains, value: b}\n  - plain text # and a comment\n\n# between\n- id: b\ngates: [a]\n",
	"tests:\n  - id: a\n    input: {\"question\": \"What \\\"is\\\" it?\\n\", 'it''s': [1, -2.5, true, null, 2026-01-02, \"ü\", b]}\n    deep:\n      deeper:\n        - a: 1\n          b: {}\n        - []\n",
	"tests:\n  - id: a\n    text: |\n      - not an item\n      # nor a comment\n  - id: b\n    folded: >-\n      one\n      two\n",
	"tests:\n  - id: ü\n    value: ünï [x] {y} it's, a #b c:d  # e\n    other: \"ü\"\n    flow: {ü: ü, b: c}\n",
	"tests:\r\n  - id: a\r\n    text: |\r\n      b\r\n\r\n  - b\r  - c\r\n",
	"tests:\n  - plain\n  - 'quoted'\n  - [a, b]\n  - key:\n      - nested: true\n",
	"tests:\n  - id: a\n    anchored: &x {a: 1}\n",
	"tests:\n  - true: 1\n    y: yes\n    null: ~x\n    <: 1\n",
}

// whole are files with items that only the whole file can explain.
var whole = []string{
	"tests:\n  - &x {id: a}\n  - *x\n",
	"common: &x {a: 1}\ntests:\n  - <<: *x\n    id: a\n",
	"tests:\n  - id: \"a\n  - b\"\n",
	"tests:\n  - id: [a,\n  - b]\n",
	"tests:\n  - id: !odd a\n",
	"description: \"x\ntests:\n  - a\"\n",
	"tests:\n  - a\n- b\n",
	"tests:\n  - a\n b: c\n",
	"tests:\n  - a\n---\nb\n",
	"tests: [a]\n",
	"tests:\n",
	"tests:\n  - " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\n",
}

func TestParseList(t *testing.T) {
	for _, text := range streamed {
		if items, ok := sameAsWhole(t, text); !ok || items == 0 {
			t.Errorf("not read item by item:\n%s", text)
		}
	}
	for _, text := range whole {
		if _, ok := sameAsWhole(t, text); ok {
			t.Errorf("read item by item:\n%s", text)
		}
	}
}

// FuzzParseList holds what is read item by item against the whole file.
func FuzzParseList(f *testing.F) {
	for _, text := range append(streamed, whole...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sameAsWhole(t, text)
		sameAsWhole(t, "tests:\n  - "+strings.ReplaceAll(text, "\n", "\n    "))
		sameAsWhole(t, "tests:\n  - key: "+strings.ReplaceAll(text, "\n", "\n  - "))
	})
}

// TestParseListTokens does the same with files thrown together from what means
// something in YAML, which a fuzzer rarely comes to.
func TestParseListTokens(t *testing.T) {
	tokens := []string{
		"\n", "\r\n", "\r", "\r\n    k: ", "\n  ", "\n    ", "\n      ", "\n  - ", "\n    - ", "\n    b: ", "\n    c: ", "\n  - d: ", "\n# ", "\n      e: ", "\nz: ",
		"- ", "-", "a", "key", "word ", ": ", ":", " #", "#", "'", "\"", "{", "}", "[", "]", ", ", ",", "{f: g}", "[h, i]", "\"j k\"", "'l'",
		"1", "0x1F", "true", "null", "~", "|", ">", "&x ", "*x", "!", "\\", "\\n", "''", "ü", "\t", "?", "? ", "...", "---", "<<", "-1", ".5", "=", " ", "%", "@", "2026-01-02",
	}
	r, byItem := rand.New(rand.NewPCG(1, 2)), 0
	for range tokenRounds {
		var b strings.Builder
		b.WriteString("tests:\n  - ")
		for range 1 + r.IntN(22) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
		if _, ok := sameAsWhole(t, b.String()); ok {
			byItem++
		}
	}
	if byItem < tokenRounds/100 {
		t.Errorf("%d of %d files were read item by item", byItem, tokenRounds)
	}
}

// tokenRounds is small enough for every test run; with a million it found
// nothing more.
var tokenRounds = 2000

// sameAsWhole parses a file both ways and compares the trees. It gives false
// when the file is not read item by item.
func sameAsWhole(t *testing.T, text string) (items int, ok bool) {
	t.Helper()
	d, root := ParseList("f.yaml", []byte(text), "tests")
	if d.list == nil {
		return 0, false
	}
	n := d.list.node
	for item := range d.Items(n) {
		n.Content = append(n.Content, cloneNode(item))
	}
	if d.Partial() {
		return 0, false
	}
	if len(n.Content) != d.Len(n) {
		t.Errorf("%d items, Len is %d", len(n.Content), d.Len(n))
	}
	e, want := Parse("f.yaml", []byte(text))
	if len(e.Problems) > 0 {
		t.Fatalf("read item by item, while the whole has problems: %v\n%s", e.Problems, text)
	}
	comments := cmpopts.IgnoreFields(yaml.Node{}, "HeadComment", "LineComment", "FootComment")
	if diff := cmp.Diff(want, root, comments, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("read item by item it differs (-whole +items):\n%s\n%s", diff, text)
	}
	return len(n.Content), true
}

func cloneNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, inner := range n.Content {
		c.Content = append(c.Content, cloneNode(inner))
	}
	return &c
}
