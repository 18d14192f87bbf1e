package skill

import "strings"

// needQuotes lists the values that YAML would misread: a plain value with a colon and a space in it, or one that begins
// with a character that YAML keeps for itself.
func (fm *Frontmatter) needQuotes() []Quote {
	var quotes []Quote
	offset, block := 0, -1 // block is the indentation of the key whose block scalar is being passed over
	lines := strings.SplitAfter(fm.Raw, "\n")
	for i := 0; i < len(lines); i++ {
		l := strings.TrimRight(lines[i], "\r\n")
		at := offset
		offset += len(lines[i])
		indent := len(l) - len(strings.TrimLeft(l, " "))
		if strings.TrimSpace(l) == "" || block >= 0 && indent > block {
			continue
		}
		block = -1
		key, value, ok := splitKey(l)
		if !ok {
			continue
		}
		if value[0] == '|' || value[0] == '>' {
			block = indent
			continue
		}
		start := at + len(l) - len(value)
		end := start + len(strings.TrimRight(value, " \t"))
		for i+1 < len(lines) && continues(lines[i+1], indent) {
			i++
			l := strings.TrimRight(lines[i], " \t\r\n")
			end = offset + len(l)
			offset += len(lines[i])
		}
		text := fm.Raw[start:end]
		if why := whyQuote(text); why != "" {
			quotes = append(quotes, Quote{
				Key: key, Start: fm.start + start, End: fm.start + end, Why: why,
				Quoted: SingleQuoted(text),
			})
		}
	}
	return quotes
}

// splitKey splits a line "key: value". The key is a plain word and the value is not empty.
func splitKey(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, ":")
	key = strings.TrimLeft(key, " ")
	if !ok || key == "" || strings.ContainsAny(key, " \t\"'#{}[]&*!|>@`,") || !strings.HasPrefix(value, " ") {
		return "", "", false
	}
	value = strings.TrimLeft(value, " \t")
	return key, value, value != ""
}

// continues reports whether a line belongs to the plain value of a key with this indentation. A line that is a key of
// its own does not: then the value above it ended, or the block is broken in a way quoting does not mend.
func continues(line string, indent int) bool {
	l := strings.TrimRight(line, " \t\r\n")
	return l != "" && len(l)-len(strings.TrimLeft(l, " ")) > indent
}

// whyQuote says why a plain value needs quotes, empty when it does not.
func whyQuote(value string) string {
	switch c := value[0]; {
	case c == '"' || c == '\'' || c == '&' || c == '!' || c == '#':
		return ""
	case c == '@' || c == '`' || c == '%' || c == ',' || c == ']' || c == '}':
		return "a plain value cannot begin with " + string(c)
	case c == '*':
		return "a value that begins with * is read as an alias"
	case c == '[' || c == '{':
		closing := strings.IndexByte(value, c+2) // ] and } stand two places behind [ and {
		if closing < 0 || closing == len(value)-1 {
			return "" // meant as a list or a map
		}
		return "a plain value cannot begin with " + string(c)
	case strings.Contains(value, ": ") || strings.Contains(value, ":\t") || strings.HasSuffix(value, ":"):
		return "a plain value cannot contain a colon followed by a space"
	case strings.Contains(value, ":\n") || strings.Contains(value, ":\r\n"):
		return "a plain value cannot contain a colon at the end of a line"
	}
	return ""
}

// SingleQuoted is a text as a quoted YAML value.
func SingleQuoted(s string) string {
	if !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	if !strings.ContainsAny(s, "\"\\") {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// quoted is the raw text with the quotes applied.
func (fm *Frontmatter) quoted(quotes []Quote) string {
	var b strings.Builder
	last := 0
	for _, q := range quotes {
		b.WriteString(fm.Raw[last : q.Start-fm.start])
		b.WriteString(q.Quoted)
		last = q.End - fm.start
	}
	b.WriteString(fm.Raw[last:])
	return b.String()
}
