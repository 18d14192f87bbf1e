package skill

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFrontmatter bounds what is handed to the YAML parser. The longest frontmatter seen in thousands of real skills is a
// few kilobytes.
const maxFrontmatter = 256 << 10

// Frontmatter is the YAML block at the top of a skill.
type Frontmatter struct {
	Present bool // an opening line was found
	Closed  bool // and a closing one
	Blank   bool // blank lines stand in front of it, so strict readers see none

	Line, EndLine int    // lines of the delimiters
	Raw           string // the text between them

	Fields []Field // top-level keys in order, also when a key repeats
	Map    bool    // the YAML is a map, or there is none
	Err    *Mistake
	Quotes []Quote // values that are understood only when quoted

	start int // offset of Raw
}

// Mistake is a problem of the YAML, with its place in the file.
type Mistake struct {
	Line, Col int
	Message   string
}

// Quote is a value that YAML rejects as it stands and accepts in quotes.
type Quote struct {
	Key        string
	Start, End int    // byte range of the value in the file
	Quoted     string // what to write instead
	Why        string
	Doubtful   bool // the value may hold more than one key, so that quoting it is a guess
}

// Field is one top-level key with its value.
type Field struct {
	Key                string
	Line, Col          int        // place of the key
	ValueLine, ValCol  int        // place of the value
	Node               *yaml.Node // the value
	ValueEnd, KeyStart int        // byte offsets: end of the last line of the value, start of the key
}

// Kind names the type of the value as a message would: string, number, list, map …
func (f *Field) Kind() string {
	n := Resolve(f.Node)
	switch {
	case n.Kind == yaml.MappingNode:
		return "map"
	case n.Kind == yaml.SequenceNode:
		return "list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "string"
	case "!!null":
		return "null"
	case "!!bool":
		return "boolean"
	case "!!int", "!!float":
		return "number"
	case "!!timestamp":
		return "date"
	}
	return "value"
}

// Text is the value of a scalar as written, empty for maps and lists and null.
func (f *Field) Text() string {
	n := Resolve(f.Node)
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return n.Value
}

// Resolve follows an alias to what it stands for.
func Resolve(n *yaml.Node) *yaml.Node {
	for range 8 { // an alias of an alias is as odd as it gets
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

// Get returns the field with this key.
func (fm *Frontmatter) Get(key string) (*Field, bool) {
	for i := range fm.Fields {
		if fm.Fields[i].Key == key {
			return &fm.Fields[i], true
		}
	}
	return nil, false
}

// Text returns the value of a scalar field, empty when it is missing or no scalar.
func (fm *Frontmatter) Text(key string) string {
	if f, ok := fm.Get(key); ok {
		return f.Text()
	}
	return ""
}

// Readable reports whether the fields can be trusted: the block is complete and its YAML was understood.
func (fm *Frontmatter) Readable() bool {
	return fm.Present && fm.Closed && fm.Err == nil && fm.Map
}

// Valid reports whether every reader of YAML understands the fields.
func (fm *Frontmatter) Valid() bool {
	seen := map[string]bool{}
	for i := range fm.Fields {
		seen[fm.Fields[i].Key] = true
	}
	return fm.Readable() && len(fm.Quotes) == 0 && len(seen) == len(fm.Fields)
}

// ParseFrontmatter reads the frontmatter of a skill alone, and says where the body begins.
func ParseFrontmatter(text string) (fm *Frontmatter, body int) {
	d := &Document{Text: text, Index: NewIndex(text)}
	body = d.readFrontmatter(d.readFacts())
	return &d.Frontmatter, body
}

// Equal reports whether two values are the same, however they are written.
func (f *Field) Equal(g *Field) bool { return f.Key == g.Key && equalNodes(f.Node, g.Node) }

// equalNodes compares values; an alias is equal to one of the same name.
func equalNodes(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !equalNodes(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// readFrontmatter reads the block between start and end and returns where the body begins.
func (d *Document) readFrontmatter(start, end int) (body int) {
	fm := &d.Frontmatter
	fm.Map = true
	line := d.LineAt(start)
	for line < d.Lines() && d.starts[line] < end && strings.TrimSpace(d.Line(line)) == "" {
		line++
	}
	if !isDelimiter(d.Line(line)) {
		return start
	}
	fm.Present, fm.Line = true, line
	fm.Blank = line > d.LineAt(start)
	last := d.closingLine(line, end)
	if last == 0 {
		return start
	}
	fm.Closed, fm.EndLine = true, last
	fm.start = d.starts[line]
	fm.Raw = d.Text[fm.start:d.starts[last-1]]
	d.readYAML()
	if fm.Blank && len(fm.Fields) == 0 {
		*fm = Frontmatter{Map: true} // two rules in a text that has no frontmatter
		return start
	}
	_, body = d.Bounds(last)
	if last < d.Lines() {
		body = d.starts[last]
	}
	return min(body, end)
}

// closingLine finds the line that ends the block, 0 when none does.
func (d *Document) closingLine(open, end int) int {
	for n := open + 1; n <= d.Lines() && d.starts[n-1] < end; n++ {
		if isDelimiter(d.Line(n)) {
			return n
		}
	}
	return 0
}

func isDelimiter(line string) bool {
	return strings.HasPrefix(line, "---") && strings.TrimRight(line[3:], " \t") == ""
}

// readYAML fills in the fields. When the text is not YAML but becomes so by quoting values, it is understood that way,
// as clients do, and the values are noted.
func (d *Document) readYAML() {
	fm := &d.Frontmatter
	if len(fm.Raw) > maxFrontmatter {
		fm.Err = &Mistake{Line: fm.Line, Col: 1, Message: "the frontmatter is larger than 256 kB"}
		return
	}
	var root yaml.Node
	err := decode(fm.Raw, &root)
	if err != nil {
		quotes := fm.needQuotes()
		var again yaml.Node
		if len(quotes) > 0 && decode(fm.quoted(quotes), &again) == nil && isMap(&again) {
			fm.Quotes, root, err = quotes, again, nil
		}
	}
	if err != nil {
		fm.Err = d.yamlMistake(err)
		return
	}
	if root.Kind == 0 || len(root.Content) == 0 {
		return
	}
	if fm.Map = isMap(&root); fm.Map {
		d.readFields(root.Content[0])
	}
}

// decode reads YAML to its end: the parser by itself stops at a line that is indented less than the first and leaves the
// rest unread.
func decode(text string, root *yaml.Node) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	if err := d.Decode(root); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var rest yaml.Node
	switch err := d.Decode(&rest); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errors.New("it has more than one document")
}

func isMap(document *yaml.Node) bool {
	return len(document.Content) == 1 && document.Content[0].Kind == yaml.MappingNode
}

func (d *Document) readFields(m *yaml.Node) {
	fm := &d.Frontmatter
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		f := Field{
			Key: Resolve(key).Value, Node: value,
			Line: key.Line + fm.Line, Col: key.Column,
			ValueLine: max(value.Line, 1) + fm.Line, ValCol: max(value.Column, 1),
		}
		last := fm.EndLine - 1
		if i+2 < len(m.Content) {
			last = m.Content[i+2].Line + fm.Line - 1
		}
		f.KeyStart = d.Offset(f.Line, f.Col)
		f.ValueEnd = d.lastOfField(max(f.ValueLine, f.Line), last)
		fm.Fields = append(fm.Fields, f)
	}
}

// lastOfField is the end of the last line of a field that is neither blank nor a comment.
func (d *Document) lastOfField(first, last int) int {
	for last > first {
		l := strings.TrimSpace(d.Line(last))
		if l != "" && !strings.HasPrefix(l, "#") {
			break
		}
		last--
	}
	_, end := d.Bounds(min(last, d.Lines()))
	return end
}

// yamlMistake reads the place out of the parser's message, the only place where it stands.
func (d *Document) yamlMistake(err error) *Mistake {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, text, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, message = n, text
		}
		if strings.HasPrefix(message, "did not find expected") {
			line++ // errors of structure count lines from 0
		}
	}
	fm := &d.Frontmatter
	m := &Mistake{Line: min(line+fm.Line, fm.EndLine), Message: message}
	if at, ok := d.controlIn(fm.start, fm.start+len(fm.Raw)); ok && strings.HasPrefix(message, "control characters") {
		m.Line, m.Col = d.Place(at)
		return m
	}
	l := d.Line(m.Line)
	m.Col = countChars(l[:len(l)-len(strings.TrimLeft(l, " \t"))]) + 1
	return m
}

// controlIn is the first control character in a range.
func (d *Document) controlIn(start, end int) (int, bool) {
	for _, at := range d.Facts.Controls {
		if at >= start && at < end {
			return at, true
		}
	}
	return 0, false
}
