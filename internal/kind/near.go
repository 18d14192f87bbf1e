package kind

import "strings"

// Near gives the candidate a person most likely meant, or "" when none is
// near enough to be more than a guess.
func Near(name string, candidates []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if strings.EqualFold(c, name) || fold(c) == fold(name) {
			return c
		}
		if d := distance(name, c, bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// fold makes minLength, min-length and min_length the same word.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(s))
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours between a and b, or limit when it is not below limit.
func distance(a, b string, limit int) int {
	ra, rb := []rune(a), []rune(b)
	if max(len(ra)-len(rb), len(rb)-len(ra)) >= limit || len(ra) > 64 || len(rb) > 64 {
		return limit
	}
	var rows [3][65]int
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
