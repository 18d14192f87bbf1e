package skill

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// LinkKind says what a link points to.
type LinkKind string

// The kinds of links.
const (
	LinkURL    LinkKind = "url"    // has a scheme, or begins with //
	LinkAnchor LinkKind = "anchor" // a place in the same file
	LinkFile   LinkKind = "file"   // everything else: a path
)

// Link is a link or an image.
type Link struct {
	Target, Text string
	Kind         LinkKind
	Image        bool
	Line, Col    int
	Section      *Section
	Start        int // offset of the opening bracket
	TargetStart  int // offset of the target, -1 when it is written elsewhere or escaped
}

// File is the path of a link to a file, without anchor and query.
func (l *Link) File() string {
	path := l.Target
	if i := strings.IndexAny(path, "#?"); i >= 0 {
		path = path[:i]
	}
	return path
}

// Path is the file that a link names, with its escapes resolved, relative to the folder of the skill.
func (l *Link) Path() string {
	file := l.File()
	if decoded, err := url.PathUnescape(file); err == nil {
		file = decoded
	}
	return strings.ReplaceAll(file, "\\", "/")
}

// Mention is a path named in back-ticks, alone or in a command.
type Mention struct {
	Path       string
	Line, Col  int
	Section    *Section
	Start, End int
}

// readInlines collects links and mentions in the order of the file.
func (d *Document) readInlines(root ast.Node, source []byte) {
	section := d.sectionCursor()
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			d.addLink(n, string(n.Destination), false, source, section)
		case *ast.Image:
			d.addLink(n, string(n.Destination), true, source, section)
		case *ast.AutoLink:
			d.addLink(n, string(n.URL(source)), false, source, section)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				d.addAttributes(n.Segments.At(i).Start, n.Segments.At(i).Stop, section)
			}
		case *ast.HTMLBlock:
			for i := range n.Lines().Len() {
				d.addAttributes(n.Lines().At(i).Start, n.Lines().At(i).Stop, section)
			}
		case *ast.CodeSpan:
			d.addMentions(n, section)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
}

func (d *Document) addLink(n ast.Node, target string, image bool, source []byte, section func(int) *Section) {
	pos := n.Pos()
	if pos < 0 {
		return
	}
	l := Link{Target: target, Kind: KindOf(target), Image: image, Start: d.BodyStart + pos, TargetStart: -1}
	if a, ok := n.(*ast.AutoLink); ok {
		l.Text = string(a.Label(source))
	} else {
		l.Text = plainText(n, source)
	}
	// The parser does not say where the target stands; it follows the text, unless it is written elsewhere.
	window := source[pos:min(len(source), pos+2*len(l.Text)+len(target)+64)]
	if i := strings.Index(string(window), "("+target); i >= 0 && target != "" {
		l.TargetStart = l.Start + i + 1
	}
	l.Line, l.Col = d.Place(l.Start)
	l.Section = section(l.Start)
	d.Links = append(d.Links, l)
}

// addAttributes finds the addresses in a piece of HTML, given by its place in the body.
func (d *Document) addAttributes(start, end int, section func(int) *Section) {
	text := d.Body()[start:min(end, len(d.Body()))]
	for _, attribute := range [...]string{"href=", "src="} {
		for at := 0; ; {
			i := strings.Index(text[at:], attribute)
			if i < 0 {
				break
			}
			at += i + len(attribute)
			if at >= len(text) || text[at] != '"' && text[at] != '\'' {
				continue
			}
			target, _, ok := strings.Cut(text[at+1:min(len(text), at+500)], text[at:at+1])
			if !ok || target == "" {
				continue
			}
			l := Link{Target: target, Kind: KindOf(target), Image: attribute == "src=", Start: d.BodyStart + start + at + 1}
			l.TargetStart = l.Start
			l.Line, l.Col = d.Place(l.Start)
			l.Section = section(l.Start)
			d.Attributes = append(d.Attributes, l)
		}
	}
}

// KindOf says what the target of a link points to.
func KindOf(target string) LinkKind {
	if strings.HasPrefix(target, "#") {
		return LinkAnchor
	}
	if strings.HasPrefix(target, "//") || hasScheme(target) {
		return LinkURL
	}
	return LinkFile
}

// hasScheme reports whether a target begins with a scheme. One letter is a Windows drive.
func hasScheme(target string) bool {
	i := strings.IndexByte(target, ':')
	if i < 2 {
		return false
	}
	for _, c := range []byte(target[:i]) {
		if !isAlnum(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isLetterASCII(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// addMentions finds the paths in a code span.
func (d *Document) addMentions(n *ast.CodeSpan, section func(int) *Section) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t, ok := c.(*ast.Text)
		if !ok {
			continue
		}
		start := d.BodyStart + t.Segment.Start
		span := d.Text[start : d.BodyStart+t.Segment.Stop]
		for from := 0; from < len(span); {
			to := from + strings.IndexAny(span[from:]+" ", " \t\"'")
			if isPath(span[from:to]) {
				m := Mention{Path: span[from:to], Start: start + from, End: start + to, Section: section(start)}
				m.Line, m.Col = d.Place(m.Start)
				d.Mentions = append(d.Mentions, m)
			}
			from = to + 1
		}
	}
}

// isPath reports whether a word is a relative path with a folder in it, and not a pattern, a placeholder, a URL or a
// package name.
func isPath(word string) bool {
	if len(word) > 256 || !strings.Contains(word, "/") || strings.HasPrefix(word, "/") || strings.Contains(word, "//") {
		return false
	}
	for _, r := range word {
		if r < 0x80 && !isAlnum(byte(r)) && !strings.ContainsRune("/._-+ ", r) {
			return false
		}
	}
	return true
}
