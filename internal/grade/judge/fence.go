package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Name names a section.
type Name struct{ text string }

// The sections that a question can have.
var (
	AnswerSection       = Name{"answer"}
	ContextSection      = Name{"context"}
	CriteriaSection     = Name{"criteria"}
	FirstAnswerSection  = Name{"first answer"}
	QuestionSection     = Name{"question"}
	ReferenceSection    = Name{"reference"}
	SecondAnswerSection = Name{"second answer"}
	StatementsSection   = Name{"statements"}
	StructureSection    = Name{"structure"}
	VariationsSection   = Name{"variations"}
)

// sectionNames are all of them. A delimiter of any section is neutralised in
// every text, whether the question has that section or not.
var sectionNames = []Name{
	AnswerSection, ContextSection, CriteriaSection, FirstAnswerSection, QuestionSection, ReferenceSection, SecondAnswerSection,
	StatementsSection, StructureSection, VariationsSection,
}

// Section is a piece of the material that a judge is shown.
type Section struct {
	name Name
	text string
}

// Sections are the material of a question, in order.
type Sections []Section

// With adds a section.
func (s Sections) With(name Name, text string) Sections { return append(s, Section{name, text}) }

// WithAny adds a section unless its text is empty.
func (s Sections) WithAny(name Name, text string) Sections {
	if strings.TrimSpace(text) == "" {
		return s
	}
	return s.With(name, text)
}

// maxSection is the most bytes of a text that a judge is shown. Of a longer
// one it sees the beginning and, up to the same bound, the end.
const (
	maxSection  = 60_000
	sectionHead = 40_000
)

// material is the sections of a question as the judge reads them.
type material struct {
	text  string
	code  string   // in every delimiter, and in no section
	notes []string // what was done to the texts
}

// fenced puts sections between delimiters. What the judged model wrote may try
// to look like the end of its own section; two things keep it inside. The
// delimiters carry a code made of a digest of everything inside them: a text
// would have to hold its own digest, and yet the code is the same whenever the
// texts are, which recordings of calls depend on. And what looks like a
// delimiter, whatever its code, is marked as text.
func fenced(sections Sections) material {
	var m material
	texts, cuts := make([]string, len(sections)), make([]string, len(sections))
	for i, s := range sections {
		text, left := shortened(s.text)
		if left > 0 {
			cuts[i] = fmt.Sprintf("%d of the %d bytes of the %s are left out, in its middle", left, len(s.text), s.name.text)
			m.notes = append(m.notes, cuts[i])
			if s.name == ContextSection {
				cuts[i] += "; what the answer says may be there, so do not count it as wrong or made up because you cannot see it"
			}
		}
		var changed bool
		if texts[i], changed = neutral(text); changed {
			m.notes = append(m.notes, fmt.Sprintf("parts of the %s that look like delimiters, control tokens or hidden text were marked", s.name.text))
		}
	}
	m.code = codeFor(sections, texts)
	var b strings.Builder
	for i, s := range sections {
		if cuts[i] != "" {
			fmt.Fprintf(&b, "(%s)\n", cuts[i])
		}
		fmt.Fprintf(&b, "%s\n%s\n%s\n\n", delimiter("begin", s.name, m.code), texts[i], delimiter("end", s.name, m.code))
	}
	m.text = strings.TrimRight(b.String(), "\n")
	return m
}

func delimiter(edge string, name Name, code string) string {
	return fmt.Sprintf("<<<%s %s %s>>>", edge, name.text, code)
}

// codeFor is a code that is in none of the texts.
func codeFor(sections Sections, texts []string) string {
	sum := sha256.New()
	for i, s := range sections {
		fmt.Fprintf(sum, "%s %d\n%s\n", s.name.text, len(texts[i]), texts[i])
	}
	digest := sum.Sum(nil)
	for {
		code := hex.EncodeToString(digest[:8])
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), code) }) {
			return code
		}
		next := sha256.Sum256(digest)
		digest = next[:]
	}
}

// shortened keeps the beginning and the end of a text that is too long, and
// says how many bytes are left out.
func shortened(text string) (kept string, left int) {
	if len(text) <= maxSection {
		return text, 0
	}
	head, tail := sectionHead, len(text)-(maxSection-sectionHead)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", text[:head], tail-head, text[tail:]), tail - head
}
