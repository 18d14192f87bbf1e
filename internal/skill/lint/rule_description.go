package lint

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/skill"
)

// maxDescriptions is how many characters all descriptions of a collection may have together before a client that lists
// them all in its prompt runs out of room.
const maxDescriptions = 15000

// descriptionField is the description if it is there and a text.
func (p *pass) descriptionField() (*skill.Field, string, bool) {
	f, ok := p.Frontmatter.Get("description")
	if !ok || strings.TrimSpace(f.Text()) == "" {
		return nil, "", false
	}
	return f, strings.TrimSpace(f.Text()), true
}

var descriptionBudget = Rule{
	ID: "description-budget", Family: "description", Severity: Info,
	Doc:     "The descriptions of all skills together are very long.",
	Explain: "Clients put the description of every skill into the prompt of every conversation; some cut the list at 15,000 characters. Shorten the longest, or install fewer at once.",
	checkAll: func(p *pass) {
		total, count := 0, 0
		var longest *entry
		for i, e := range p.entries {
			if longest == nil || len(e.description) > len(longest.description) {
				longest = e
			}
			if i > 0 && e.twins(p.entries[i-1]) {
				continue // of a skill in two languages one is installed
			}
			total += utf8.RuneCountInString(e.description)
			count++
		}
		if total > maxDescriptions {
			p.entry(longest, longest.descriptionPlace, "%d skills have %d characters of descriptions together, more than %d; this one is the longest",
				count, total, maxDescriptions)
		}
	},
}

var descriptionLength = Rule{
	ID: "description-length", Family: "description", Severity: Error,
	Doc:     "The description is longer than 1024 characters.",
	Explain: "The specification's limit, counted in characters. Say what the skill does and when to use it; the rest belongs in the body.",
	check: func(p *pass) {
		f, ok := p.Frontmatter.Get("description")
		if ok && utf8.RuneCountInString(f.Text()) > 1024 {
			p.field(f, nil, "the description has %d characters, at most 1024 are allowed", utf8.RuneCountInString(f.Text()))
		}
	},
}

var descriptionMarkup = Rule{
	ID: "description-markup", Family: "description", Severity: Error, Profiles: []string{ClaudeCode},
	Doc:     "The description has angle brackets.",
	Explain: "Descriptions are put between XML tags in a prompt, and Anthropic's packager rejects any < or > in them.",
	check: func(p *pass) {
		if f, text, ok := p.descriptionField(); ok && strings.ContainsAny(text, "<>") {
			p.field(f, nil, "the description must not have < or >")
		}
	},
}

var descriptionPerson = Rule{
	ID: "description-person", Family: "description", Severity: Warning, Profiles: []string{Strict},
	Doc:     "The description speaks in the first or second person.",
	Explain: "The description is read by the model as part of its own instructions. \"I can\" and \"you can\" blur who does what; \"Extracts text from …\" does not.",
	check: func(p *pass) {
		f, text, ok := p.descriptionField()
		if !ok {
			return
		}
		lower := " " + strings.ToLower(text)
		for _, phrase := range []string{" i can ", " i will ", " i help ", " i'll ", " you can ", " your personal ", " helps you ", " lets you ", " let me "} {
			if strings.Contains(lower, phrase) {
				p.field(f, nil, "the description speaks in the first or second person (%q)", strings.TrimSpace(phrase))
				return
			}
		}
	},
}

var descriptionRequired = Rule{
	ID: "description-required", Family: "description", Severity: Error,
	Doc:     "The description is missing, blank, or not a text.",
	Explain: "A client skips a skill without a description: it is all the model sees when it decides whether to use it.",
	check:   func(p *pass) { checkRequired(p, "description") },
}

var descriptionShort = Rule{
	ID: "description-short", Family: "description", Severity: Warning,
	Doc:     "The description is too short to say what and when.",
	Explain: "Under 20 characters there is no room for what the skill does and when to use it, so the model will guess.",
	check: func(p *pass) {
		f, text, ok := p.descriptionField()
		if !ok {
			return
		}
		weight := 0
		for _, r := range text {
			weight++
			if r > 0x2e80 {
				weight++ // one ideograph says as much as two letters at least
			}
		}
		if weight < 20 {
			p.field(f, nil, "the description has only %d characters", utf8.RuneCountInString(text))
		}
	},
}

var descriptionSimilar = Rule{
	ID: "description-similar", Family: "description", Severity: Warning,
	Doc:      "Two skills have nearly the same description.",
	Explain:  "They compete for the same requests, and which one is used is left to chance. Say in each when it is the right one and when the other is.",
	checkAll: checkSimilar,
}

// signature is a description as a set of words, each by a number: thousands of skills are held at once.
type signature struct {
	entry *entry
	words []uint64 // sorted, each once
	bits  [8]uint64
}

func newSignature(e *entry) signature {
	s := signature{entry: e}
	for w := range strings.FieldsFuncSeq(strings.ToLower(e.description), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		h := uint64(14695981039346656037)
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * 1099511628211
		}
		s.words = append(s.words, h)
	}
	slices.Sort(s.words)
	s.words = slices.Clip(slices.Compact(s.words))
	for _, h := range s.words {
		h ^= h >> 31
		s.bits[h>>6%8] |= 1 << (h % 64)
	}
	return s
}

// checkSimilar compares every skill with those that have about as many words. Words that are not shared show as
// different bits, which rules out nearly all pairs without looking at the words.
func checkSimilar(p *pass) {
	var all []signature
	for _, e := range p.entries {
		if s := newSignature(e); len(s.words) >= 5 {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b signature) int { return len(a.words) - len(b.words) })
	similar := map[*entry]*entry{}
	for i := range all {
		for j := i + 1; j < len(all) && 5*len(all[i].words) >= 4*len(all[j].words); j++ {
			a, b := all[i].entry, all[j].entry
			if !all[i].near(&all[j]) || a.twins(b) {
				continue
			}
			if a.file > b.file {
				a, b = b, a
			}
			if old, ok := similar[b]; !ok || a.file < old.file {
				similar[b] = a
			}
		}
	}
	for _, e := range p.entries {
		if a, ok := similar[e]; ok {
			p.entry(e, e.descriptionPlace, "the description is nearly the same as that of %s", a.file)
		}
	}
}

// near reports whether at least four of five words are common to both.
func (s *signature) near(t *signature) bool {
	different := 0
	for i := range s.bits {
		different += bits.OnesCount64(s.bits[i] ^ t.bits[i])
	}
	if 4*different > len(s.words)+len(t.words) {
		return false
	}
	common := 0
	for i, j := 0, 0; i < len(s.words) && j < len(t.words); {
		switch c := cmp.Compare(s.words[i], t.words[j]); {
		case c == 0:
			common++
			i++
			j++
		case c < 0:
			i++
		default:
			j++
		}
	}
	return 5*common >= 4*(len(s.words)+len(t.words)-common)
}

var descriptionStuffing = Rule{
	ID: "description-stuffing", Family: "description", Severity: Warning, Profiles: []string{Strict},
	Doc:     "The description is a list of key words.",
	Explain: "A long list of words matches everything a little and nothing well, and takes requests away from other skills. Say in sentences what the skill does and when to use it.",
	check: func(p *pass) {
		f, text, ok := p.descriptionField()
		if !ok {
			return
		}
		short, inShort := 0, 0
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;、|", r) }) {
			if n := len(strings.Fields(part)); n <= 2 {
				short++
				inShort += n
			}
		}
		// A long list behind a sentence says when to use the skill. One that is nearly all there is does not.
		if words := len(strings.Fields(text)); short >= 8 && 3*inShort >= 2*words {
			p.field(f, nil, "the description is a list of key words (%d short items in %d words)", short, words)
		}
	},
}

var descriptionPlaceholder = Rule{
	ID: "description-placeholder", Family: "description", Severity: Warning,
	Doc:     "The description is still to be written.",
	Explain: "It says TODO or is the text of a template. It is all the model sees when it decides whether to use the skill.",
	check: func(p *pass) {
		f, text, ok := p.descriptionField()
		if !ok {
			return
		}
		lower := strings.ToLower(text)
		for _, begin := range [...]string{
			"todo", "[todo", "tbd", "fixme", "<description", "[description", "your description", "description of the skill", "description here",
			"a brief description of", "brief description of what", "describe what this skill", "replace with", "lorem ipsum", "{{", "placeholder",
			"insert description", "what this skill does and when",
		} {
			if strings.HasPrefix(lower, begin) {
				p.field(f, nil, "the description is still to be written")
				return
			}
		}
		for _, mark := range [...]string{"TODO:", "[TODO", "TBD.", "FIXME:", "(TODO)"} {
			if strings.Contains(text, mark) && !strings.Contains(lower, "todo comment") {
				p.field(f, nil, "a part of the description is still to be written (%s)", strings.Trim(mark, "[]():."))
				return
			}
		}
	},
}

var descriptionTrigger = Rule{
	ID: "description-trigger", Family: "description", Severity: Info, Profiles: []string{Strict},
	Doc:     "The description does not say when to use the skill.",
	Explain: "\"Use when …\" or the like tells the model which requests are meant. Without it a good skill stays unused.",
	check: func(p *pass) {
		f, text, ok := p.descriptionField()
		if !ok || !isEnglish(text) {
			return
		}
		if saysWhen(strings.ToLower(text)) {
			return
		}
		p.field(f, nil, "the description does not say when to use the skill")
	},
}

// saysWhen reports whether a description in lower case names an occasion.
func saysWhen(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch word {
		case "when", "whenever", "before", "after", "while", "if", "trigger", "triggers", "triggered", "activate", "activates", "invoke", "invoked", "during":
			return true
		}
	}
	for _, phrase := range [...]string{"use for", "used for", "use this", "use to ", "for use ", "useful for", "use in ", "any time"} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// isEnglish reports whether a text is in Latin letters throughout, which is as near as a rule about English words needs.
func isEnglish(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x250 && unicode.IsLetter(r) })
}
