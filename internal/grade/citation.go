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
	if nextCitation(text, 0) < 0 {
		return nil, nil // as in most answers; leaving out code adds none
	}
	text = code.Prose(text)
	for start := nextCitation(text, 0); start >= 0; {
		end := start + citationLength(text[start:])
		if end == start {
			start = nextCitation(text, start+1)
			continue
		}
		c := citation{text: text[start:end], numbers: numbersIn(text[start:end]), linked: strings.HasPrefix(text[end:], "(")}
		if strings.HasPrefix(text[end:], ":") && startsLine(text, start) {
			defined = append(defined, c.numbers...)
		} else {
			found = append(found, c)
		}
		start = nextCitation(text, end)
	}
	return found, defined
}

// startsLine tells whether only white space comes before a place in its line.
func startsLine(text string, at int) bool {
	return strings.TrimSpace(text[strings.LastIndexByte(text[:at], '\n')+1:at]) == ""
}

// nextCitation is where the next bracket is, from a place on, that what a
// citation begins with follows; -1 when there is none.
func nextCitation(text string, from int) int {
	for {
		i := strings.IndexByte(text[from:], '[')
		if i < 0 {
			return -1
		}
		from += i
		if rest := text[from+1:]; rest != "" && (rest[0] == '^' || isDigit(rest[0]) || startsSource(rest)) {
			return from
		}
		from++
	}
}

// startsSource tells whether a text begins with the word source in any case, in
// which an ſ is an s.
func startsSource(text string) bool {
	rest, ok := strings.CutPrefix(text, "ſ")
	if !ok && text != "" && (text[0] == 's' || text[0] == 'S') {
		rest, ok = text[1:], true
	}
	return ok && len(rest) >= len("ource") && strings.EqualFold(rest[:len("ource")], "ource")
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// citationLength is the length of the citation that a text begins with, 0 when
// it begins with none: [1], [^1], [Source 1] or [Sources 1, 2].
func citationLength(text string) int {
	if startsSource(text[1:]) {
		return len(sourceMark().FindString(text))
	}
	i := 1
	if text[i] == '^' {
		i++
	}
	digits := i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == digits || i == len(text) || text[i] != ']' {
		return 0
	}
	return i + 1
}

// sourceMark matches [Source 1] and [Sources 1, 2] at the start of a text.
var sourceMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:\[sources?\s*#?\d+(?:\s*(?:,|;|&|-|–|and)\s*(?:sources?\s*)?#?\d+)*\])`)
})

// numbersIn lists the numbers of a citation; one that is longer than any list
// is -1.
func numbersIn(text string) (out []int) {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		if i == start {
			continue
		}
		n, err := strconv.Atoi(text[start:i])
		if err != nil {
			n = -1
		}
		out = append(out, n)
	}
	return out
}
