package kind

import (
	"bytes"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseList is [Parse] for a file with one long list: the items of the block
// list under the top-level key are parsed when [Decoder.Items] comes to them,
// so that the parse tree of the whole file never exists. The tree of a file of
// 4 MiB takes 100 MB.
//
// What an item means can depend on the rest of the file: an alias, a quoted
// text that runs over what looks like the next item. Then [Decoder.Partial]
// tells that the file has to be read again with [Parse]. Everything else, the
// places and problems too, is as Parse has it.
func ParseList(file string, data []byte, key string) (*Decoder, *yaml.Node) {
	d := &Decoder{File: file}
	if strings.HasSuffix(strings.ToLower(file), ".json") || unusual(data) || !d.text(data) {
		return Parse(file, data)
	}
	l := findList(d.lines, key)
	if l == nil {
		return Parse(file, data)
	}
	root, err := document(l.rest(d.lines))
	if err != nil || len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return Parse(file, data)
	}
	v := vetting{d: d, anchored: map[*yaml.Node]extent{}}
	if _, ok := v.node(root); !ok || !l.attach(root.Content[0], key) {
		return Parse(file, data)
	}
	d.list = l
	return d, root.Content[0]
}

// unusual tells the files with line ends that editors do not count, or a byte
// order mark.
func unusual(data []byte) bool {
	for _, mark := range []string{"\u0085", "\u2028", "\u2029", "\uFEFF"} {
		if bytes.Contains(data, []byte(mark)) {
			return true
		}
	}
	return false
}

// Partial tells whether [Decoder.Items] met an item that only [Parse] can
// read. What was decoded up to there is void.
func (d *Decoder) Partial() bool { return d.list != nil && d.list.partial }

// Len is the number of items of a list.
func (d *Decoder) Len(n *yaml.Node) int {
	if d.list != nil && n == d.list.node {
		return len(d.list.starts)
	}
	return len(n.Content)
}

// Items gives the items of a list. Those of the list that [ParseList] left
// aside are parsed here, and their nodes are used again for the next item.
func (d *Decoder) Items(n *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		if d.list == nil || n != d.list.node {
			for _, item := range n.Content {
				if !yield(item) {
					return
				}
			}
			return
		}
		d.list.items(d.lines, yield)
	}
}

// list is a block list of which only the lines are known.
type list struct {
	key, end int   // the lines of the key and after the last item, from 0
	starts   []int // the first lines of the items
	column   int   // of their dashes, from 0
	node     *yaml.Node
	partial  bool
	quick    quick
}

// findList finds the lines of the list under a top-level key.
func findList(lines []string, key string) *list {
	l := &list{key: -1}
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, key+":"); ok && empty(rest) {
			l.key = i
			break
		}
	}
	if l.key < 0 {
		return nil
	}
	l.end = len(lines)
	for i := l.key + 1; i < len(lines); i++ {
		line := lines[i]
		if empty(line) {
			continue
		}
		column := indentation(line)
		if len(l.starts) == 0 {
			l.column = column
		}
		dash := isDash(line[column:])
		if column < l.column || (column == l.column && !dash) {
			if l.end = i; column > 0 {
				return nil
			}
			break
		}
		if column == l.column {
			l.starts = append(l.starts, i)
		}
	}
	if len(l.starts) == 0 {
		return nil
	}
	return l
}

// empty tells the lines that hold nothing but a comment.
func empty(line string) bool {
	rest := strings.TrimLeft(line, " ")
	return rest == "" || rest[0] == '#'
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isDash(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

// rest is the file without the items, their lines empty.
func (l *list) rest(lines []string) []byte {
	before, after := strings.Join(lines[:l.starts[0]], "\n"), strings.Join(lines[l.end:], "\n")
	return []byte(before + strings.Repeat("\n", l.end-l.starts[0]+1) + after)
}

// attach puts a list without items where the file without them has an empty
// value. It gives false when the key's line turns out to be something else.
func (l *list) attach(root *yaml.Node, key string) bool {
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Value != key || k.Line != l.key+1 {
			continue
		}
		if v.Kind != yaml.ScalarNode || v.Value != "" || v.Tag != "!!null" || v.Anchor != "" || v.Line != k.Line {
			return false
		}
		l.node = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: l.starts[0] + 1, Column: l.column + 1}
		root.Content[i+1] = l.node
		return true
	}
	return false
}

// items parses the items, and stops at one for which the file has to be parsed
// whole.
func (l *list) items(lines []string, yield func(*yaml.Node) bool) {
	for i := 0; i < len(l.starts); {
		if n := l.quick.item(lines[:l.until(i)], l.starts[i], l.column); n != nil {
			if i++; !yield(n) {
				return
			}
			continue
		}
		some := l.some(lines, i)
		if l.partial = some == nil; l.partial {
			return
		}
		for _, n := range some {
			if i++; !yield(n) {
				return
			}
		}
	}
}

// until is the line after an item.
func (l *list) until(i int) int {
	if i+1 < len(l.starts) {
		return l.starts[i+1]
	}
	return l.end
}

// chunkLines is how many lines the YAML parser gets at least, if there are as
// many: to start it takes as long as to read some.
const chunkLines = 200

// some parses an item, and those after it up to a chunk, with the YAML parser.
// It gives nil when the file has to be parsed whole.
func (l *list) some(lines []string, i int) []*yaml.Node {
	from, count := l.starts[i], 1
	for i+count < len(l.starts) && l.until(i+count)-from <= chunkLines {
		count++
	}
	to := l.until(i + count - 1)
	text := strings.Join(lines[from:to], "\n")
	if to < len(lines) {
		text += "\n"
	}
	root, err := document([]byte(text))
	if err != nil || len(root.Content) != 1 || root.Content[0].Kind != yaml.SequenceNode || len(root.Content[0].Content) != count {
		return nil
	}
	for _, item := range root.Content[0].Content {
		if !(chunk{from, to, to == len(lines)}).moved(item, 0) {
			return nil
		}
	}
	return root.Content[0].Content
}

// chunk is the lines of items that were parsed by themselves.
type chunk struct {
	from, to int
	last     bool // nothing comes after it
}

// moved moves the nodes to their lines in the file. It gives false for what
// only the whole file can tell: aliases, odd tags, how deep a node is, and the
// place of a missing value at the end, which is where the next item starts.
func (c chunk) moved(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || depth > maxQuickDepth || !knownTag(n) || (!c.last && n.Line > c.to-c.from) {
		return false
	}
	n.Line += c.from
	for _, inner := range n.Content {
		if !c.moved(inner, depth+1) {
			return false
		}
	}
	return true
}
