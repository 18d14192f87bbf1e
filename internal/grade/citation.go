package grade

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// The forms of a citation.
const (
	numberForm   = "number"
	sourceForm   = "source"
	footnoteForm = "footnote"
	linkForm     = "link"
	urlForm      = "url"
)

var citationForms = []string{numberForm, sourceForm, footnoteForm, linkForm, urlForm}

// citing chooses what counts as a citation.
type citing struct {
	Forms []string `yaml:"forms" json:"forms,omitempty" jsonschema:"forms of citations that count, of number, source, footnote, link and url; all when left out"`
}

// Check wants forms that exist.
func (g *citing) Check() error {
	for _, form := range g.Forms {
		if !slices.Contains(citationForms, form) {
			hint := ""
			if near := kind.Near(form, citationForms); near != "" {
				hint = " (did you mean " + quote(near) + "?)"
			}
			return fieldErrorf("forms", "unknown form %s%s, want some of %s", quote(form), hint, strings.Join(citationForms, ", "))
		}
	}
	return nil
}

func (g *citing) counts(form string) bool { return len(g.Forms) == 0 || slices.Contains(g.Forms, form) }

const citationsExplained = `These forms count, and ` + "`forms`" + ` narrows them:

* ` + "`number`" + `: ` + "`[1]`" + `, ` + "`[1, 2]`" + `, ` + "`[1-3]`" + `
* ` + "`source`" + `: ` + "`[Source 1]`" + `, ` + "`[Sources 1, 2]`" + `
* ` + "`footnote`" + `: ` + "`[^1]`" + `, ` + "`[^name]`" + `
* ` + "`link`" + `: ` + "`[title](https://…)`" + `
* ` + "`url`" + `: ` + "`https://…`" + ` in running text; addresses of this machine and of example domains do not count

Not counted are marks in code blocks and code spans, images, the entries of the source list, and lines that explain a mark
(` + "`[1]: https://…`" + `). A number right behind a word is an index (` + "`arr[0]`" + `) unless it is 1 or more and the answer has a source list
or explains its marks; so is a list of numbers with a 0 in it (` + "`[0, 1]`" + `).`

// citation is a mark in an answer that points at a source.
type citation struct {
	text    string
	form    string
	numbers []int
	label   string // of a footnote that is not a number
	linked  bool   // it brings its own address
	index   bool   // it follows a word, as an index does
}

// marks are the citations of an answer outside its code, and what the answer
// itself explains, as footnotes and reference lists do.
type marks struct {
	found   []citation
	numbers []int
	labels  []string
}

// citations finds the citations of a response in the forms that count.
func (g *citing) citations(r *eval.Response) *marks {
	m := new(marks)
	if !strings.Contains(r.Text, "[") && !strings.Contains(r.Text, "://") {
		return m // leaving out code adds none
	}
	text := code.Prose(r.Text)
	for at := nextMark(text, 0); at >= 0; at = nextMark(text, at) {
		loc := citationMark().FindStringSubmatchIndex(text[at:])
		if loc == nil {
			at++
			continue
		}
		start, end := at, at+loc[1]
		at = end
		c := readCitation(text, start, loc)
		if c == nil {
			continue
		}
		if c.form != linkForm && c.form != urlForm && strings.HasPrefix(text[end:], ":") && startsLine(text, start) {
			m.numbers = append(m.numbers, c.numbers...)
			if c.label != "" {
				m.labels = append(m.labels, c.label)
			}
			if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
				at = end + i
			} else {
				at = len(text)
			}
			continue
		}
		if last := len(m.found) - 1; c.form == numberForm && last >= 0 && m.found[last].index && strings.HasSuffix(text[:start], m.found[last].text) {
			c.index = true // a[0][1]
		}
		m.found = append(m.found, *c)
	}
	numbered := len(r.Sources) > 0 || len(m.numbers) > 0
	m.found = slices.DeleteFunc(m.found, func(c citation) bool {
		return !g.counts(c.form) || c.index && (!numbered || slices.Contains(c.numbers, 0))
	})
	return m
}

// nextMark is where something may be a citation, from a place on; -1 when there
// is nothing more.
func nextMark(text string, from int) int {
	bracket, address := strings.IndexByte(text[from:], '['), strings.Index(text[from:], "http")
	switch {
	case bracket < 0 && address < 0:
		return -1
	case bracket < 0 || address >= 0 && address < bracket:
		return from + address
	}
	return from + bracket
}

// citationMark matches a citation at the start of a text. Its groups are the title of a
// link, a footnote's label, a list of sources, a list of numbers and a URL.
var citationMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[([^\[\]\n]{1,300})\]\(\s*<?https?://[^\s()<>]+` +
		`|\[\^([^\]\[\s]{1,60})\]` +
		`|(?i:\[(sources?\s*#?\d+(?:\s*(?:,|;|&|-|–|and)\s*(?:sources?\s*)?#?\d+)*)\])` +
		`|\[(\d+(?:\s*[,;–-]\s*\d+)*)\]` +
		`|(https?://[^\s<>\[\]()"']+))`)
})

// readCitation reads what citationMark found, or gives nil when it is none.
func readCitation(text string, start int, loc []int) *citation {
	group := func(n int) (string, bool) {
		if loc[2*n] < 0 {
			return "", false
		}
		return text[start+loc[2*n] : start+loc[2*n+1]], true
	}
	end := start + loc[1]
	c := &citation{text: text[start:end], linked: strings.HasPrefix(text[end:], "(")}
	if title, ok := group(1); ok {
		c.form, c.text, c.linked = linkForm, "["+title+"]", true
		if strings.HasSuffix(text[:start], "!") {
			return nil // an image
		}
	} else if label, ok := group(2); ok {
		c.form = footnoteForm
		if n, err := strconv.Atoi(label); err == nil {
			c.numbers = []int{n}
		} else {
			c.label = label
		}
	} else if list, ok := group(3); ok {
		c.form, c.numbers = sourceForm, numbersIn(list)
	} else if list, ok := group(4); ok {
		c.form, c.numbers = numberForm, numbersIn(list)
		if len(c.numbers) > 1 && (slices.Contains(c.numbers, 0) || slices.Max(c.numbers) > maxListed) || c.numbers == nil {
			return nil // an interval, or years
		}
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		c.index = start > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_')
	} else {
		c.form, c.text, c.linked = urlForm, strings.TrimRight(c.text, ".,;:!?*_"), true
		if !citable(c.text) {
			return nil
		}
	}
	return c
}

// maxListed is the highest number in a list of citations; beyond it are years
// and ports.
const maxListed = 999

// citable tells whether a bare URL can be a source: not an address of the
// reader's own machine, nor one that is made up by convention.
func citable(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil {
		return !ip.IsLoopback() && !ip.IsUnspecified() && !ip.IsPrivate()
	}
	for _, name := range []string{"localhost", "example", "example.com", "example.org", "example.net", "test", "invalid", "local"} {
		if host == name || strings.HasSuffix(host, "."+name) {
			return false
		}
	}
	return strings.Contains(host, ".")
}

// startsLine tells whether only white space comes before a place in its line.
func startsLine(text string, at int) bool {
	return strings.TrimSpace(text[strings.LastIndexByte(text[:at], '\n')+1:at]) == ""
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// numbersIn lists the numbers of a citation, those of a range too; one that is
// longer than any list is -1. It is nil when a range runs backwards.
func numbersIn(text string) (out []int) {
	ranged := false // the last number and the next are the ends of a range
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		if i > start {
			n, err := strconv.Atoi(text[start:i])
			if err != nil {
				n = -1
			}
			if ranged && len(out) > 0 {
				low := out[len(out)-1]
				if n <= low {
					return nil
				}
				for k := low + 1; k < n && k <= maxListed; k++ {
					out = append(out, k)
				}
			}
			out, ranged = append(out, n), false
		}
		if i < len(text) && (text[i] == '-' || strings.HasPrefix(text[i:], "–")) {
			ranged = true
		}
	}
	return out
}
