package docserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/code"
)

// metadata is what stands between the tags, in the order that readers know.
type metadata struct {
	Confidence       int          `json:"confidence"`
	RetrievalQuality string       `json:"retrievalQuality"`
	SourcesUsed      int          `json:"sourcesUsed"`
	QueryType        string       `json:"queryType"`
	Suggestions      []suggestion `json:"suggestions"`
	ProcessingTimeMs float64      `json:"processingTimeMs"`
}

// render is the answer as the text part of a tool's result: the answer, a
// metadata block, and the list of sources.
func (ans *answer) render() string {
	meta, _ := json.MarshalIndent(metadata{ // numbers and strings always marshal
		ans.Confidence, ans.RetrievalQuality, ans.SourcesUsed, ans.QueryType, ans.Suggestions, ans.ProcessingTimeMs,
	}, "", "  ")
	// JSON escapes the angle brackets of tags by itself; backticks, which can
	// only stand in strings, would end the fence.
	fenced := strings.ReplaceAll(string(meta), "`", `\u0060`)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n---\n\n<response_metadata>\n```json\n%s\n```\n</response_metadata>\n\n### Sources\n", ans.Text, fenced)
	if len(ans.Sources) == 0 {
		b.WriteString("No sources available\n")
	}
	for _, s := range ans.Sources {
		fmt.Fprintf(&b, "[%d] %s\n    %s\n", s.N, harmless(placeName(s.Title, s.Section)), s.URL)
	}
	return b.String()
}

// disguises are what a page may say that a reader of answers could take for
// the answer's own metadata or source list.
var disguises = sync.OnceValue(func() (d struct{ tag, heading *regexp.Regexp }) {
	d.tag = regexp.MustCompile(`(?i)<(/?response_metadata)`)
	d.heading = regexp.MustCompile(`(?im)(###)[ \t]+(sources\b)|(^[ \t>*+-]*##?)[ \t]+(sources[ \t:#]*$)`)
	return d
})

// harmless writes what could be taken for the envelope with one more blank: it
// reads the same and is no longer it.
func harmless(text string) string {
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "response_metadata") && !strings.Contains(lower, "sources") {
		return text
	}
	d := disguises()
	return d.heading.ReplaceAllString(d.tag.ReplaceAllString(text, "< $1"), "$1$3  $2$4")
}

// closeFence ends a code block that is still open where a text ends, so that
// what follows the text is not taken for code. A block that cannot be ended,
// for being inside of something else, is left out, as is one without a line.
func closeFence(text string) string {
	blocks := code.Blocks(text)
	if len(blocks) == 0 {
		return text
	}
	last := blocks[len(blocks)-1]
	if last.Closed || last.End < len(strings.TrimRight(text, "\n")) {
		return text
	}
	line := text[strings.LastIndexByte(text[:last.Start], '\n')+1 : last.Start]
	if strings.TrimSpace(last.Text) == "" {
		return strings.TrimRight(text[:last.Start-len(line)], "\n")
	}
	for _, indent := range []string{strings.Repeat(" ", len(line)), line} {
		closed := strings.TrimRight(text, "\n") + "\n" + indent + last.Fence
		if b := code.Blocks(closed); len(b) == len(blocks) && b[len(b)-1].Closed {
			return closed
		}
	}
	return strings.TrimRight(text[:last.Start-len(line)], "\n")
}
