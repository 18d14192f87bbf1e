package grade

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/code"
)

// citation is a mark in an answer that points at a source.
type citation struct {
	text    string
	numbers []int
	linked  bool // a Markdown link that brings its own address
}

// citations finds the citations of an answer outside its code, and the numbers
// that the answer itself explains, as footnotes and reference lists do.
func citations(text string) (found []citation, defined []int) {
	text = code.Prose(text)
	for _, at := range citationMark().FindAllStringIndex(text, -1) {
		c := citation{text: text[at[0]:at[1]], linked: strings.HasPrefix(text[at[1]:], "(")}
		for _, n := range digitRun().FindAllString(c.text, -1) {
			number, err := strconv.Atoi(n)
			if err != nil {
				number = -1 // longer than any list
			}
			c.numbers = append(c.numbers, number)
		}
		line := text[strings.LastIndexByte(text[:at[0]], '\n')+1 : at[0]]
		if strings.HasPrefix(text[at[1]:], ":") && strings.TrimSpace(line) == "" {
			defined = append(defined, c.numbers...)
			continue
		}
		found = append(found, c)
	}
	return found, defined
}

// citationMark matches [1], [^1], [Source 1] and [Sources 1, 2]. Its bracket
// comes first and once, so that the search goes from bracket to bracket.
var citationMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[(?:\^?\d+|(?i:sources?\s*#?\d+(?:\s*(?:,|;|&|-|–|and)\s*(?:sources?\s*)?#?\d+)*))\]`)
})

var digitRun = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })
