package kind

import (
	"strings"
	"unicode/utf8"
)

// Near gives the candidate a person most likely meant, or "" when none is
// near enough to be more than a guess.
func Near(name string, candidates []string) string {
	runes := utf8.RuneCountInString(name)
	best, bestDistance := "", min(runes, max(1, runes/3)+1)
	folded := fold(name)
	for _, c := range candidates {
		if folded != "" && fold(c) == folded {
			return c
		}
		if d := distance(name, c, bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return within(folded, candidates)
	}
	return best
}

// within gives the one candidate that has the name as a part, as
// expectedKeywords has keywords.
func within(folded string, candidates []string) (found string) {
	if len(folded) < 4 {
		return ""
	}
	for _, c := range candidates {
		if !strings.Contains(fold(c), folded) {
			continue
		}
		if found != "" {
			return ""
		}
		found = c
	}
	return found
}

var folding = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// fold makes minLength, min-length and min_length the same word.
func fold(s string) string { return strings.ToLower(folding.Replace(s)) }

// maxNear is the length over which names are not compared.
const maxNear = 64

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours between a and b, or limit when it is not below limit.
func distance(a, b string, limit int) int {
	if len(a) > 4*maxNear || len(b) > 4*maxNear {
		return limit
	}
	ra, rb := []rune(a), []rune(b)
	if max(len(ra)-len(rb), len(rb)-len(ra)) >= limit || len(ra) > maxNear || len(rb) > maxNear {
		return limit
	}
	var rows [3][maxNear + 1]int
	for j := range len(rb) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(ra); i++ {
		before, above, row := &rows[(i+1)%3], &rows[(i-1)%3], &rows[i%3]
		row[0] = i
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return min(rows[len(ra)%3][len(rb)], limit)
}
