package probe

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// Scaffold is a suite file in the making: one case a tool, with example
// arguments. At most one case is active, of a tool that says it only reads;
// all others are commented out, so that nothing is called by accident.
//
// Names and texts of the server end up quoted or in comments, one line each,
// whatever they hold.
type Scaffold struct {
	Server string    // what the server calls itself
	Target []Setting // the suite's target; none leaves it to the command line
	Notes  []string  // comments under the head
	Tools  []mcpclient.Tool
}

// Setting is one setting of a target: its value is a string, a list of
// strings or further settings.
type Setting struct {
	Name  string
	Value any
}

// maxCases bounds a suite file.
const maxCases = 500

// maxLabel is the longest name a suite file can hold.
const maxLabel = 200

// YAML writes the suite. It is always one that loads: where no tool can be
// called without a second thought, the one active case names a tool that the
// server does not have, so that a run stops before it asks anything.
func (s *Scaffold) YAML() []byte {
	w := &yamlWriter{}
	cases := s.cases()
	active := slices.IndexFunc(cases, func(c scaffoldCase) bool { return c.safe && len(c.arguments) == 0 })
	if active < 0 { // its arguments are made up, but they will do
		active = slices.IndexFunc(cases, func(c scaffoldCase) bool { return c.safe })
	}
	s.head(w, active >= 0, len(cases))
	w.line("tests:")
	if active >= 0 {
		cases[active].write(w)
		cases = slices.Delete(cases, active, active+1)
	} else {
		s.stop(w)
	}
	w.commented = true
	for _, c := range cases {
		c.write(w)
	}
	return append(bytes.TrimRight(w.Bytes(), "\n"), '\n')
}

func (s *Scaffold) head(w *yamlWriter, active bool, cases int) {
	server := label(s.Server)
	w.line("# Cases for %s, from its list of tools. Each tool has a case with made-up", server)
	w.line("# arguments: put in questions that matter to you, and checks that their answers must pass.")
	if active {
		w.line("# All cases but the first are commented out, so that nothing is called by accident; the")
		w.line("# first is of a tool that says of itself that it only reads. To run a case, take away the")
		w.line("# \"# \" in front of its lines.")
	} else {
		w.line("# All cases are commented out, so that nothing is called by accident: no tool says of")
		w.line("# itself that it only reads. To run a case, take away the \"# \" in front of its lines, and")
		w.line("# delete the first case, which stops every run.")
	}
	if left := len(s.Tools) - cases; left > 0 {
		w.line("# Left out: %d tools, past the first %d or with names that a suite cannot hold.", left, maxCases)
	}
	for _, n := range s.Notes {
		w.line("# %s", oneLine(n, 300))
	}
	w.line("name: %s", scalar(server))
	if len(s.Target) > 0 {
		w.line("target:")
		w.settings("  ", s.Target)
	}
}

// stop writes the case that keeps a run from starting.
func (s *Scaffold) stop(w *yamlWriter) {
	name := "uncomment_a_case_first"
	taken := func(t mcpclient.Tool) bool { return strings.HasSuffix(t.Name, name) }
	for slices.ContainsFunc(s.Tools, taken) {
		name += "_" // prefixes are found by the ends of names
	}
	w.line("  - id: %s", scalar(stopID))
	w.line("    tool: %s # the server has no such tool: a run says so and asks nothing", scalar(name))
	w.line("    input: {}")
	w.expected()
}

const stopID = "uncomment-a-case-first"

// scaffoldCase is one tool's case.
type scaffoldCase struct {
	id, tool, about string
	arguments       []member
	optional        []string
	safe            bool
}

func (s *Scaffold) cases() (cases []scaffoldCase) {
	ids := map[string]bool{stopID: true}
	for _, t := range s.Tools {
		if len(cases) == maxCases || len(t.Name) > maxLabel || strings.TrimSpace(t.Name) == "" {
			continue
		}
		c := scaffoldCase{id: uniqueID(ids, t.Name), tool: t.Name, about: oneLine(t.Description, 100), safe: safe(t)}
		if schema, err := parseValue(t.InputSchema); err == nil {
			c.arguments, c.optional = exampleArguments(schema), optional(schema)
		}
		cases = append(cases, c)
	}
	return cases
}

// safe tells a tool that says it only reads, and whose name speaks neither of
// writing nor of what had better not end up in a report.
func safe(t mcpclient.Tool) bool {
	a := t.Annotations
	if a.ReadOnly == nil || !*a.ReadOnly || a.Destructive != nil && *a.Destructive || soundsLikeWrite(t.Name) {
		return false
	}
	private := []string{"credential", "credentials", "env", "environment", "key", "keys", "password", "passwords", "secret", "secrets", "token", "tokens"}
	return !slices.ContainsFunc(nameWords(t.Name), func(w string) bool { return slices.Contains(private, w) })
}

func uniqueID(taken map[string]bool, name string) string {
	id := strings.Map(func(r rune) rune {
		if isNameRune(r) && r != '_' && r != '.' {
			return unicode.ToLower(r)
		}
		return '-'
	}, name)
	id = strings.Trim(id[:min(len(id), 80)], "-")
	if id == "" {
		id = "tool"
	}
	unique := id
	for n := 2; taken[unique]; n++ {
		unique = id + "-" + strconv.Itoa(n)
	}
	taken[unique] = true
	return unique
}

// write writes the case. Its comments stand behind what they are about, so
// that the lines of all cases can be taken out of comments alike.
func (c *scaffoldCase) write(w *yamlWriter) {
	w.line("  - id: %s", scalar(c.id))
	if c.about != "" {
		w.line("    description: %s", quoted(c.about))
	}
	w.line("    tool: %s", scalar(c.tool))
	input := "input:"
	if len(c.arguments) == 0 {
		input += " {}"
	}
	if len(c.optional) > 0 {
		input += " # it also takes: " + oneLine(listed(c.optional), 300)
	}
	w.line("    %s", input)
	for _, m := range c.arguments {
		w.line("      %s: %s", scalar(m.name), flow(m.value))
	}
	w.expected()
}

// yamlWriter writes lines, commented out on demand.
type yamlWriter struct {
	bytes.Buffer
	commented bool
}

// line writes a line of the suite. What is commented out comes back in its
// place when "# " is taken away.
func (w *yamlWriter) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if w.commented {
		text = "  # " + strings.TrimPrefix(text, "  ")
	}
	w.WriteString(text + "\n")
}

func (w *yamlWriter) expected() {
	w.line("    expected:")
	w.line("      validations:")
	w.line("        - type: not_empty")
	w.WriteByte('\n')
}

func (w *yamlWriter) settings(indent string, list []Setting) {
	for _, s := range list {
		switch v := s.Value.(type) {
		case string:
			w.line("%s%s: %s", indent, scalar(s.Name), scalar(v))
		case []string:
			var words []string
			for _, word := range v {
				words = append(words, quoted(word))
			}
			w.line("%s%s: [%s]", indent, scalar(s.Name), strings.Join(words, ", "))
		case []Setting:
			w.line("%s%s:", indent, scalar(s.Name))
			w.settings(indent+"  ", v)
		}
	}
}

// flow writes a value on one line, as JSON that is also YAML.
func flow(v *value) string {
	switch v.kind {
	case isString:
		return quoted(v.text)
	case isNumber:
		if _, ok := v.number(); !ok { // beyond what YAML takes for a number
			return "1"
		}
		return v.text
	case isBool:
		return v.text
	case isArray:
		var items []string
		for _, item := range v.items {
			items = append(items, flow(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case isObject:
		var members []string
		seen := map[string]bool{}
		for _, m := range v.members {
			if name := quoted(m.name); !seen[name] && len(name) <= exampleName {
				seen[name] = true
				members = append(members, name+": "+flow(m.value))
			}
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return "null"
}

// scalar writes a string, bare where nothing in it could mean anything.
func scalar(s string) string {
	plain := s != "" && len(s) <= maxLabel && unicode.IsLetter(rune(s[0]))
	for _, r := range s {
		plain = plain && isNameRune(r) && r != '.'
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		plain = false
	}
	if plain {
		return s
	}
	return quoted(s)
}

// quoted writes a string in double quotes, all that is not plainly printable
// as an escape.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// oneLine is foreign text as part of a comment: printable, on one line, and
// no longer than limit characters.
func oneLine(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }) {
		for i, r := range word {
			if n >= limit {
				return b.String() + "…"
			}
			if i == 0 && b.Len() > 0 {
				b.WriteByte(' ')
				n++
			}
			b.WriteRune(r)
			n++
		}
	}
	return b.String()
}

// label is foreign text that a suite takes for a name.
func label(s string) string {
	if s = oneLine(s, 100); s == "" {
		return "the server"
	}
	return s
}
