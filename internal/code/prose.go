package code

import (
	"bytes"
	"strings"
)

// Prose is a text with its code made blank, blocks and spans alike: every
// character of it stays where it is.
func Prose(text string) string {
	if strings.IndexByte(text, '`') < 0 && !strings.Contains(text, "~~~") {
		return text
	}
	blank := []byte(text)
	for _, b := range Blocks(text) {
		wipe(blank[b.Start:b.End])
	}
	start := 0
	for at := 0; at < len(blank); {
		end := len(blank)
		if i := bytes.IndexByte(blank[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if len(bytes.TrimSpace(blank[at:end])) == 0 { // a code span ends with its paragraph
			wipeSpans(blank[start:at])
			start = end
		}
		at = end
	}
	wipeSpans(blank[start:])
	return string(blank)
}

func wipe(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// wipeSpans blanks code spans: from a run of backticks to the next run of the
// same length.
func wipeSpans(b []byte) {
	type run struct{ at, n int }
	var runs []run
	for i := 0; i < len(b); i++ {
		if b[i] != '`' {
			continue
		}
		start := i
		for i < len(b) && b[i] == '`' {
			i++
		}
		runs = append(runs, run{start, i - start})
	}
	next := make([]int, len(runs)) // the next run of the same length
	last := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		next[i] = last[runs[i].n] // 0 when there is none: no run comes before the first
		last[runs[i].n] = i
	}
	for i := 0; i < len(runs); i++ {
		if j := next[i]; j > 0 {
			wipe(b[runs[i].at : runs[j].at+runs[j].n])
			i = j
		}
	}
}

// WithoutBlocks is a text with its code blocks made blank.
func WithoutBlocks(text string) string {
	blank := []byte(text)
	for _, b := range Blocks(text) {
		wipe(blank[b.Start:b.End])
	}
	return string(blank)
}
