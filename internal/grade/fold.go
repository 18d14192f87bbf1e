package grade

import (
	"strings"
)

// fold makes texts comparable where case does not matter: lower case, as in
// JavaScript, with the two letters whose lower case depends on what stands
// around them made one: σ and ς, and İ with or without its dot apart.
func fold(s string) string {
	s = strings.ToLower(s)
	if strings.Contains(s, "ς") {
		s = strings.ReplaceAll(s, "ς", "σ")
	}
	if strings.Contains(s, "i\u0307") {
		s = strings.ReplaceAll(s, "i\u0307", "i")
	}
	return s
}

// foldsToASCII are the characters outside ASCII that fold into it: the Kelvin
// sign, İ, and the dot that an i loses.
var foldsToASCII = []string{"\u212A", "\u0130", "\u0307"}

// containsFold is strings.Contains(fold(text), folded). Most keywords are
// ASCII and most suites have many of them, so those are looked for without
// making a folded copy of every answer.
func containsFold(text, folded string) bool {
	if !isASCII(folded) {
		return strings.Contains(fold(text), folded)
	}
	found, done := searchASCII(text, folded)
	if found {
		return true
	}
	for _, s := range foldsToASCII {
		done = done && !strings.Contains(text, s)
	}
	return !done && strings.Contains(fold(text), folded)
}

// searchASCII looks for a text in lower case in either case. It tries the
// places of the word's rarest letter, and gives up, not done, where there are
// so many of them that folding is cheaper.
func searchASCII(text, lower string) (found, done bool) {
	at := rarest(lower)
	small := lower[at]
	large := small
	if 'a' <= small && small <= 'z' {
		large -= 'a' - 'A'
	}
	work := 4*len(text) + 64
	next := [2]int{nextByte(text, 0, small), nextByte(text, 0, large)}
	for {
		i := min(next[0], next[1])
		if i == len(text) {
			return false, true
		}
		if start := i - at; start >= 0 && start+len(lower) <= len(text) {
			n := samePrefix(text[start:], lower)
			if n == len(lower) {
				return true, true
			}
			if work -= n + 1; work < 0 {
				return false, false
			}
		}
		if next[0] == i {
			next[0] = nextByte(text, i+1, small)
		}
		if next[1] == i {
			next[1] = nextByte(text, i+1, large)
		}
	}
}

// nextByte is the place of a byte from a place on, or the end.
func nextByte(text string, from int, b byte) int {
	if i := strings.IndexByte(text[from:], b); i >= 0 {
		return from + i
	}
	return len(text)
}

// samePrefix counts how much of lower a text begins with, in either case.
func samePrefix(text, lower string) int {
	for i := range len(lower) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return i
		}
	}
	return len(lower)
}

// rarest is the place of the character that is least often seen in texts.
func rarest(lower string) int {
	const common = " etaoinshrdlcumwfgypbvkjxqz" // most common first
	best, bestRank := 0, -1
	for i := range len(lower) {
		rank := strings.IndexByte(common, lower[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > bestRank {
			best, bestRank = i, rank
		}
	}
	return best
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
