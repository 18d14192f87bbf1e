package docserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/code"
)

// Answer is what a documentation tool says, for people as text and for
// programs as structured content.
type Answer struct {
	Text             string   `json:"text" jsonschema:"the answer, as Markdown, with [Source N] citations"`
	Confidence       int      `json:"confidence" jsonschema:"0 to 100: how much of the question the best passages cover; 0 means nothing was found"`
	SourcesUsed      int      `json:"sourcesUsed" jsonschema:"how many sources the answer is made of"`
	RetrievalQuality string   `json:"retrievalQuality" jsonschema:"high, medium, low or none"`
	ProcessingTimeMs float64  `json:"processingTimeMs" jsonschema:"time the answer took"`
	Sources          []Source `json:"sources" jsonschema:"where the passages come from, in the order they are cited"`
}

// Source is where a passage comes from.
type Source struct {
	N       int     `json:"n" jsonschema:"number it is cited by"`
	Title   string  `json:"title"`
	Section string  `json:"section,omitempty"`
	URL     string  `json:"url"`
	Path    string  `json:"path" jsonschema:"file it stands in"`
	Score   float64 `json:"score" jsonschema:"bm25 rank, higher is better"`
}

// floor is the coverage below which the best passage is not an answer: it
// shares some common words with the question and misses the telling ones.
const floor = 0.3

// confidence is how much of the question is covered: mostly by the best
// passage, the rest by the first few together. It is a measure of retrieval,
// not of truth, and is documented as such.
func confidence(h *hits) int {
	if len(h.List) == 0 || h.List[0].Coverage < floor {
		return 0
	}
	return int(math.Round(100 * (0.7*h.List[0].Coverage + 0.3*h.Coverage)))
}

func quality(confidence int) string {
	switch {
	case confidence >= 75:
		return "high"
	case confidence >= 50:
		return "medium"
	case confidence > 0:
		return "low"
	}
	return "none"
}

// answerer puts what the index finds into the words of each tool.
type answerer struct {
	index *Index
	now   func() time.Time
}

// Ask answers a question with the best passages.
func (a *answerer) Ask(ctx context.Context, question, project string, maxTokens int) (*Answer, error) {
	start := a.now()
	h, err := a.index.search(ctx, query{Project: project, Text: question, Limit: 6})
	if err != nil {
		return nil, err
	}
	return a.compose(h, start, project, func(w *writer) { w.passages(budgetOf(maxTokens)) }), nil
}

// Example answers with the code blocks of the best sections that have any.
func (a *answerer) Example(ctx context.Context, task, project string, maxTokens int) (*Answer, error) {
	start := a.now()
	h, err := a.index.search(ctx, query{Project: project, Text: task, Limit: 4, Keep: hasExample})
	if err != nil {
		return nil, err
	}
	return a.compose(h, start, project, func(w *writer) { w.examples(budgetOf(maxTokens)) }), nil
}

// hasExample tells whether a chunk has code that does something, rather than a
// command to install it.
func hasExample(c *chunk) bool {
	for _, b := range c.Blocks {
		if isExample(b) {
			return true
		}
	}
	return false
}

func isExample(b code.Block) bool {
	switch b.Lang {
	case "", "text", "bash", "console", "json", "yaml", "toml", "diff":
		return false
	}
	return true
}

// Explain answers an error with the troubleshooting sections that fit it, and
// where there are none with what the pages say about its words.
func (a *answerer) Explain(ctx context.Context, errorText, hint, snippet, project string, maxTokens int) (*Answer, error) {
	start := a.now()
	text := errorText + " " + hint
	h, err := a.index.search(ctx, query{Project: project, Text: text, Limit: 4, Keep: func(c *chunk) bool { return c.Trouble }})
	if err != nil {
		return nil, err
	}
	if confidence(h) == 0 {
		h, err = a.index.search(ctx, query{Project: project, Text: text + " " + snippet, Limit: 4})
		if err != nil {
			return nil, err
		}
	}
	return a.compose(h, start, project, func(w *writer) { w.passages(budgetOf(maxTokens)) }), nil
}

// Search lists matching passages, best first.
func (a *answerer) Search(ctx context.Context, text, project string, limit int, contentType string) (*Answer, error) {
	start := a.now()
	keep := func(c *chunk) bool { return contentType == "" || c.Type == contentType }
	h, err := a.index.search(ctx, query{Project: project, Text: text, Limit: limit, Keep: keep})
	if err != nil {
		return nil, err
	}
	return a.compose(h, start, project, func(w *writer) { w.results(text, project) }), nil
}

const (
	defaultTokens = 4000
	maxTokensCap  = 32000
	charsPerToken = 4
)

// budgetOf is how many characters an answer of so many tokens may have.
func budgetOf(maxTokens int) int {
	if maxTokens <= 0 {
		maxTokens = defaultTokens
	}
	return min(maxTokens, maxTokensCap) * charsPerToken
}

// compose writes an answer, or says that there is none.
func (a *answerer) compose(h *hits, start time.Time, project string, write func(*writer)) *Answer {
	ans := &Answer{Confidence: confidence(h), Sources: []Source{}}
	ans.RetrievalQuality = quality(ans.Confidence)
	if ans.Confidence == 0 {
		ans.Text = fmt.Sprintf("The %s documentation has no passage that answers this. Nothing was found that covers the question's key terms.", project)
	} else {
		w := &writer{hits: h.List, answer: ans}
		write(w)
		ans.Text = strings.TrimSpace(w.String())
	}
	ans.SourcesUsed = len(ans.Sources)
	ans.ProcessingTimeMs = float64(a.now().Sub(start).Microseconds()) / 1000
	return ans
}

// writer lays out the text of an answer.
type writer struct {
	strings.Builder
	hits   []hit
	answer *Answer
}

// cite numbers a hit as a source.
func (w *writer) cite(h hit) int {
	n := len(w.answer.Sources) + 1
	w.answer.Sources = append(w.answer.Sources, Source{
		N: n, Title: h.Title, Section: h.Section, URL: h.URL, Path: h.Path, Score: math.Round(h.Score*1000) / 1000,
	})
	return n
}

// worthwhile drops hits that have far less of the question than the best.
func (w *writer) worthwhile() []hit {
	for i, h := range w.hits {
		if h.Coverage < w.hits[0].Coverage/2 {
			return w.hits[:i]
		}
	}
	return w.hits
}

// passages writes whole passages until the budget is used up; the first is
// always there.
func (w *writer) passages(budget int) {
	for i, h := range w.worthwhile() {
		if i > 0 && w.Len()+len(h.Text) > budget {
			break
		}
		n := w.cite(h)
		fmt.Fprintf(w, "**%s** [Source %d]\n\n%s\n\n", h.Name(), n, cut(h.Text, budget))
	}
}

// examples writes the code blocks of each hit with the words before them.
func (w *writer) examples(budget int) {
	for i, h := range w.worthwhile() {
		if i > 0 && w.Len()+len(h.Text) > budget {
			break
		}
		n := w.cite(h)
		fmt.Fprintf(w, "**%s** [Source %d]\n\n", h.Name(), n)
		if intro := introOf(h.chunk); intro != "" {
			fmt.Fprintf(w, "%s\n\n", intro)
		}
		for _, b := range h.Blocks {
			if isExample(b) {
				fmt.Fprintf(w, "%s%s\n%s%s\n\n", b.Fence, b.Lang, b.Text, b.Fence)
			}
		}
	}
}

// introOf is what a section says before its first code block.
func introOf(c *chunk) string {
	return strings.TrimSpace(c.Text[:c.Blocks[0].Start])
}

// results writes the list of a search.
func (w *writer) results(text, project string) {
	fmt.Fprintf(w, "# Search Results: %q (%s)\n\n", text, project)
	for _, h := range w.hits {
		n := w.cite(h)
		fmt.Fprintf(w, "## %d. %s\n\n**Type:** %s | **URL:** %s\n\n%s\n\n", n, h.Name(), h.Type, h.URL, h.Text)
	}
}

// cut shortens a passage that alone is over the budget, at a line.
func cut(text string, budget int) string {
	if len(text) <= budget {
		return text
	}
	text = text[:budget]
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	for _, b := range code.Blocks(text) {
		if !b.Closed {
			return text[:b.Start] + "…"
		}
	}
	return strings.ToValidUTF8(text, "") + "…"
}

// Render is the answer as the text part of a tool's result: the answer, a
// metadata block, and the list of sources.
func (ans *Answer) Render() string {
	meta, _ := json.MarshalIndent(map[string]any{ // numbers and strings always marshal
		"confidence": ans.Confidence, "sourcesUsed": ans.SourcesUsed,
		"retrievalQuality": ans.RetrievalQuality, "processingTimeMs": ans.ProcessingTimeMs,
	}, "", "  ")
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n---\n<response_metadata>\n```json\n%s\n```\n</response_metadata>\n\n### Sources\n", ans.Text, meta)
	if len(ans.Sources) == 0 {
		b.WriteString("No sources available\n")
	}
	for _, s := range ans.Sources {
		name := s.Title
		if s.Section != "" && s.Section != s.Title {
			name += " - " + s.Section
		}
		fmt.Fprintf(&b, "[%d] %s\n    %s\n", s.N, name, s.URL)
	}
	return b.String()
}
