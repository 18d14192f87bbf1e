package code

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

const jsonCommentsChecker = "hujson"

// maxJSONDepth bounds what hujson is given: it recurses without a bound of its own. encoding/json has the same.
const maxJSONDepth = 10_000

// jsonCommentsSyntax accepts one JSON value with comments and trailing commas.
func jsonCommentsSyntax(src string) ([]Problem, bool) {
	if len(src) > maxSource || bracketDepth(src) > maxJSONDepth {
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
	return []Problem{problemAt(src, byteOffset(src, line, col), message, jsonCommentsChecker)}, true
}

// bracketDepth is how deep the brackets of a source nest, those in comments and strings left out.
func bracketDepth(src string) (deepest int) {
	depth := 0
	l := newLexer(src, dialect{})
	for t := l.next(); t.kind != tokEOF; t = l.next() {
		switch c := src[t.start]; {
		case t.kind != tokPunct:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
