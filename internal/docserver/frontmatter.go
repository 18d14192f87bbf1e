package docserver

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// frontMatter is what a page may say about itself before its text.
type frontMatter struct {
	Title   string `yaml:"title"`
	URL     string `yaml:"url"`
	Project string `yaml:"project"`
}

// maxFrontMatter is the size over which the lines before a page's text are not
// read: it is a few lines in every page that is meant for people.
const maxFrontMatter = 64 << 10

// splitFrontMatter takes the YAML between two lines of dashes off a page. A
// page that merely starts with a rule has none; one whose YAML is broken is an
// error, because its title and source would be wrong.
func splitFrontMatter(text string) (meta frontMatter, body string, err error) {
	rest, ok := cutDashes(text, "---")
	if !ok {
		return meta, text, nil
	}
	head, body, closed := cutAtClosing(rest)
	if !closed {
		if looksLikeYAML(rest) {
			return meta, "", errors.New("it is not closed by a line ---")
		}
		return meta, text, nil
	}
	if len(head) > maxFrontMatter {
		return meta, "", fmt.Errorf("%d bytes are more than the %d allowed", len(head), maxFrontMatter)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("\n"+head), &doc); err != nil { // for the dashes, so that lines are the file's
		return meta, "", errors.New(oneLine(err.Error()))
	}
	switch {
	case len(doc.Content) == 0: // nothing between the dashes
		return meta, body, nil
	case doc.Content[0].Kind == yaml.ScalarNode: // a paragraph between two rules
		return meta, text, nil
	}
	if err := doc.Decode(&meta); err != nil {
		return meta, "", errors.New(oneLine(err.Error()))
	}
	meta.Title, meta.URL, meta.Project = oneLine(meta.Title), oneLine(meta.URL), oneLine(meta.Project)
	return meta, body, nil
}

// cutDashes takes a line that is just the given dashes off the start.
func cutDashes(text, dashes string) (rest string, ok bool) {
	line, rest, _ := strings.Cut(text, "\n")
	return rest, strings.TrimRight(line, " \t") == dashes
}

func cutAtClosing(text string) (head, body string, ok bool) {
	for at := 0; at < len(text); {
		if rest, ok := cutDashes(text[at:], "---"); ok {
			return text[:at], rest, true
		}
		if rest, ok := cutDashes(text[at:], "..."); ok {
			return text[:at], rest, true
		}
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return "", "", false
}

// looksLikeYAML tells whether a text starts with a key, as front matter does.
func looksLikeYAML(text string) bool {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	key, _, ok := strings.Cut(line, ":")
	return ok && key != "" && !strings.ContainsAny(key, " \t#*[")
}

// oneLine is s with every run of white space as one blank: names and addresses
// stand in lists where a line break would start something else.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
