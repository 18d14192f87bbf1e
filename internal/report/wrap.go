package report

import (
	"sort"
	"strings"
	"unicode"
)

// wrap breaks text at spaces into lines of at most width columns. A word that
// is longer than a line is broken where the line ends.
func wrap(s string, width int) (lines []string) {
	width = max(width, 8)
	var line strings.Builder
	used := 0
	flush := func() {
		lines = append(lines, line.String())
		line.Reset()
		used = 0
	}
	for _, word := range strings.Fields(s) {
		n := columns(word)
		if line.Len() > 0 && used+1+n > width {
			flush()
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
			used++
		}
		for used+n > width {
			head, tail := splitAt(word, width-used)
			line.WriteString(head)
			flush()
			word, n = tail, columns(tail)
		}
		line.WriteString(word)
		used += n
	}
	if line.Len() > 0 {
		flush()
	}
	return lines
}

// wrapAtMost is wrap with the lines past the limit cut off, visibly; 0 is no
// limit.
func wrapAtMost(s string, width, limit int) []string {
	lines := wrap(s, width)
	if limit == 0 || len(lines) <= limit {
		return lines
	}
	lines = lines[:limit]
	last := &lines[limit-1]
	*last = truncate(*last+" …", width)
	return lines
}

// truncate cuts s to width columns.
func truncate(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	head, _ := splitAt(s, max(width-1, 0))
	return strings.TrimSuffix(strings.TrimRight(head, " …"), " ") + "…"
}

// pad fills s up to width columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// splitAt splits s after as many characters as fit into width columns, at
// least one, and never before a character that takes no column of its own.
func splitAt(s string, width int) (head, tail string) {
	used := 0
	for i, r := range s {
		w := runeColumns(r)
		if used+w > width && i > 0 && w > 0 {
			return s[:i], s[i:]
		}
		used += w
	}
	return s, ""
}

func columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// wide holds the ranges that terminals show in two columns: East Asian wide
// and full-width forms, and what is drawn as emoji by default.
var wide = [...][2]rune{
	{0x1100, 0x115f},
	{0x231a, 0x231b},
	{0x2329, 0x232a},
	{0x23e9, 0x23ec},
	{0x23f0, 0x23f0},
	{0x23f3, 0x23f3},
	{0x25fd, 0x25fe},
	{0x2614, 0x2615},
	{0x2648, 0x2653},
	{0x267f, 0x267f},
	{0x2693, 0x2693},
	{0x26a1, 0x26a1},
	{0x26aa, 0x26ab},
	{0x26bd, 0x26be},
	{0x26c4, 0x26c5},
	{0x26ce, 0x26ce},
	{0x26d4, 0x26d4},
	{0x26ea, 0x26ea},
	{0x26f2, 0x26f3},
	{0x26f5, 0x26f5},
	{0x26fa, 0x26fa},
	{0x26fd, 0x26fd},
	{0x2705, 0x2705},
	{0x270a, 0x270b},
	{0x2728, 0x2728},
	{0x274c, 0x274c},
	{0x274e, 0x274e},
	{0x2753, 0x2755},
	{0x2757, 0x2757},
	{0x2795, 0x2797},
	{0x27b0, 0x27b0},
	{0x27bf, 0x27bf},
	{0x2b1b, 0x2b1c},
	{0x2b50, 0x2b50},
	{0x2b55, 0x2b55},
	{0x2e80, 0x303e},
	{0x3041, 0x33ff},
	{0x3400, 0x4dbf},
	{0x4e00, 0x9fff},
	{0xa000, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x16fe0, 0x18aff},
	{0x1b000, 0x1b2ff},
	{0x1f004, 0x1f004},
	{0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a},
	{0x1f1e6, 0x1f202},
	{0x1f210, 0x1f23b},
	{0x1f240, 0x1f248},
	{0x1f250, 0x1f251},
	{0x1f260, 0x1f265},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f7e0, 0x1f7eb},
	{0x1f90c, 0x1f9ff},
	{0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case isJoiner(r) || unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < wide[0][0]:
		return 1
	}
	i := sort.Search(len(wide), func(i int) bool { return wide[i][1] >= r })
	if i < len(wide) && wide[i][0] <= r {
		return 2
	}
	return 1
}
