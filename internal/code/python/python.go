// Package python parses Python 3, reads its imports and calls, and asks python3 where that is configured.
package python

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Check checks a program, or what documentation shows of one: a piece that is indented as a whole, the transcript
// of an interactive session, and a notebook's cell with its %magics and !commands.
func Check(src string) ([]source.Problem, bool) {
	if len(src) > source.MaxSource {
		return nil, false
	}
	for _, part := range pieces(src) {
		problem, checked := part.parse()
		if !checked {
			return nil, false
		}
		if problem != nil {
			line, col := source.NewPlaces(part.text).At(min(problem.offset, len(strings.TrimRight(part.text, " \t\r\n"))))
			return []source.Problem{{Line: part.line + line - 1, Col: col + part.indent, Message: problem.message, Checker: source.OwnChecker}}, true
		}
	}
	return nil, true
}

// piece is a piece of a source that is parsed by itself.
type piece struct {
	text   string
	line   int // of the source, where the text begins
	indent int // characters taken off the front of each line
}

// pieces cuts a transcript into its inputs; any other source is one part.
func pieces(src string) []piece {
	if strings.HasPrefix(strings.TrimLeft(src, " \t\r\n"), ">>>") {
		return transcript(src)
	}
	text, indent := dedent(src)
	return []piece{{text, 1, indent}}
}

// parse finds the part's first problem. Where that is a notebook's command, all of them are let pass.
func (s piece) parse() (*syntaxError, bool) {
	problem, checked := parse(s.text)
	if problem == nil || !checked {
		return nil, checked
	}
	start := strings.LastIndexAny(s.text[:problem.offset], "\r\n") + 1
	line, _ := source.CutLine(s.text[start:])
	if strings.HasPrefix(line, "%%") && strings.TrimSpace(s.text[:start]) == "" {
		return nil, false // a cell in another language, or one whose magic changes what it means
	}
	if !isNotebookCommand(line) {
		return problem, true
	}
	return parse(withoutCommands(s.text))
}

// isNotebookCommand reports whether a line is %magic or !command.
func isNotebookCommand(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return len(line) > 1 && (line[0] == '!' || line[0] == '%') && source.IsIdentStart(line[1])
}

// withoutCommands writes an expression for each command, byte for byte at the same place.
func withoutCommands(src string) string {
	out := []byte(src)
	for rest := src; rest != ""; {
		start := len(src) - len(rest)
		var line string
		line, rest = source.CutLine(rest)
		if !isNotebookCommand(line) {
			continue
		}
		at := start + len(line) - len(strings.TrimLeft(line, " \t"))
		for i := at; i < start+len(line); i++ {
			out[i] = ' '
		}
		out[at] = '0'
	}
	return string(out)
}

// dedent takes off the indentation that all lines of a source share.
func dedent(src string) (text string, indent int) {
	prefix := ""
	first := true
	for rest := src; rest != ""; {
		var line string
		line, rest = source.CutLine(rest)
		if strings.Trim(line, " \t") == "" {
			continue
		}
		own := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if first {
			prefix, first = own, false
		}
		for !strings.HasPrefix(own, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		if prefix == "" {
			return src, 0
		}
	}
	var b strings.Builder
	for rest := src; rest != ""; {
		var line string
		line, rest = source.CutLine(rest)
		b.WriteString(strings.TrimPrefix(line, prefix))
		b.WriteByte('\n')
	}
	return b.String(), len(prefix)
}

// transcript reads the inputs of an interactive session, each behind >>> and going on behind "..."; the rest is output.
func transcript(src string) []piece {
	var parts []piece
	var input strings.Builder
	finish := func() {
		if n := len(parts); n > 0 && input.Len() > 0 {
			parts[n-1].text = input.String()
			input.Reset()
		}
	}
	for n, rest := 1, src; rest != ""; n++ {
		var line string
		line, rest = source.CutLine(rest)
		body := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(body, ">>>"):
			finish()
			parts = append(parts, piece{line: n, indent: len(line) - len(body) + len(">>> ")})
		case input.Len() == 0 || !strings.HasPrefix(body, "... ") && body != "...":
			finish()
			continue
		}
		input.WriteString(strings.TrimPrefix(body[3:], " ") + "\n")
	}
	finish()
	return parts
}
