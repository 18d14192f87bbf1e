package code

import "strings"

// pythonSyntax checks a program, or what documentation shows of one: a piece that is indented as a whole, the transcript
// of an interactive session, and a notebook's cell with its %magics and !commands.
func pythonSyntax(src string) ([]Problem, bool) {
	if len(src) > maxSource {
		return nil, false
	}
	for _, part := range pythonParts(src) {
		problem, checked := part.parse()
		if !checked {
			return nil, false
		}
		if problem != nil {
			line, col := newPlaces(part.text).at(min(problem.offset, len(strings.TrimRight(part.text, " \t\r\n"))))
			return []Problem{{Line: part.line + line - 1, Col: col + part.indent, Message: problem.message, Checker: ownChecker}}, true
		}
	}
	return nil, true
}

// pythonPart is a piece of a source that is parsed by itself.
type pythonPart struct {
	text   string
	line   int // of the source, where the text begins
	indent int // characters taken off the front of each line
}

// pythonParts cuts a transcript into its inputs; any other source is one part.
func pythonParts(src string) []pythonPart {
	if strings.HasPrefix(strings.TrimLeft(src, " \t\r\n"), ">>>") {
		return transcript(src)
	}
	text, indent := dedent(src)
	return []pythonPart{{text, 1, indent}}
}

// parse finds the part's first problem. Where that is a notebook's command, all of them are let pass.
func (s pythonPart) parse() (*pyProblem, bool) {
	problem, checked := parsePython(s.text)
	if problem == nil || !checked {
		return nil, checked
	}
	start := strings.LastIndexAny(s.text[:problem.offset], "\r\n") + 1
	line, _ := cutLine(s.text[start:])
	if strings.HasPrefix(line, "%%") && strings.TrimSpace(s.text[:start]) == "" {
		return nil, false // a cell in another language, or one whose magic changes what it means
	}
	if !isNotebookCommand(line) {
		return problem, true
	}
	return parsePython(withoutCommands(s.text))
}

// isNotebookCommand reports whether a line is %magic or !command.
func isNotebookCommand(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return len(line) > 1 && (line[0] == '!' || line[0] == '%') && isIdentStart(line[1])
}

// withoutCommands writes an expression for each command, byte for byte at the same place.
func withoutCommands(src string) string {
	out := []byte(src)
	for rest := src; rest != ""; {
		start := len(src) - len(rest)
		var line string
		line, rest = cutLine(rest)
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
		line, rest = cutLine(rest)
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
		line, rest = cutLine(rest)
		b.WriteString(strings.TrimPrefix(line, prefix))
		b.WriteByte('\n')
	}
	return b.String(), len(prefix)
}

// transcript reads the inputs of an interactive session, each behind >>> and going on behind "..."; the rest is output.
func transcript(src string) []pythonPart {
	var parts []pythonPart
	var input strings.Builder
	finish := func() {
		if n := len(parts); n > 0 && input.Len() > 0 {
			parts[n-1].text = input.String()
			input.Reset()
		}
	}
	for n, rest := 1, src; rest != ""; n++ {
		var line string
		line, rest = cutLine(rest)
		body := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(body, ">>>"):
			finish()
			parts = append(parts, pythonPart{line: n, indent: len(line) - len(body) + len(">>> ")})
		case input.Len() == 0 || !strings.HasPrefix(body, "... ") && body != "...":
			finish()
			continue
		}
		input.WriteString(strings.TrimPrefix(body[3:], " ") + "\n")
	}
	finish()
	return parts
}
