package docserver

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/code"
)

// chunk is what the index ranks: a section of a page, or a part of a long one.
type chunk struct {
	Path    string
	Project string
	Title   string // of the page
	Section string // heading it stands under, "" before the first
	URL     string
	Type    string // prose, code or api-reference
	Trouble bool   // from a page or section about errors
	Text    string // Markdown, code blocks whole
	Blocks  []code.Block
}

// Name is how a person would call the place.
func (c *chunk) Name() string {
	if c.Section == "" || c.Section == c.Title {
		return c.Title
	}
	return c.Title + " - " + c.Section
}

// frontMatter is what a page may say about itself before its text.
type frontMatter struct {
	Title   string `yaml:"title"`
	URL     string `yaml:"url"`
	Project string `yaml:"project"`
}

// chunkSize is the length, in bytes, at which a section is cut at the next
// paragraph: short enough to answer with, long enough to stand alone.
const chunkSize = 2400

// parsePage cuts a page into chunks. Without front matter the title is the
// first heading's, the URL the path, and the project the topmost folder.
func parsePage(name string, b []byte) ([]chunk, error) {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return nil, fmt.Errorf("%s: not text in UTF-8", name)
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(b), "\uFEFF"), "\r\n", "\n")
	meta, body, err := splitFrontMatter(text)
	if err != nil {
		return nil, fmt.Errorf("%s: front matter: %w", name, err)
	}
	if meta.Project == "" {
		meta.Project, _, _ = strings.Cut(name, "/")
		if !strings.Contains(name, "/") {
			meta.Project = "docs"
		}
	}
	if meta.URL == "" {
		meta.URL = name
	}
	sections := cutSections(body)
	if meta.Title == "" {
		meta.Title = strings.TrimSuffix(path.Base(name), path.Ext(name))
		if len(sections) > 0 {
			for _, s := range sections {
				if s.heading != "" {
					meta.Title = s.heading
					break
				}
			}
		}
	}
	var out []chunk
	for _, s := range sections {
		url := meta.URL
		if s.level > 1 {
			url += "#" + anchor(s.heading)
		}
		for _, part := range cutParagraphs(s.text) {
			c := chunk{Path: name, Project: meta.Project, Title: meta.Title, Section: s.heading, URL: url, Text: part, Blocks: code.Blocks(part)}
			c.Trouble = aboutTrouble(meta.Title) || aboutTrouble(s.heading)
			c.Type = typeOf(name, c.Blocks, part)
			out = append(out, c)
		}
	}
	return out, nil
}

func splitFrontMatter(text string) (meta frontMatter, body string, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return meta, text, nil
	}
	head, body, ok := strings.Cut(rest, "\n---")
	if !ok {
		return meta, text, errors.New("it is not closed by ---")
	}
	if err := yaml.Unmarshal([]byte(head), &meta); err != nil {
		return meta, body, err
	}
	return meta, strings.TrimPrefix(body, "\n"), nil
}

type section struct {
	heading string
	level   int
	text    string
}

// cutSections cuts a page at its headings; a # inside a code block is none.
func cutSections(body string) (out []section) {
	inCode := codeLines(body)
	var current section
	var b strings.Builder
	flush := func() {
		current.text = strings.TrimSpace(b.String())
		if current.text != "" {
			out = append(out, current)
		}
		b.Reset()
	}
	n := 0
	for line := range strings.Lines(body) {
		n++
		if level, title := heading(line); level > 0 && !inCode[n] {
			flush()
			current = section{heading: title, level: level}
			continue
		}
		b.WriteString(line)
	}
	flush()
	return out
}

// codeLines gives the lines, from 1, that belong to code blocks.
func codeLines(text string) map[int]bool {
	lines := map[int]bool{}
	for _, b := range code.Blocks(text) {
		for i := b.Line; i <= b.EndLine; i++ {
			lines[i] = true
		}
	}
	return lines
}

func heading(line string) (level int, title string) {
	line = strings.TrimRight(line, " \t\n")
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || (level < len(line) && line[level] != ' ') {
		return 0, ""
	}
	return level, strings.Trim(line[level:], "# ")
}

// cutParagraphs cuts a long section at blank lines outside code.
func cutParagraphs(text string) (out []string) {
	if len(text) <= chunkSize {
		return []string{text}
	}
	inCode := codeLines(text)
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		if b.Len() > chunkSize && strings.TrimSpace(line) == "" && !inCode[n] {
			out = append(out, strings.TrimSpace(b.String()))
			b.Reset()
			continue
		}
		b.WriteString(line)
	}
	if rest := strings.TrimSpace(b.String()); rest != "" {
		out = append(out, rest)
	}
	return out
}

// anchor is the fragment that documentation sites give a heading.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			b.WriteRune(r)
		case r == ' ' || r == '-':
			b.WriteByte('-')
		}
	}
	return b.String()
}

func aboutTrouble(title string) bool {
	title = strings.ToLower(title)
	for _, word := range []string{"error", "troubleshoot", "failed", "failure", "debug", "problem"} {
		if strings.Contains(title, word) {
			return true
		}
	}
	return false
}

// typeOf sorts a chunk as the tools' contentType does: code when most of it is.
func typeOf(name string, blocks []code.Block, text string) string {
	if strings.Contains(name, "api-reference") || strings.Contains(name, "/api/") || strings.Contains(name, "/reference/") {
		return "api-reference"
	}
	n := 0
	for _, b := range blocks {
		n += len(b.Text)
	}
	if n*2 > len(text) {
		return "code"
	}
	return "prose"
}
