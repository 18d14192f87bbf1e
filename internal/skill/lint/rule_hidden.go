package lint

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/skill"
)

// eachSource calls a check for the skill and for the bundled files that a reader or an agent goes by.
func (p *pass) eachSource(check func(*source)) {
	for _, s := range p.sources() {
		if s.kind != data && !p.full() {
			check(s)
		}
	}
}

// eachText calls a check for the skill and all bundled files: data too can hold commands.
func (p *pass) eachText(check func(*source)) {
	for _, s := range p.sources() {
		if !p.full() {
			check(s)
		}
	}
}

var securityBidi = Rule{
	ID: "security-bidi", Family: "security", Severity: Error,
	Doc:     "The text has characters that change the direction of writing.",
	Explain: "They make a reader see another text than the model reads. In a text with right-to-left letters only overrides are reported.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			if s.characters&directional == 0 {
				return
			}
			for i, r := range s.text {
				override := r == 0x202d || r == 0x202e
				if override || isDirectional(r) && s.characters&rightToLeft == 0 {
					p.in(s, i, i+utf8.RuneLen(r), nil, "U+%04X changes the direction of the text after it", r)
				}
			}
		})
	},
}

var securityHiddenText = Rule{
	ID: "security-hidden-text", Family: "security", Severity: Error, Fixes: true,
	Doc: "The file has text in invisible characters.",
	Explain: "Tag characters (U+E0000 to U+E007F) and rows of variation selectors are not shown, but models read them as letters or bytes. " +
		"Flags such as that of Scotland use tags, and emoji use one selector each; those are not reported.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			if s.characters&smuggled != 0 {
				p.hiddenText(s)
			}
		})
	},
}

// hiddenText reports the runs of characters that carry a text and are not shown.
func (p *pass) hiddenText(s *source) {
	var run []rune
	var before rune
	start := 0
	for i, r := range s.text + "\n" {
		if isSmuggled(r) {
			if len(run) == 0 {
				start = i
			}
			run = append(run, r)
			continue
		}
		// One selector belongs to the character in front of it, and so do two in some scripts.
		if isTag(first(run)) && before != 0x1f3f4 || len(run) > 2 && !isTag(first(run)) {
			p.in(s, start, i, replace(start, i, "", "delete the invisible characters"), "invisible text: %q", skill.Shorten(decodeHidden(run), 200))
		}
		run, before = run[:0], r
	}
}

func first(run []rune) rune {
	if len(run) == 0 {
		return 0
	}
	return run[0]
}

// decodeHidden is the text that invisible characters stand for: a tag for a letter, a variation selector for a byte.
func decodeHidden(run []rune) string {
	var b strings.Builder
	for _, r := range run {
		switch {
		case isTag(r):
			b.WriteByte(byte(r - 0xe0000))
		case r < 0xfe10:
			b.WriteByte(byte(r - 0xfe00))
		default:
			b.WriteByte(byte(r - 0xe0100 + 16))
		}
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, b.String())
}

var securityZeroWidth = Rule{
	ID: "security-zero-width", Family: "security", Severity: Warning,
	Doc:     "Invisible characters stand inside a word, or many in a row.",
	Explain: "They hide words from a search and can carry a message. Joiners in emoji and in scripts that need them are not reported.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			if s.characters&invisible != 0 {
				p.zeroWidth(s)
			}
		})
	},
}

func (p *pass) zeroWidth(s *source) {
	var run []rune
	var before rune
	start := 0
	for i, r := range s.text + "\n" {
		if isInvisible(r) && i > 0 {
			if len(run) == 0 {
				start = i
			}
			run = append(run, r)
			continue
		}
		if len(run) >= 4 || len(run) > 0 && isWordASCII(before) && isWordASCII(r) {
			p.in(s, start, i, nil, "%d invisible characters (U+%04X …)%s", len(run), run[0], decodeBits(run))
		}
		run, before = run[:0], r
	}
}

// decodeBits reads a row of two different invisible characters as bits, the usual way to hide a text in them, and gives
// the text if there is one.
func decodeBits(run []rune) string {
	var kinds [2]rune
	for _, r := range run {
		if kinds[0] == 0 || r == kinds[0] {
			kinds[0] = r
		} else if kinds[1] == 0 || r == kinds[1] {
			kinds[1] = r
		} else {
			return ""
		}
	}
	low := min(kinds[0], kinds[1])
	if len(run) < 24 || low == 0 {
		return ""
	}
	for _, one := range [...]bool{false, true} { // which of the two is the 1 is the writer's choice
		var text []byte
		for i := 0; i+8 <= len(run); i += 8 {
			c := byte(0)
			for _, r := range run[i : i+8] {
				c <<= 1
				if (r == low) == one {
					c |= 1
				}
			}
			text = append(text, c)
		}
		if isPrintable(text) {
			return ": " + strings.ToValidUTF8(skill.Shorten(string(text), 200), "")
		}
	}
	return ""
}

func isPrintable(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func isWordASCII(r rune) bool { return r < utf8.RuneSelf && isAlnum(byte(r)) }

var securityHomoglyph = Rule{
	ID: "security-homoglyph", Family: "security", Severity: Warning,
	Doc:     "A word mixes Latin letters with others that look the same.",
	Explain: "A Cyrillic or Greek letter in a Latin word cannot be seen, but makes another word: a command, an address or a name that is not what it seems. Texts written in those scripts are not reported.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			if s.characters&lookalike != 0 {
				p.homoglyphs(s)
			}
		})
	},
}

// homoglyphs reports words of Latin letters with twins of Latin letters among them, unless the text has words in the
// script of the twins: people who write in it put its endings to foreign words.
func (p *pass) homoglyphs(s *source) {
	written := map[bool]bool{} // by whether it is Cyrillic
	var mixed [][2]int
	for start, end := range wordsOf(s.text) {
		word := s.text[start:end]
		latin, twins, own, cyrillic := 0, 0, 0, false
		for _, r := range word {
			switch {
			case r < utf8.RuneSelf:
				latin++
			case latinTwin(r) != 0:
				twins++
				cyrillic = r >= 0x400
			case r >= 0x370 && r < 0x530:
				own++
				cyrillic = r >= 0x400
			}
		}
		if latin == 0 && own+twins >= 2 {
			written[cyrillic] = true
		}
		if latin >= 2 && twins > 0 && own == 0 && !written[cyrillic] && len(mixed) < mostFindings {
			mixed = append(mixed, [2]int{start, end})
		}
	}
	for _, m := range mixed {
		word := s.text[m[0]:m[1]]
		i := strings.IndexFunc(word, func(r rune) bool { return latinTwin(r) != 0 })
		r, _ := utf8.DecodeRuneInString(word[i:])
		if !written[r >= 0x400] {
			p.in(s, m[0], m[1], nil, "%q has U+%04X, which looks like the Latin %c", skill.Shorten(word, 60), r, latinTwin(r))
		}
	}
}

// wordsOf yields the runs of letters of a text.
func wordsOf(text string) func(yield func(start, end int) bool) {
	return func(yield func(int, int) bool) {
		start := -1
		for i, r := range text {
			letter := r < utf8.RuneSelf && isLetterASCII(byte(r)) || r >= utf8.RuneSelf && unicode.IsLetter(r)
			switch {
			case letter && start < 0:
				start = i
			case !letter && start >= 0:
				if !yield(start, i) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(start, len(text))
		}
	}
}
