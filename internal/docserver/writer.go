package docserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
)

// charsPerToken is how many characters of English and code a token has, about.
const charsPerToken = 4

// writer lays out the text of an answer.
type writer struct {
	strings.Builder
	hits   []hit
	best   float64
	answer *answer
}

// nothing says that there is no answer. It does not repeat the question, whose
// words have nothing to do with the project.
func (w *writer) nothing(project string) {
	fmt.Fprintf(w, "Not found: the %s documentation has no passage that answers this.", project)
}

// cite numbers a hit as a source.
func (w *writer) cite(h hit) int {
	n := len(w.answer.Sources) + 1
	w.answer.Sources = append(w.answer.Sources, source{
		N: n, Title: h.Title, Section: h.Section, URL: h.URL, Path: h.Path, Type: h.Type,
		Score: round(h.rank), Coverage: round(h.Coverage),
	})
	return n
}

// worthwhile leaves out hits that have far less of the question than the best.
func (w *writer) worthwhile() []hit {
	return slices.DeleteFunc(slices.Clone(w.hits), func(h hit) bool { return h.Coverage < w.best/2 })
}

// passages writes whole passages until the budget of characters is used up. The
// first is there in any case, shortened if need be.
func (w *writer) passages(budget int) {
	for _, h := range w.worthwhile() {
		if !w.passage(h, h.Text, budget) {
			return
		}
	}
}

// passage writes one passage under the name of its source, if it fits.
func (w *writer) passage(h hit, text string, budget int) bool {
	n := len(w.answer.Sources) + 1
	head := fmt.Sprintf("**%s** [Source %d]\n\n", h.Name(), n)
	room := budget - w.Len() - len(head)
	if n > 1 && len(text) > room {
		return false
	}
	w.cite(h)
	fmt.Fprintf(w, "%s%s\n\n", head, shorten(text, room))
	return true
}

// examples writes the code blocks of each hit under the words before them.
func (w *writer) examples(budget int) {
	for _, h := range w.worthwhile() {
		if !w.passage(h, exampleText(&h.chunk), budget) {
			return
		}
	}
}

// exampleText is the code of a chunk: its program if there is one, else its
// commands, each under the paragraph that leads to it.
func exampleText(c *chunk) string {
	wanted := isExample // commands and settings
	if hasProgram(c) {
		wanted = isProgram
	}
	var parts []string
	at := 0
	for _, b := range c.Blocks {
		if wanted(b) {
			if intro := introOf(c.Text[at:b.Start]); intro != "" {
				parts = append(parts, intro)
			}
			parts = append(parts, b.Fence+b.Lang+"\n"+b.Text+b.Fence)
		}
		at = b.End
	}
	return strings.Join(parts, "\n\n")
}

// introOf is the paragraph that a text ends with, cut to two sentences.
func introOf(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		text = strings.TrimSpace(text[i:])
	}
	if text == "" || strings.HasPrefix(text, "|") {
		return ""
	}
	return firstSentences(text, 2)
}

// firstSentences cuts a text behind its first n sentences.
func firstSentences(text string, n int) string {
	for i := 0; i+1 < len(text); i++ {
		if strings.IndexByte(".!?:", text[i]) >= 0 && (text[i+1] == ' ' || text[i+1] == '\n') {
			if n--; n == 0 {
				return text[:i+1]
			}
		}
	}
	return text
}

// hasExample tells whether a chunk has code that somebody can use.
func hasExample(c *chunk) bool { return slices.ContainsFunc(c.Blocks, isExample) }

// hasProgram tells whether a chunk has code of a program.
func hasProgram(c *chunk) bool { return slices.ContainsFunc(c.Blocks, isProgram) }

// isExample tells whether a block is something to use, and not just shown.
func isExample(b code.Block) bool { return b.Lang != "" && b.Lang != "text" && b.Lang != "diff" }

// isProgram tells whether a block is code rather than commands or settings.
func isProgram(b code.Block) bool {
	switch b.Lang {
	case "bash", "console", "powershell", "json", "jsonc", "yaml", "toml", "ini", "xml", "dockerfile":
		return false
	}
	return isExample(b)
}

// maxResult is the length over which a result of a search is shortened.
const maxResult = 2 * chunkSize

// results writes the list of a search.
func (w *writer) results(text, project string) {
	fmt.Fprintf(w, "# Search Results: \"%s\" (%s)\n\n", clip(oneLine(text)), project)
	for _, h := range w.hits {
		n := w.cite(h)
		fmt.Fprintf(w, "## %d. %s\n**Type:** %s | **URL:** %s\n\n%s\n\n", n, h.Name(), h.Type, h.URL, shorten(h.Text, maxResult))
	}
}

// shorten cuts a passage that is over the budget, at a line or else at a word,
// and says so.
func shorten(text string, budget int) string {
	if len(text) <= budget {
		return text
	}
	text = text[:max(0, budget)]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	} else {
		text = text[:strings.LastIndexByte(text, ' ')+1]
	}
	return strings.TrimSpace(closeFence(strings.ToValidUTF8(text, "")) + "\n\n(shortened)")
}
