package docserver

import (
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxWord is the length, in bytes, over which a word is data and not looked at.
const maxWord = 64

// tokens cuts a text into words as they are written. Where a script sets no
// blanks, each pair of neighbouring characters stands for a word.
func tokens(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			r, size := utf8.DecodeRuneInString(text)
			n, more := size, true
			switch {
			case isIdeograph(r):
				n = prefixLen(text, isIdeograph)
				more = pairs(text[:n], yield)
			case isWordRune(r):
				n = prefixLen(text, isWordRune)
				more = yield(text[:n])
				n += contraction(text[n:])
			}
			if !more {
				return
			}
			text = text[n:]
		}
	}
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !isIdeograph(r)
}

func isIdeograph(r rune) bool {
	const first = 0x2E80 // nothing below is in these scripts
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// prefixLen is the length of the longest prefix of runes that are in a class.
func prefixLen(text string, in func(rune) bool) int {
	for i, r := range text {
		if !in(r) {
			return i
		}
	}
	return len(text)
}

// contraction is the length of what an apostrophe shortened: the s of "signer's".
func contraction(text string) int {
	rest, ok := strings.CutPrefix(text, "'")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "’"); !ok {
			return 0
		}
	}
	n := prefixLen(rest, isWordRune)
	switch strings.ToLower(rest[:min(n, 3)]) {
	case "s", "t", "d", "m", "re", "ve", "ll":
		return len(text) - len(rest) + n
	}
	return 0
}

func pairs(run string, yield func(string) bool) (more bool) {
	before := 0
	for i, r := range run {
		end := i + utf8.RuneLen(r)
		if i > 0 && !yield(run[before:end]) {
			return false
		}
		before = i
	}
	if before == 0 { // a single character
		return yield(run)
	}
	return true
}

// word is a word as the index knows it. An identifier of several words, such as
// createMint or create_mint, is itself and its parts: it is found by "create
// mint", and by "createMint" in whatever spelling.
type word struct {
	stem  string
	parts []string // stems of its parts, nil when there are none
	names int      // how many parts it has, stop words counted
}

// wordOf says what a token means to the index; stop words and what is no word
// mean nothing to it.
func wordOf(token string) (w word, ok bool) {
	token = strings.Trim(token, "_")
	single := len(token) < 2 && (token == "" || token[0] > '9') // a letter says nothing, a digit may be an error code
	if single || len(token) > maxWord {
		return word{}, false
	}
	whole := strings.ToLower(strings.ReplaceAll(token, "_", ""))
	if isStopWord(whole) {
		return word{}, false
	}
	w.stem = stem(whole)
	if names := splitName(token); len(names) > 1 {
		w.names = len(names)
		for _, p := range names {
			if p = strings.ToLower(p); len(p) > 1 && !isStopWord(p) {
				w.parts = append(w.parts, stem(p))
			}
		}
	}
	return w, true
}

// splitName cuts an identifier at underscores and where the case turns:
// MerkleTree, create_mint, HTTPServer.
func splitName(name string) (parts []string) {
	start := 0
	cut := func(end, next int) {
		if end > start {
			parts = append(parts, name[start:end])
		}
		start = next
	}
	var before rune
	for i, r := range name {
		switch {
		case r == '_':
			cut(i, i+1)
		case !unicode.IsUpper(r) || before == 0 || before == '_':
		case !unicode.IsUpper(before):
			cut(i, i)
		default: // the last capital of a run starts a word if a small letter follows
			if next, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(r):]); unicode.IsLower(next) {
				cut(i, i)
			}
		}
		before = r
	}
	cut(len(name), len(name))
	return parts
}

func isStopWord(w string) bool { return stopWords()[w] }

// stopWords say nothing about a page's subject, whatever it is: the small
// words of English, and those that a question is made of.
var stopWords = sync.OnceValue(func() map[string]bool {
	return wordSet(func(w string) string { return w }, `
		a an the this that these those
		i me my we us our you your he she it its they them their
		who whom whose which what when where why how
		am is are was were be been being do does did doing done have has had having
		can could will would shall should may might must
		isn aren wasn weren don doesn didn haven hasn hadn couldn won wouldn shouldn mustn
		and or but nor so if then else than as of at by for from in into on onto to with without about between
		there here also just only very too some any each every both such other another
		use used uses using get gets getting got make makes made making
		please tell show give explain describe know want need like mean means way ways
		work works working something anything someone thing things exactly actually really`)
})

func wordSet(form func(string) string, list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[form(w)] = true
	}
	return set
}
