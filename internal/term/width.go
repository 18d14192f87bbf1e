package term

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// Wrap breaks text at spaces into lines of at most width columns. A word that
// is longer than a line is broken where the line ends.
func Wrap(s string, width int) (lines []string) {
	width = max(width, 8)
	var line strings.Builder
	used := 0
	flush := func() {
		lines = append(lines, line.String())
		line.Reset()
		used = 0
	}
	for _, word := range strings.Fields(s) {
		n := Columns(word)
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
			word, n = tail, Columns(tail)
		}
		line.WriteString(word)
		used += n
	}
	if line.Len() > 0 {
		flush()
	}
	return lines
}

// WrapAtMost is [Wrap] with the lines past the limit cut off, visibly; 0 is no
// limit.
func WrapAtMost(s string, width, limit int) []string {
	lines := Wrap(s, width)
	if limit == 0 || len(lines) <= limit {
		return lines
	}
	lines = lines[:limit]
	last := &lines[limit-1]
	*last = Truncate(*last+" …", width)
	return lines
}

// Truncate cuts s to width columns.
func Truncate(s string, width int) string {
	if Columns(s) <= width {
		return s
	}
	head, _ := splitAt(s, max(width-1, 0))
	return strings.TrimSuffix(strings.TrimRight(head, " …"), " ") + "…"
}

// Pad fills s up to width columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Columns(s)))
}

// splitAt splits s after as many characters, as people count them, as fit into
// width columns, and at least one.
func splitAt(s string, width int) (head, tail string) {
	head = condition.Truncate(s, width, "")
	if head == "" {
		head = condition.Truncate(s, 2, "") // none is wider
	}
	if head == "" {
		return s, ""
	}
	return head, s[len(head):]
}

// Last is the end of s that fits into some columns. A character that is cut in
// half is a blank.
func Last(s string, width int) string {
	if over := Columns(s) - width; over > 0 {
		return condition.TruncateLeft(s, over, "")
	}
	return s
}

// Columns is the width of s on a terminal.
func Columns(s string) int { return condition.StringWidth(s) }

// condition is given, or the library would take it from the locale.
var condition = &runewidth.Condition{StrictEmojiNeutral: true}
