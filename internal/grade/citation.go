package grade

import (
	"bytes"
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
	text = prose(text)
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

// prose is the text with its code made blank: array[0] is no citation.
func prose(text string) string {
	if !strings.ContainsAny(text, "`~") {
		return text
	}
	blank := []byte(text)
	for _, b := range code.Blocks(text) {
		wipe(blank[b.Start:b.End])
	}
	start := 0
	for at := 0; at < len(blank); {
		end := len(blank)
		if i := bytes.IndexByte(blank[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if len(bytes.TrimSpace(blank[at:end])) == 0 { // a code span ends with its paragraph
			wipeSpans(blank[start:at])
			start = end
		}
		at = end
	}
	wipeSpans(blank[start:])
	return string(blank)
}

func wipe(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// wipeSpans blanks code spans: from a run of backticks to the next run of the
// same length.
func wipeSpans(b []byte) {
	type run struct{ at, n int }
	var runs []run
	for i := 0; i < len(b); i++ {
		if b[i] != '`' {
			continue
		}
		start := i
		for i < len(b) && b[i] == '`' {
			i++
		}
		runs = append(runs, run{start, i - start})
	}
	next := make([]int, len(runs)) // the next run of the same length
	last := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		next[i] = last[runs[i].n] // 0 when there is none: no run comes before the first
		last[runs[i].n] = i
	}
	for i := 0; i < len(runs); i++ {
		if j := next[i]; j > 0 {
			wipe(b[runs[i].at : runs[j].at+runs[j].n])
			i = j
		}
	}
}
