package kind

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// What a YAML file may be. The limits on what its aliases stand for keep a
// small file from becoming a large one; no file a person writes comes near.
const (
	MaxFile   = 4 << 20 // bytes
	maxValues = 4 << 20 // values, aliases expanded
	maxText   = 16 << 20
	maxDepth  = 100 // lists and mappings inside each other
)

// Parse reads the file's one document. It gives nil when there is none to
// decode; the problems say why. What it does give holds no anchor that
// contains itself and is bounded in size and depth, so that whatever walks it
// comes to an end.
func Parse(file string, data []byte) (*Decoder, *yaml.Node) {
	d := &Decoder{File: file}
	if !d.text(data) {
		return d, nil
	}
	data = jsonEscapes(file, data)
	root, err := document(data)
	switch {
	case errors.Is(err, io.EOF):
		d.empty = true
		d.Add(Problem{Message: "the file is empty"})
		return d, nil
	case err != nil:
		d.syntax(data, err)
		return d, nil
	}
	if bytes.ContainsAny(data, rareBreaks) {
		relocate(root, data)
	}
	v := vetting{d: d, anchored: map[*yaml.Node]extent{}}
	if _, ok := v.node(root); !ok {
		return d, nil
	}
	if n := len(root.Content); n > 1 {
		d.Errorf(root.Content[1], "a second document: the file must hold one")
	}
	return d, root.Content[0]
}

// text tells whether data is text of a bearable size, and keeps its lines for
// the excerpts of problems.
func (d *Decoder) text(data []byte) bool {
	switch {
	case len(data) > MaxFile:
		d.Add(Problem{Message: fmt.Sprintf("the file is %d bytes, more than the %d MiB allowed", len(data), MaxFile>>20)})
		return false
	case bytes.IndexByte(data, 0) >= 0:
		d.Add(Problem{Message: "the file is not text"})
		return false
	}
	d.lines = splitLines(string(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	for i, line := range d.lines {
		at, r := unreadable(line)
		if at < 0 {
			continue
		}
		p := Problem{Line: i + 1, Col: utf8.RuneCountInString(line[:at]) + 1}
		if p.Message = fmt.Sprintf("the character %U does not belong in a text file", r); r == utf8.RuneError {
			p.Message = fmt.Sprintf("the byte 0x%02X is not UTF-8", line[at])
		}
		d.Add(p)
		return false
	}
	return true
}

// unreadable finds what YAML refuses without saying where: a byte that is no
// UTF-8, given as U+FFFD, or a control character.
func unreadable(line string) (at int, r rune) {
	for at, r = range line {
		switch {
		case r == '\t' || r == '\u0085':
		case r < ' ' || (r >= 0x7F && r < 0xA0) || r == 0xFFFE || r == 0xFFFF:
			return at, r
		case r == utf8.RuneError && !strings.HasPrefix(line[at:], "\uFFFD"):
			return at, r
		}
	}
	return -1, 0
}

// splitLines cuts text where editors do: at LF, CRLF and CR.
func splitLines(text string) []string {
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return strings.Split(text, "\n")
}

// document parses the whole stream into one node that holds its documents. The
// parser is foreign code that reports some broken input by panicking.
func document(data []byte) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	root = &yaml.Node{Kind: yaml.DocumentNode, Line: 1, Column: 1}
	for range 2 { // the second is one too many; no need to see a third
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF) && len(root.Content) > 0:
			return root, nil
		case err != nil:
			return nil, err
		case len(doc.Content) != 1:
			return nil, io.EOF
		}
		root.Content = append(root.Content, doc.Content[0])
	}
	return root, nil
}

// rareBreaks are the characters that the YAML parser counts as line ends and
// editors do not.
const rareBreaks = "\u0085\u2028\u2029"

// relocate puts the nodes of a file with rare line breaks where an editor sees
// them.
func relocate(root *yaml.Node, data []byte) {
	type place struct{ line, col int }
	text := strings.TrimPrefix(string(data), "\uFEFF")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	starts := []place{{1, 1}} // of each line as the parser counts them
	at := place{1, 1}
	for _, r := range text {
		at.col++
		if r == '\n' {
			at = place{at.line + 1, 1}
		}
		if r == '\n' || strings.ContainsRune(rareBreaks, r) {
			starts = append(starts, at)
		}
	}
	var move func(n *yaml.Node)
	move = func(n *yaml.Node) {
		if i := n.Line - 1; i >= 0 && i < len(starts) {
			n.Line, n.Column = starts[i].line, starts[i].col+n.Column-1
		}
		for _, c := range n.Content {
			move(c)
		}
	}
	for _, doc := range root.Content {
		move(doc)
	}
}

// jsonEscapes rewrites the escapes of a JSON file that the YAML parser does not
// know: surrogate pairs, as YAML's own escape of the same character, and the
// slash.
func jsonEscapes(file string, data []byte) []byte {
	if !strings.HasSuffix(strings.ToLower(file), ".json") || !bytes.Contains(data, []byte(`\`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if data[i] != '\\' || i+1 == len(data) {
			out = append(out, data[i])
			i++
			continue
		}
		if pair := surrogatePair(data[i:]); pair >= 0 {
			out = fmt.Appendf(out, `\U%08X`, pair)
			i += len(`\ud83d\ude00`)
			continue
		}
		if data[i+1] != '/' {
			out = append(out, '\\')
		}
		out = append(out, data[i+1])
		i += 2
	}
	return out
}

// surrogatePair gives the character of a pair like \ud83d\ude00, or -1.
func surrogatePair(b []byte) rune {
	if len(b) < 12 || b[1] != 'u' || b[6] != '\\' || b[7] != 'u' {
		return -1
	}
	high, err1 := strconv.ParseUint(string(b[2:6]), 16, 16)
	low, err2 := strconv.ParseUint(string(b[8:12]), 16, 16)
	if err1 != nil || err2 != nil || !utf16.IsSurrogate(rune(high)) {
		return -1
	}
	if r := utf16.DecodeRune(rune(high), rune(low)); r != utf8.RuneError {
		return r
	}
	return -1
}

// extent is what a node comes to with its aliases expanded.
type extent struct {
	values, text int64
	depth        int
}

// vetting walks a parsed file once before anything else does.
type vetting struct {
	d        *Decoder
	anchored map[*yaml.Node]extent // those whose end has been seen
}

func (v *vetting) node(n *yaml.Node) (e extent, ok bool) {
	if n.Kind == yaml.AliasNode {
		// An anchor stands before its aliases, so one that is not done yet is
		// around this alias.
		if e, ok = v.anchored[n.Alias]; !ok {
			v.d.Errorf(n, "the anchor %q contains itself", n.Value)
		}
		return e, ok
	}
	if !v.tag(n) {
		return e, false
	}
	e = extent{values: 1, text: int64(len(n.Value))}
	for _, c := range n.Content {
		in, ok := v.node(c)
		if !ok {
			return e, false
		}
		e.values += in.values
		e.text += in.text
		e.depth = max(e.depth, in.depth+1)
		if !v.bearable(c, e) {
			return e, false
		}
	}
	if n.Anchor != "" {
		v.anchored[n] = e
	}
	return e, true
}

func (v *vetting) bearable(n *yaml.Node, e extent) bool {
	switch {
	case e.values > maxValues:
		v.d.Errorf(n, "the file's aliases expand to more than %d values", maxValues)
	case e.text > maxText:
		v.d.Errorf(n, "the file's aliases expand to more than %d MiB", maxText>>20)
	case e.depth > maxDepth+1: // the document is one
		v.d.Errorf(n, "lists and mappings are nested more than %d deep", maxDepth)
	default:
		return true
	}
	return false
}

// tag refuses the tags that ask for more than JSON can hold: they would be
// dropped in silence otherwise.
func (v *vetting) tag(n *yaml.Node) bool {
	if knownTag(n) {
		return true
	}
	v.d.Errorf(n, "the tag %s is not understood", n.ShortTag())
	return false
}

func knownTag(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge", "":
		return true
	}
	return n.Kind == yaml.DocumentNode
}
