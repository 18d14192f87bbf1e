package retrieval

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/code"
)

// fromText reads the results off an answer's text: the lines that say where
// each stands, as in `**Type:** prose | **URL:** https://…`; else every URL, or
// in a text without any the targets of its links, in order of appearance. Code
// is passed over.
func fromText(text string) listing {
	l := listing{where: "in the text", none: "the answer's text has no URL"}
	l.results = textFields(text)
	if len(l.results) > 0 {
		return l
	}
	text = code.Prose(text)
	var urls []string
	if strings.Contains(text, "://") {
		urls = urlMark().FindAllString(text, MaxResults)
	}
	if len(urls) == 0 {
		urls = linkTargets(text)
	}
	for _, u := range urls {
		l.results = append(l.results, newResult(trimURL(u), "", ""))
	}
	return l
}

var urlMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)\\bhttps?://[^\\s<>\"|\\[\\]`]+") })

// trimURL takes off what belongs to the sentence around a URL: its
// punctuation, and a bracket that the URL did not open.
func trimURL(u string) string {
	depth := 0
	for i, r := range u {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			u = u[:i]
			break
		}
	}
	return strings.TrimRight(u, ".,;:!?*_'")
}

var linkMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(!?)\[[^\[\]]*\]\([ \t]*<?([^()\s<>#][^()\s<>]*)`)
})

// linkTargets gives what the links of a Markdown text point at, places on the
// same page and images left out.
func linkTargets(text string) (out []string) {
	if !strings.Contains(text, "](") {
		return nil
	}
	for _, m := range linkMark().FindAllStringSubmatch(text, MaxResults) {
		if m[1] == "" {
			out = append(out, m[2])
		}
	}
	return out
}

// fieldMark matches a field of a result at the start of a line or behind a
// bar.
var fieldMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)(?:^[ \t>*+-]*|\|[ \t]*)[*_]*(url|uri|link|source|path|file|id|slug)[*_]*:[*_]*[ \t]+([^\s|][^|\n]*)`)
})

// fieldEnds are the last two letters of the names that [fieldMark] matches.
var fieldEnds = []string{"rl", "ri", "nk", "ce", "th", "le", "id", "ug"}

// mayHaveFields finds texts that fieldMark cannot match, as most answers are,
// without matching it: a colon must come after the end of a name.
func mayHaveFields(text string) bool {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], ':')
		if i < 0 {
			return false
		}
		at += i
		before := strings.TrimRight(text[:at], "*_")
		if n := len(before); n >= 2 && (before[n-1] >= 0x80 || slices.ContainsFunc(fieldEnds, func(e string) bool { return strings.EqualFold(before[n-2:], e) })) {
			return true
		}
	}
}

// nextResult matches what begins another result: a heading or an entry of a
// numbered list.
var nextResult = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}|\d+[.)])[ \t]`) })

// textFields gathers the fields that results are described by. A field that a
// result has already, or a heading, begins the next one.
func textFields(text string) (out []result) {
	if !mayHaveFields(text) {
		return nil
	}
	text = code.WithoutBlocks(text)
	fields := map[string]string{}
	flush := func() {
		r := newResult(firstOf(fields, "url", "uri", "link", "source"), firstOf(fields, "path", "file"), firstOf(fields, "id", "slug"))
		if len(r.names) > 0 {
			out = append(out, r)
		}
		clear(fields)
	}
	end := 0
	for _, m := range fieldMark().FindAllStringSubmatchIndex(text, -1) {
		name := strings.ToLower(text[m[2]:m[3]])
		value := fieldValue(text[m[4]:m[5]])
		if value == "" || !strings.ContainsAny(value, "/.") && name != "id" && name != "slug" {
			continue // words, not a place
		}
		if fields[name] != "" || nextResult().MatchString(text[end:m[2]]) {
			flush()
		}
		fields[name], end = value, m[5]
		if len(out) == MaxResults {
			return out
		}
	}
	flush()
	return out
}

func firstOf(fields map[string]string, names ...string) string {
	for _, name := range names {
		if fields[name] != "" {
			return fields[name]
		}
	}
	return ""
}

// fieldValue is what a field names: the target of a link, a code span, or else the
// first word.
func fieldValue(text string) string {
	if span, ok := strings.CutPrefix(text, "`"); ok {
		span, _, _ = strings.Cut(span, "`")
		return strings.TrimSpace(span)
	}
	if targets := linkTargets(text); strings.HasPrefix(text, "[") && len(targets) > 0 {
		return targets[0]
	}
	word, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), " ")
	return trimURL(strings.Trim(word, "<>\"'*_"))
}
