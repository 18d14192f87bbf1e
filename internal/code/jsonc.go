package code

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

const jsonCommentsChecker = "hujson"

// maxJSONDepth bounds what hujson is given: it recurses without a bound of its own. encoding/json has the same.
const maxJSONDepth = 10_000

// jsonCommentsSyntax accepts one JSON value with comments and trailing commas.
func jsonCommentsSyntax(src string) ([]Problem, bool) {
	if len(src) > source.MaxSource || bracketDepth(src) > maxJSONDepth {
		return nil, false
	}
	_, err := hujson.Parse([]byte(src))
	if err == nil {
		return nil, true
	}
	message := strings.TrimPrefix(err.Error(), "hujson: ")
	var line, col int
	if _, err := fmt.Sscanf(message, "line %d, column %d:", &line, &col); err == nil {
		_, message, _ = strings.Cut(message, ": ")
	}
	return []Problem{source.ProblemAt(src, source.ByteOffset(src, line, col), message, jsonCommentsChecker)}, true
}

// bracketDepth is how deep the brackets of a source nest, those in comments and strings left out.
func bracketDepth(src string) (deepest int) {
	depth := 0
	l := scan.NewLexer(src, scan.Dialect{})
	for t := l.Next(); t.Kind != scan.EOF; t = l.Next() {
		switch c := src[t.Start]; {
		case t.Kind != scan.Punct:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
