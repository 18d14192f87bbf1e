package lint

import (
	"path"
	"sort"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

// source is a text that the rules about security look through: the skill itself, or a file bundled with it.
type source struct {
	path string
	name string // relative to the folder of the skill
	text string
	skill.Index
	characters characterKind
	kind       fileKind
	own        bool           // it is the skill itself
	sections   *skill.Section // nil when they are not known
	about      string         // the description of the skill, in lower case

	wordy   []wordLine
	scanned bool
	lowered string
	fences  []int // where code blocks begin and end; nil when not looked for
}

// sources lists the texts of a skill, itself first.
func (p *pass) sources() []*source {
	if p.texts != nil {
		return p.texts
	}
	about := strings.ToLower(skill.Shorten(p.Description(), 2000))
	p.texts = []*source{{
		path: p.Path, name: skill.FileName, text: p.Text, Index: p.Index, characters: charactersOf(p.Text), kind: prose, own: true, sections: p.Root, about: about,
	}}
	for _, f := range p.bundle() {
		if f.kind == binary || f.kind == media || f.unread != "" {
			continue
		}
		if text, ok := p.content(f.name); ok {
			kind := f.kind
			if path.Ext(f.name) == "" && !strings.HasPrefix(text, "#!") && path.Dir(f.name) == "." {
				kind = prose // LICENSE, README
			}
			p.texts = append(p.texts, &source{
				path: path.Join(path.Dir(p.Path), f.name), name: f.name, text: text, Index: skill.NewIndex(text), characters: charactersOf(text),
				kind: kind, about: about,
			})
		}
	}
	return p.texts
}

// in reports a finding in a source. Fixes are offered for the skill itself only: the others are not ours to write to.
func (p *pass) in(s *source, start, end int, fix *Fix, format string, args ...any) {
	if s.own {
		p.at(start, end, fix, format, args...)
		return
	}
	p.report(s.path, &s.Index, start, end, nil, format, args...)
}

// linesAbout calls a function for each line that has words of a group. The bounds are those of the line in the text, and
// for a long one those of a part around the words; parts overlap, so that nothing is cut in two.
func (s *source) linesAbout(group wordGroup, visit func(start, end int)) {
	s.wordyLines(group, func(start, end int, _ wordGroup) { visit(start, end) })
}

// wordyLines is [source.linesAbout] for those who ask which words a line has.
func (s *source) wordyLines(group wordGroup, visit func(start, end int, has wordGroup)) {
	if !s.scanned {
		s.wordy, s.scanned = index().lines(s.text), true
	}
	for _, w := range s.wordy {
		if w.groups&group != 0 {
			start, end := s.Bounds(s.LineAt(w.offset))
			if end-start > maxPatternLine {
				start, end = max(start, w.offset-partMargin), min(end, w.offset+maxPatternLine+partMargin)
			}
			visit(start, end, w.groups)
		}
	}
}

const (
	maxPatternLine = 4096 // the longest line that is looked at as a whole
	partMargin     = 512  // what parts of longer ones have in common
)

// around is the line of an offset, or the part of a long one that is near.
func (s *source) around(offset int) (start, end int) {
	start, end = s.Bounds(s.LineAt(offset))
	return max(start, offset-maxPatternLine), min(end, offset+maxPatternLine)
}

// lower is the text in lower case, byte for byte at the same places.
func (s *source) lower() string {
	if s.lowered == "" {
		b := []byte(s.text)
		for i, c := range b {
			b[i] = lowerByte(c)
		}
		s.lowered = string(b)
	}
	return s.lowered
}

// Words by which a text speaks about an attack instead of making one.
var (
	forbidding = [...]string{"never ", "don't", "don’t", "do not", "must not", "avoid", "❌", "✗", "🚫", "⛔", "bad:", "# bad", "// bad", "instead of"}
	topics     = [...]string{
		"attack", "malicious", "injection", "suspicious", "vulnerab", "dangerous", "red flag", "untrusted", "phishing", "jailbreak",
		"adversarial", "refuse", "sanitiz", "threat", "exploit", "pentest", "penetration test", "red team", "red-team",
	}
)

// warns reports whether the text in front of an offset forbids what follows, or the text around it, its headings or the
// skill as a whole are about attacks.
func (s *source) warns(offset int) bool {
	line := s.LineAt(offset)
	start, _ := s.around(offset)
	before := s.lower()[start:offset]
	if line > 1 {
		from, to := s.Bounds(line - 1)
		above := strings.TrimSpace(s.lower()[from:to])
		if strings.HasSuffix(above, ":") || strings.HasPrefix(above, "#") || strings.HasPrefix(above, "//") {
			before = above[:min(len(above), 2000)] + "\n" + before
		}
	}
	if containsAny(before, forbidding[:]) || containsAny(s.about, topics[:]) {
		return true
	}
	from, _ := s.Bounds(max(line-3, 1))
	_, to := s.Bounds(min(line+1, s.Lines()))
	if containsAny(s.lower()[max(from, offset-2000):min(to, offset+2000)], topics[:]) {
		return true
	}
	for h := s.sectionAt(offset); h != nil; h = h.Parent {
		if containsAny(strings.ToLower(skill.Shorten(h.Title, 200)), topics[:]) {
			return true
		}
	}
	return false
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// sectionAt is the innermost section of an offset, nil when sections are not known.
func (s *source) sectionAt(offset int) *skill.Section {
	at := s.sections
	for at != nil {
		i := sort.Search(len(at.Children), func(i int) bool { return at.Children[i].Start > offset })
		if i == 0 {
			break
		}
		at = at.Children[i-1]
	}
	return at
}

// commented reports whether a place in a script stands in a comment.
func (s *source) commented(offset int) bool {
	from, _ := s.around(offset)
	before := strings.TrimSpace(s.text[from:offset])
	for _, mark := range [...]string{"#", "//", "*", "/*", "--", ";", "rem ", "REM "} {
		if strings.HasPrefix(before, mark) {
			return s.kind == script
		}
	}
	return false
}

// above is the text, in lower case, from some lines above a place up to it.
func (s *source) above(offset, lines int) string {
	from, _ := s.Bounds(max(s.LineAt(offset)-lines, 1))
	return s.lower()[max(from, offset-2000):offset]
}

// listed reports whether the line of a place is a string in a list: a case of a test, or an entry of a block list.
func (s *source) listed(offset int) bool {
	from, to := s.around(offset)
	line := strings.TrimLeft(s.text[from:to], " \t([{-")
	return line != "" && strings.IndexByte("\"'`", line[0]) >= 0
}

// quoted reports whether a match stands in quotes or back-ticks on its line: then it is spoken about.
func (s *source) quoted(start, end int) bool {
	lineStart, lineEnd := s.around(start)
	before, after := s.text[lineStart:start], s.text[min(end, lineEnd):lineEnd]
	for _, q := range [...][2]string{{`"`, `"`}, {"`", "`"}, {"'", "'"}, {"“", "”"}, {"「", "」"}} {
		if strings.Count(before, q[0])%2 == 1 && strings.Contains(after, q[1]) {
			return true
		}
	}
	return false
}

// ordered reports whether the words in front of a place have it run.
func (s *source) ordered(offset int) bool {
	start, _ := s.around(offset)
	before := s.lower()[max(start, offset-80):offset]
	return containsAny(before, []string{"run ", "execute", "type ", "enter ", "system(", "exec(", "run(", "call(", "popen(", "spawn", "execsync("})
}

// isMarkdown reports whether a source is Markdown.
func (s *source) isMarkdown() bool {
	switch strings.ToLower(path.Ext(s.path)) {
	case ".md", ".mdx", ".markdown":
		return true
	}
	return s.own
}

// fenced reports whether a place in Markdown stands in a code block.
func (s *source) fenced(offset int) bool {
	if s.fences == nil {
		s.fences = []int{}
		for n := 1; n <= s.Lines(); n++ {
			from, to := s.Bounds(n)
			if line := strings.TrimLeft(s.text[from:to], " "); strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				s.fences = append(s.fences, from)
			}
		}
	}
	return sort.SearchInts(s.fences, offset)%2 == 1
}
