package docserver

// stem gives the stem of a lower-case English word by Porter's algorithm of
// 1980: "proves", "proved" and "proving" are all "prove". Anything that is not
// made of the letters a to z comes back as it is.
//
// It is here, and not left to the tokenizer of FTS5, because the words of a
// question have to be compared with those of a passage outside of the
// database too; a test holds it against FTS5's own.
func stem(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	w := []byte(word)
	w = stemPlural(w)
	w = stemPast(w)
	w = stemY(w)
	w = replaceSuffix(w, derivations, 0)
	w = replaceSuffix(w, diminutions, 0)
	w = dropSuffix(w)
	return string(stemE(w))
}

// suffix is an ending and what stands in its place in the stem.
type suffix struct{ old, new string }

// Of the endings that fit a word, the first in a table counts, so that a
// longer one stands before those it ends in.
var (
	// Endings of words that were made from other words: relational, relate.
	derivations = []suffix{
		{"ational", "ate"},
		{"tional", "tion"},
		{"enci", "ence"},
		{"anci", "ance"},
		{"izer", "ize"},
		{"bli", "ble"},
		{"alli", "al"},
		{"entli", "ent"},
		{"eli", "e"},
		{"ousli", "ous"},
		{"ization", "ize"},
		{"ation", "ate"},
		{"ator", "ate"},
		{"alism", "al"},
		{"iveness", "ive"},
		{"fulness", "ful"},
		{"ousness", "ous"},
		{"aliti", "al"},
		{"iviti", "ive"},
		{"biliti", "ble"},
		{"logi", "log"},
	}
	diminutions = []suffix{
		{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
	}
	// Endings that go when enough of the word is left.
	dropped = []string{
		"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
		"ous", "ive", "ize",
	}
)

// isConsonant tells whether w[i] is one; y is, unless it follows a consonant.
func isConsonant(w []byte, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !isConsonant(w, i-1)
	}
	return true
}

// measure counts how often a consonant follows a vowel, about the number of
// syllables that end in one.
func measure(w []byte) (n int) {
	vowel := false
	for i := range w {
		consonant := isConsonant(w, i)
		if vowel && consonant {
			n++
		}
		vowel = !consonant
	}
	return n
}

func hasVowel(w []byte) bool {
	for i := range w {
		if !isConsonant(w, i) {
			return true
		}
	}
	return false
}

func endsDouble(w []byte) bool {
	n := len(w)
	return n >= 2 && w[n-1] == w[n-2] && isConsonant(w, n-1)
}

// endsShort tells whether w ends consonant, vowel, consonant, the last one not
// w, x or y: such a word had an e that its longer form lost, as hope in hoping.
func endsShort(w []byte) bool {
	n := len(w)
	if n < 3 || !isConsonant(w, n-1) || isConsonant(w, n-2) || !isConsonant(w, n-3) {
		return false
	}
	return w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}

func cutSuffix(w []byte, end string) ([]byte, bool) {
	if len(w) < len(end) || string(w[len(w)-len(end):]) != end {
		return w, false
	}
	return w[:len(w)-len(end)], true
}

func stemPlural(w []byte) []byte {
	if w[len(w)-1] != 's' {
		return w
	}
	for _, s := range []suffix{{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}} {
		if rest, ok := cutSuffix(w, s.old); ok {
			return append(rest, s.new...)
		}
	}
	return w
}

func stemPast(w []byte) []byte {
	if rest, ok := cutSuffix(w, "eed"); ok {
		if measure(rest) > 0 {
			return w[:len(w)-1]
		}
		return w
	}
	rest, ok := cutSuffix(w, "ed")
	if !ok {
		rest, ok = cutSuffix(w, "ing")
	}
	if !ok || !hasVowel(rest) {
		return w
	}
	for _, end := range []string{"at", "bl", "iz"} {
		if _, ok := cutSuffix(rest, end); ok {
			return append(rest, 'e')
		}
	}
	if endsDouble(rest) {
		switch rest[len(rest)-1] {
		case 'l', 's', 'z':
			return rest
		}
		return rest[:len(rest)-1]
	}
	if measure(rest) == 1 && endsShort(rest) {
		return append(rest, 'e')
	}
	return rest
}

func stemY(w []byte) []byte {
	if rest, ok := cutSuffix(w, "y"); ok && hasVowel(rest) {
		return append(rest, 'i')
	}
	return w
}

// replaceSuffix changes the first ending that fits, if what stands before it
// measures more than least.
func replaceSuffix(w []byte, table []suffix, least int) []byte {
	for _, s := range table {
		rest, ok := cutSuffix(w, s.old)
		if !ok {
			continue
		}
		if measure(rest) > least {
			return append(rest, s.new...)
		}
		return w
	}
	return w
}

func dropSuffix(w []byte) []byte {
	for _, end := range dropped {
		rest, ok := cutSuffix(w, end)
		if !ok {
			continue
		}
		if end == "ion" && (len(rest) == 0 || rest[len(rest)-1] != 's' && rest[len(rest)-1] != 't') {
			return w
		}
		if measure(rest) > 1 {
			return rest
		}
		return w
	}
	return w
}

// stemE drops a last e, and one of two l.
func stemE(w []byte) []byte {
	if rest, ok := cutSuffix(w, "e"); ok {
		if m := measure(rest); m > 1 || m == 1 && !endsShort(rest) {
			w = rest
		}
	}
	if n := len(w); n > 1 && w[n-1] == 'l' && endsDouble(w) && measure(w) > 1 {
		return w[:n-1]
	}
	return w
}
