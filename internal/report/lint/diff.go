package lintreport

import (
	"bytes"
	"strings"

	"github.com/mettle-eval/mettle/internal/term"
)

// Diff is a unified diff as a person reads it: nothing in it is obeyed by a terminal, and line ends can be told apart.
func Diff(diff []byte, color bool) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(diff)) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutSuffix(line, "\r"); ok {
			line = rest + "␍" // or lines would differ in nothing that can be seen
		}
		line = term.Sanitize(line)
		style := ""
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			style = "1"
		case strings.HasPrefix(line, "@@"):
			style = "2"
		case strings.HasPrefix(line, "-"):
			style = "31"
		case strings.HasPrefix(line, "+"):
			style = "32"
		}
		b.WriteString(term.Paint(color && style != "").With(style, line) + "\n")
	}
	return b.Bytes()
}
