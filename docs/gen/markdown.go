package main

import (
	"strings"
)

// table writes a Markdown table. Cells are Markdown already.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(head)
	b.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// plain makes text safe for a table's cell.
func plain(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(s)
}

// code makes text a code span that a table's cell can hold. A span is
// delimited by more backticks than it holds, and white space at its ends would
// be eaten.
func code(s string) string {
	ticks := strings.Repeat("`", longestRun(s)+1)
	if len(ticks) > 1 || strings.HasPrefix(s, " ") || strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	return ticks + strings.ReplaceAll(s, "|", `\|`) + ticks
}

// fence makes text a code block.
func fence(info, s string) string {
	ticks := strings.Repeat("`", max(3, longestRun(s)+1))
	return ticks + info + "\n" + strings.TrimRight(s, "\n") + "\n" + ticks
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) (most int) {
	n := 0
	for _, r := range s {
		if r != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// anchor is what a heading can be linked by.
func anchor(heading string) string {
	return strings.ToLower(strings.ReplaceAll(heading, " ", "-"))
}

// escape writes text of several lines as one.
func escape(s string) string {
	return strings.NewReplacer("\r", `\r`, "\n", `\n`, "\t", `\t`).Replace(s)
}

// clip cuts text to a number of characters.
func clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}
