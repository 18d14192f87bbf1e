package target

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Envelope says how a server wraps its answers: where the metadata and the
// source list stand, so that checks look at the answer and not at its wrapping.
type Envelope struct {
	Tag         string `yaml:"tag" json:"tag,omitempty" jsonschema:"name of the tag around a block of JSON metadata in the text" check:"default=response_metadata"`
	Pattern     string `yaml:"pattern" json:"pattern,omitempty" jsonschema:"instead of a tag: a regular expression (RE2) whose group named json, or else first group, is the metadata; what the whole matches is split off"`
	Path        string `yaml:"path" json:"path,omitempty" jsonschema:"instead of a tag: the dotted path of the metadata object in structuredContent, such as result.metadata"`
	Sources     string `yaml:"sources" json:"sources,omitempty" jsonschema:"text of the heading over the source list" check:"default=Sources"`
	SourcesPath string `yaml:"sourcesPath" json:"sourcesPath,omitempty" jsonschema:"dotted path of the source list in structuredContent: objects with n, title and url"`
	AnswerPath  string `yaml:"answerPath" json:"answerPath,omitempty" jsonschema:"dotted path of the answer's text in structuredContent, for servers whose text parts do not hold it"`

	pattern *regexp.Regexp
}

func (e *Envelope) check() error {
	if e.Pattern == "" {
		return nil
	}
	re, err := regexp.Compile("(?s)" + e.Pattern)
	if err != nil {
		return &kind.FieldError{Field: "envelope", Err: fmt.Errorf("envelope.pattern does not compile: %w", err)}
	}
	if re.NumSubexp() == 0 {
		return &kind.FieldError{Field: "envelope", Err: fmt.Errorf("envelope.pattern %q has no group for the JSON", e.Pattern)}
	}
	e.pattern = re
	return nil
}

// Split takes the text of a response apart: r.Raw (or, if that is empty,
// r.Text) into the answer proper, metadata and sources.
func (e *Envelope) Split(r *eval.Response) {
	raw := r.RawText()
	if e.AnswerPath != "" {
		if s, ok := lookup(r.Structured, e.AnswerPath).(string); ok {
			raw = s
		}
	}
	text := raw
	switch {
	case e.Path != "":
		var ok bool
		found := lookup(r.Structured, e.Path)
		if r.Meta, ok = found.(map[string]any); !ok && found != nil {
			r.MetaBroken = e.Path + " of structuredContent is not a JSON object"
		}
	case e.pattern != nil:
		text, r.Meta, r.MetaBroken = e.byPattern(raw)
	default:
		text, r.Meta, r.MetaBroken = splitTag(raw, orDefault(e.Tag, "response_metadata"))
	}
	if r.MetaBroken != "" {
		r.Notes = append(r.Notes, r.MetaBroken)
	}
	text, r.Sources = splitSources(text, orDefault(e.Sources, "Sources"))
	if e.SourcesPath != "" {
		r.Sources = sourcesOf(lookup(r.Structured, e.SourcesPath))
	}
	whole := r.RawText()
	r.Text, r.Raw = strings.TrimSpace(text), ""
	if r.Text != whole {
		r.Raw = whole
	}
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

const notAnObject = "the metadata block is not a JSON object"

func (e *Envelope) byPattern(raw string) (text string, meta map[string]any, broken string) {
	group := max(1, e.pattern.SubexpIndex("json"))
	all := e.pattern.FindAllStringSubmatchIndex(raw, -1)
	for _, m := range slices.Backward(all) {
		if m[2*group] < 0 {
			continue
		}
		if meta, ok := object(raw[m[2*group]:m[2*group+1]]); ok {
			return cutBlock(raw, m[0], m[1]), meta, ""
		}
		broken = notAnObject
	}
	return raw, nil, broken
}

// splitTag finds the metadata block: the last one whose tags stand at the
// start of a line, whose content is a JSON object, bare or fenced, and which is
// not itself shown inside a code block. The last, because servers of this
// shape put theirs behind the answer, and an answer may quote one.
func splitTag(raw, tag string) (text string, meta map[string]any, broken string) {
	open, closing := "<"+tag+">", "</"+tag+">"
	fences := newFences(raw)
	text = raw
	next := -1 // where the first closing tag behind the current place stands
	for end := len(raw); ; {
		start := strings.LastIndex(raw[:end], open)
		if start < 0 {
			return text, nil, broken
		}
		if i := strings.Index(raw[start:end], closing); i >= 0 {
			next = start + i
		}
		end = start
		if !atLineStart(raw, start) {
			continue
		}
		if next < 0 {
			if broken == "" && !fences.at(start) {
				broken = "the metadata block is not closed"
			}
			continue
		}
		stop := next + len(closing)
		if fences.around(start, stop) {
			continue
		}
		if meta, ok := object(raw[start+len(open) : next]); ok {
			return cutBlock(raw, start, stop), meta, ""
		}
		if broken != notAnObject { // still no part of the answer
			text, broken = cutBlock(raw, start, stop), notAnObject
		}
	}
}

func atLineStart(s string, i int) bool {
	line := s[strings.LastIndexByte(s[:i], '\n')+1 : i]
	return strings.TrimLeft(line, " \t") == ""
}

// object parses a JSON object, also one inside a code fence.
func object(s string) (map[string]any, bool) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		_, body, found := strings.Cut(rest, "\n")
		if !found { // the fence and its content on one line
			body = strings.TrimPrefix(rest, "json")
		}
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), "```"))
	}
	var m map[string]any
	if !strings.HasPrefix(s, "{") || json.Unmarshal([]byte(s), &m) != nil {
		return nil, false
	}
	return m, true
}

// cutBlock removes s[from:to] and the rule (---) that sets it off.
func cutBlock(s string, from, to int) string {
	before := strings.TrimRight(s[:from], " \t\r\n")
	if cut, ok := strings.CutSuffix(before, "---"); ok && (cut == "" || strings.HasSuffix(cut, "\n")) {
		before = cut
	}
	after := strings.TrimLeft(s[to:], " \t\r\n")
	if strings.TrimSpace(before) == "" {
		if rest, ok := strings.CutPrefix(after, "---\n"); ok {
			after = rest
		}
		return after
	}
	if after == "" {
		return before
	}
	return before + "\n\n" + after
}

// span is a range of bytes.
type span struct{ from, to int }

// spans are ranges in order that do not overlap.
type spans []span

// at gives the range that a place is in.
func (ss spans) at(place int) (span, bool) {
	i, _ := slices.BinarySearchFunc(ss, place, func(s span, at int) int {
		if s.to <= at {
			return -1
		}
		return 1
	})
	if i < len(ss) && ss[i].from <= place {
		return ss[i], true
	}
	return span{}, false
}

// around tells whether one of the ranges holds both places.
func (ss spans) around(from, to int) bool {
	s, ok := ss.at(from)
	return ok && to <= s.to
}

// fences finds the code blocks of a text when a place is asked for that one
// can be around: most answers have none before their metadata.
type fences struct {
	text  string
	first int // where the first fence may be
	known bool
	spans spans
}

func newFences(text string) *fences {
	f := &fences{text: text, first: len(text)}
	for _, mark := range []string{"```", "~~~"} {
		if i := strings.Index(text[:f.first], mark); i >= 0 {
			f.first = i
		}
	}
	return f
}

func (f *fences) before(place int) spans {
	if !f.known && f.first < place {
		f.spans, f.known = closedFences(f.text), true
	}
	return f.spans
}

func (f *fences) around(from, to int) bool { return f.before(from).around(from, to) }

func (f *fences) at(place int) bool {
	_, ok := f.before(place).at(place)
	return ok
}

// closedFences gives the byte ranges of the closed code blocks of a text. An
// unclosed one is left out: it would swallow everything behind it.
func closedFences(text string) (out spans) {
	for _, b := range code.Blocks(text) {
		if b.Closed {
			out = append(out, span{b.Start, b.End})
		}
	}
	return out
}

// splitSources takes the source list off: the section under the last heading
// with the given text, when it holds entries or says that there are none.
func splitSources(text, heading string) (string, []eval.Source) {
	fences := newFences(text)
	for next := len(text); next > 0; {
		start := strings.LastIndexByte(text[:next-1], '\n') + 1
		stop := next // of the line
		next = start
		level, title := headingOf(text[start:stop])
		if level == 0 || !strings.EqualFold(strings.TrimRight(title, " :"), heading) || fences.at(start) {
			continue
		}
		end := sectionEnd(text, stop, level, fences)
		body := text[stop:end]
		sources := parseSources(body)
		if len(sources) == 0 && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(body)), "no source") {
			continue
		}
		return cutBlock(text, start, end), sources
	}
	return text, nil
}

// sectionEnd is where the next heading of a level or one above it starts.
func sectionEnd(text string, at, level int, fences *fences) int {
	for line := range strings.Lines(text[at:]) {
		if l, _ := headingOf(line); l > 0 && l <= level && !fences.at(at) {
			return at
		}
		at += len(line)
	}
	return len(text)
}

// headingOf reads an ATX heading, or a line that is bold as a whole and so
// serves as one (level 7, below every real heading).
func headingOf(line string) (level int, title string) {
	line = strings.TrimSpace(line)
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n >= 1 && n <= 6 && (len(line) == n || line[n] == ' ' || line[n] == '\t') {
		return n, strings.TrimSpace(strings.TrimRight(line[n:], "# "))
	}
	if inner, ok := strings.CutPrefix(line, "**"); ok {
		if inner, ok = strings.CutSuffix(strings.TrimRight(inner, ":"), "**"); ok {
			return 7, inner
		}
	}
	return 0, ""
}

// parseSources reads the usual forms of a numbered list of sources:
// "[1] Title", "1. Title", "- [1]: Title", each with a URL behind it or on the
// lines below.
func parseSources(body string) (out []eval.Source) {
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if n, rest, ok := sourceNumber(line); ok {
			out = append(out, eval.Source{N: n})
			line = rest
		}
		if len(out) == 0 || line == "" {
			continue
		}
		last := &out[len(out)-1]
		title, url := titleAndURL(line)
		if last.URL == "" {
			last.URL = url
		}
		if last.Title == "" {
			last.Title = title
		}
	}
	return out
}

func sourceNumber(line string) (n int, rest string, ok bool) {
	line = strings.TrimLeft(strings.TrimLeft(line, "-*"), " ")
	digits := func(s string) int {
		i := 0
		for i < len(s) && i < 6 && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	if inner, bracketed := strings.CutPrefix(line, "["); bracketed {
		inner = strings.TrimPrefix(strings.TrimPrefix(inner, "^"), "Source ")
		i := digits(inner)
		if i == 0 || !strings.HasPrefix(inner[i:], "]") {
			return 0, "", false
		}
		n, _ = strconv.Atoi(inner[:i])
		return n, strings.TrimLeft(inner[i+1:], ": "), true
	}
	i := digits(line)
	if i == 0 || i == len(line) || (line[i] != '.' && line[i] != ')') {
		return 0, "", false
	}
	n, _ = strconv.Atoi(line[:i])
	return n, strings.TrimLeft(line[i+1:], " "), true
}

// titleAndURL splits "Title - https://x", "[Title](https://x)" and the like.
func titleAndURL(line string) (title, url string) {
	i := strings.Index(line, "http://")
	if j := strings.Index(line, "https://"); j >= 0 && (i < 0 || j < i) {
		i = j
	}
	if i < 0 {
		return line, ""
	}
	url = line[i:]
	if end := strings.IndexAny(url, " \t<>\"|"); end >= 0 {
		url = url[:end]
	}
	if i > 0 && line[i-1] == '(' {
		url, _, _ = strings.Cut(url, ")")
	}
	return strings.Trim(line[:i], " \t-–—:|[](<"), strings.TrimRight(url, ".,;")
}

func sourcesOf(v any) (out []eval.Source) {
	list, _ := v.([]any)
	for i, item := range list {
		s := eval.Source{N: i + 1}
		switch item := item.(type) {
		case string:
			s.URL = item
		case map[string]any:
			if n, ok := item["n"].(float64); ok {
				s.N = int(n)
			}
			s.Title, _ = item["title"].(string)
			s.URL, _ = item["url"].(string)
		}
		out = append(out, s)
	}
	return out
}

// lookup follows a dotted path into JSON; a number steps into a list.
func lookup(raw json.RawMessage, path string) any {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "$."), ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}
