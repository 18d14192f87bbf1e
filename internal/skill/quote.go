package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

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
		if closed := flowEnd(fm.Raw[start:]); closed > 0 && isYAML(fm.Raw[start:start+closed]) {
			for i+1 < len(lines) && offset < start+closed {
				i++
				offset += len(lines[i])
			}
			continue // a list or a map, whatever is wrong elsewhere
		}
		if why := whyQuote(text); why != "" && !isYAML(key+": "+text) && !fm.anchors(text) {
			quotes = append(quotes, Quote{
				Key: key, Start: fm.start + start, End: fm.start + end, Why: why,
				Quoted: SingleQuoted(text), Doubtful: holdsKey(text),
			})
		}
	}
	return quotes
}

// isYAML reports whether a text is YAML by itself.
func isYAML(text string) bool {
	var n yaml.Node
	return decode(text, &n) == nil
}

// anchors reports whether a value that begins with * stands for one that is given a name elsewhere.
func (fm *Frontmatter) anchors(value string) bool {
	name, isAlias := strings.CutPrefix(value, "*")
	name, _, _ = strings.Cut(name, " ")
	return isAlias && name != "" && strings.Contains(fm.Raw, "&"+name)
}

// flowEnd is the end of the list or map in brackets that a text begins with, 0 when it begins with none or the brackets
// do not close. What follows on the line must be blank or a comment.
func flowEnd(text string) int {
	if text[0] != '[' && text[0] != '{' {
		return 0
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth > 0 {
				continue
			}
			rest, _, _ := strings.Cut(text[i+1:], "\n")
			if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
				return 0
			}
			return i + 1
		case '"', '\'':
			if end := quotedEnd(text[i:]); end > 0 {
				i += end - 1
			}
		}
	}
	return 0
}

// quotedEnd is the end of the quoted text that a text begins with, 0 when it does not end.
func quotedEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return 0
}

// commonKeys are keys that frontmatter has, those of the specification and of clients. One of them inside of a value is
// perhaps a key whose line end was lost.
var commonKeys = [...]string{
	"name", "description", "license", "compatibility", "metadata", "allowed-tools", "version", "author", "tags", "category", "model", "tools",
	"triggers", "language", "homepage", "argument-hint", "disable-model-invocation", "user-invocable", "context", "agent", "hooks", "effort",
	"keywords", "risk", "source", "type", "date", "status", "dependencies", "repository",
}

// holdsKey reports whether a value may have swallowed another key: a line of it is one, or a common one stands in it.
func holdsKey(value string) bool {
	for i, line := range strings.Split(value, "\n") {
		if key, _, ok := splitKey(strings.TrimSpace(line) + " "); ok && i > 0 && strings.ToLower(key) == key {
			return true
		}
	}
	for _, key := range commonKeys {
		for rest := value; ; {
			before, after, ok := strings.Cut(rest, key+":")
			if !ok {
				break
			}
			n := len(before)
			inWord := n > 0 && (isLetterASCII(before[n-1]) || before[n-1] == '-' || before[n-1] == '_')
			if !inWord || len(key) > 6 { // "type" ends other words, "description" none
				return true
			}
			rest = after
		}
	}
	return false
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
