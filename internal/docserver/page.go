package docserver

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code"
)

// chunk is what the index ranks: a section of a page, or a part of a long one.
type chunk struct {
	Path    string
	Project string
	Title   string // of the page
	Section string // heading it stands under, "" before the first
	Above   string // the headings over that one
	URL     string
	Type    string // typeProse, typeCode or typeReference
	Trouble bool   // from a page or section about errors
	Text    string // Markdown, code blocks whole
	Blocks  []code.Block
}

// Name is how a person would call the place.
func (c *chunk) Name() string { return placeName(c.Title, c.Section) }

func placeName(title, section string) string {
	if section == "" || section == title {
		return title
	}
	return title + " - " + section
}

// parsePage cuts a page into chunks. What its front matter does not say is
// taken from elsewhere: the title from the first heading, the address from
// the path, the project from the topmost folder.
func parsePage(name string, b []byte) ([]chunk, error) {
	if bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) {
		return nil, fmt.Errorf("%s: %w", name, errNotText)
	}
	meta, body, err := splitFrontMatter(normalized(string(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: front matter: %w", name, err)
	}
	sections, heading := cutSections(withoutMarkup(body, path.Ext(name) == ".mdx"))
	page := chunk{
		Path:    name,
		Project: cmp.Or(meta.Project, oneLine(topFolder(name)), "docs"),
		Title:   cmp.Or(meta.Title, heading, oneLine(strings.TrimSuffix(path.Base(name), path.Ext(name)))),
		URL:     strings.ReplaceAll(meta.URL, " ", "%20"),
	}
	return page.cut(sections), nil
}

var errNotText = errors.New("not text in UTF-8")

// normalized is a text without a byte order mark, its lines ended by \n.
func normalized(text string) string {
	text = strings.TrimPrefix(text, "\uFEFF")
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// topFolder is the first folder of a path, "" for a file at the root.
func topFolder(name string) string {
	folder, _, ok := strings.Cut(name, "/")
	if !ok {
		return ""
	}
	return folder
}

// cut makes the chunks of a page, of which c has what they share.
//
// An address from the front matter is cited as it stands: it may belong to a
// site with other headings, so a fragment would be made up. Only where the
// path serves as address does the section's fragment follow it.
func (c chunk) cut(sections []section) (out []chunk) {
	trouble, reference := aboutTrouble(c.Title), isReference(c.Path)
	for _, s := range sections {
		for _, text := range cutText(closeFence(s.text)) {
			part := c
			part.Section, part.Above, part.Text, part.Blocks = s.heading, s.above, text, code.Blocks(text)
			part.Trouble = trouble || aboutTrouble(s.heading) || aboutTrouble(s.above)
			part.Type = typeOf(reference, part.Blocks, text)
			if part.URL == "" {
				part.URL = (&url.URL{Path: c.Path}).String() + s.fragment
			}
			out = append(out, part)
		}
	}
	return out
}

// aboutTrouble tells whether a title is one of a place where errors are
// explained.
func aboutTrouble(title string) bool {
	title = strings.ToLower(title)
	for _, word := range []string{"error", "troubleshoot", "exception", "failed", "failure", "debug", "problem"} {
		if strings.Contains(title, word) {
			return true
		}
	}
	return false
}

func isReference(name string) bool {
	for folder := range strings.SplitSeq(path.Dir(name), "/") {
		switch folder {
		case "api", "reference", "api-reference":
			return true
		}
	}
	return false
}

// Types of content, by the names that the tools' contentType has for them.
const (
	typeProse     = "prose"
	typeCode      = "code"
	typeReference = "api-reference"
)

// typeOf sorts a chunk: it is code when most of it is.
func typeOf(reference bool, blocks []code.Block, text string) string {
	if reference {
		return typeReference
	}
	n := 0
	for _, b := range blocks {
		n += len(b.Text)
	}
	if n*2 > len(text) {
		return typeCode
	}
	return typeProse
}

// split gives a chunk's text outside and inside of code blocks.
func (c *chunk) split() (prose, source string) {
	if len(c.Blocks) == 0 {
		return c.Text, ""
	}
	var p, s strings.Builder
	at := 0
	for _, b := range c.Blocks {
		p.WriteString(c.Text[at:b.Start])
		s.WriteString(b.Text)
		at = b.End
	}
	p.WriteString(c.Text[at:])
	return p.String(), s.String()
}
