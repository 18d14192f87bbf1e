package lint

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/skill"
)

var frontmatterBlank = Rule{
	ID: "frontmatter-blank", Family: "frontmatter", Severity: Error, Fixes: true,
	Doc:     "Blank lines stand in front of the frontmatter.",
	Explain: "Strict readers, the reference validator among them, take frontmatter only from the very first line and see none here.",
	check: func(p *pass) {
		if fm := &p.Frontmatter; fm.Blank && !p.Facts.Fenced {
			start, _ := p.Bounds(1)
			p.line(fm.Line, replace(start, p.Offset(fm.Line, 1), "", "delete the blank lines"),
				"the frontmatter must begin on the first line")
		}
	},
}

var frontmatterBOM = Rule{
	ID: "frontmatter-bom", Family: "frontmatter", Severity: Error, Fixes: true,
	Doc:     "The file begins with a byte order mark.",
	Explain: "Readers that look for --- at the first byte, the reference validator among them, find the mark instead and see no frontmatter. UTF-8 needs none.",
	check: func(p *pass) {
		if p.Facts.BOM {
			p.file(replace(0, len("\ufeff"), "", "delete the byte order mark"), "the file begins with a byte order mark")
		}
	},
}

var frontmatterClaude = Rule{
	ID: "frontmatter-claude", Family: "frontmatter", Severity: Error, Profiles: []string{ClaudeCode},
	Doc:     "A key of Claude Code has a value it does not take.",
	Explain: "disable-model-invocation and user-invocable are booleans, context can only be fork, effort is low, medium, high, xhigh or max. A skill that neither the user nor the model may invoke can never run.",
	check:   checkClaudeValues,
}

func checkClaudeValues(p *pass) {
	for _, key := range []string{"disable-model-invocation", "user-invocable"} {
		if f, ok := p.Frontmatter.Get(key); ok && f.Kind() != "boolean" {
			p.field(f, nil, "%s is a %s, want true or false", key, f.Kind())
		}
	}
	if f, ok := p.Frontmatter.Get("context"); ok && f.Text() != "fork" {
		p.field(f, nil, "context is %q, the only value it takes is fork", skill.Shorten(f.Text(), 40))
	}
	if f, ok := p.Frontmatter.Get("agent"); ok && p.Frontmatter.Text("context") != "fork" {
		p.key(f, nil, "agent has no effect without context: fork")
	}
	efforts := []string{"low", "medium", "high", "xhigh", "max"}
	if f, ok := p.Frontmatter.Get("effort"); ok && !slices.Contains(efforts, f.Text()) {
		p.field(f, nil, "effort is %q, want one of %s", skill.Shorten(f.Text(), 40), strings.Join(efforts, ", "))
	}
	if f, ok := p.Frontmatter.Get("hooks"); ok && f.Kind() != "map" {
		p.field(f, nil, "hooks is a %s, want a map", f.Kind())
	}
	if f, ok := p.Frontmatter.Get("user-invocable"); ok && f.Text() == "false" && p.Frontmatter.Text("disable-model-invocation") == "true" {
		p.key(f, nil, "neither the user nor the model may invoke this skill")
	}
	if f, ok := p.Frontmatter.Get("argument-hint"); ok && p.Frontmatter.Text("user-invocable") == "false" {
		p.key(f, nil, "argument-hint has no effect: the user may not invoke this skill")
	}
}

var frontmatterAlias = Rule{
	ID: "frontmatter-alias", Family: "frontmatter", Severity: Error,
	Doc:     "The frontmatter has an anchor or an alias of YAML.",
	Explain: "&name gives a value a name and *name repeats it. The reference validator refuses both, and few clients resolve them. Write the value out.",
	check: func(p *pass) {
		for i := range p.Frontmatter.Fields {
			f := &p.Frontmatter.Fields[i]
			if name := aliasIn(f.Node, 0); (name != "" || f.Key == "<<") && !p.full() {
				p.key(f, nil, "the value of %s has an anchor or an alias (%s); write it out", skill.Shorten(f.Key, 60), skill.Shorten(name, 40))
			}
		}
	},
}

// aliasIn is the first anchor or alias in a value, as it is written.
func aliasIn(n *yaml.Node, depth int) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "*" + n.Value
	case n.Anchor != "":
		return "&" + n.Anchor
	case depth > 100:
		return ""
	}
	for _, c := range n.Content {
		if name := aliasIn(c, depth+1); name != "" {
			return name
		}
	}
	return ""
}

var frontmatterSecond = Rule{
	ID: "frontmatter-second", Family: "frontmatter", Severity: Warning,
	Doc:     "A second frontmatter stands in the body.",
	Explain: "Clients read the first only; the second is text, and its last line a heading. Mostly two files were joined, or a tool put its own in front. Keep one.",
	check: func(p *pass) {
		if from, to, ok := p.secondFrontmatter(); ok {
			p.line(from, nil, "a second frontmatter, which ends on line %d and which no client reads", to)
		}
	},
}

// secondFrontmatter finds a block of keys between two lines --- in the body, name or description among them.
func (p *pass) secondFrontmatter() (from, to int, ok bool) {
	if p.second == nil {
		p.second = new([2]int)
		*p.second = p.findSecond()
	}
	return p.second[0], p.second[1], p.second[0] > 0
}

func (p *pass) findSecond() [2]int {
	start := 0 // line of the last delimiter, 0 when what follows it is not all keys
	known := false
	for n := p.BodyLine(); n <= p.Lines(); n++ {
		line := strings.TrimRight(p.Line(n), " \t")
		key, _, isKey := strings.Cut(line, ":")
		switch {
		case line == "---" && start > 0 && known:
			return [2]int{start, n}
		case line == "---" && !p.inBlock(n):
			start, known = n, false
		case start > 0 && isKey && key != "" && !strings.ContainsAny(key, " \t#*>|`[("):
			known = known || key == "name" || key == "description"
		case start > 0 && known && (line == "" || line[0] == ' ' || line[0] == '-'):
		default:
			start = 0
		}
	}
	return [2]int{}
}

var frontmatterSmartQuotes = Rule{
	ID: "frontmatter-smart-quotes", Family: "frontmatter", Severity: Warning, Fixes: true,
	Doc:     "A value stands in typographic quotes.",
	Explain: "YAML knows \" and ' only. Curly quotes are part of the value: a name has characters it may not have, and a colon inside is not protected.",
	check: func(p *pass) {
		for i := range p.Frontmatter.Fields {
			f := &p.Frontmatter.Fields[i]
			inner, ok := smartQuoted(f.Node.Value)
			if f.Node.Kind != yaml.ScalarNode || f.Node.Style != 0 || !ok {
				continue
			}
			start := p.Offset(f.ValueLine, f.ValCol)
			var fix *Fix
			if strings.HasPrefix(p.Text[start:], f.Node.Value) && inner != "" {
				fix = replace(start, start+len(f.Node.Value), skill.SingleQuoted(inner), "use plain quotes")
			}
			p.field(f, fix, "the value of %s stands in typographic quotes, which YAML does not know", skill.Shorten(f.Key, 60))
		}
	},
}

// smartQuoted takes typographic quotes off a text.
func smartQuoted(s string) (inner string, ok bool) {
	for _, q := range [...][2]string{{"“", "”"}, {"‘", "’"}, {"„", "“"}, {"«", "»"}, {"”", "”"}} {
		rest, begins := strings.CutPrefix(s, q[0])
		inner, ends := strings.CutSuffix(rest, q[1])
		if begins && ends && !strings.Contains(inner, q[0]) && !strings.Contains(inner, q[1]) {
			return inner, true
		}
	}
	return "", false
}

var frontmatterArguments = Rule{
	ID: "frontmatter-arguments", Family: "frontmatter", Severity: Info, Profiles: []string{ClaudeCode},
	Doc:     "The skill takes arguments and does not say which.",
	Explain: "Claude Code puts what the user types behind the name of the skill in the place of $ARGUMENTS. argument-hint is shown while typing, and says what is expected: [issue-number].",
	check: func(p *pass) {
		at := strings.Index(p.Body(), "$ARGUMENTS")
		if _, ok := p.Frontmatter.Get("argument-hint"); ok || at < 0 || !p.Frontmatter.Readable() || p.Frontmatter.Text("user-invocable") == "false" {
			return
		}
		at += p.BodyStart
		p.at(at, at+len("$ARGUMENTS"), nil, "the skill takes arguments, but has no argument-hint")
	},
}

var frontmatterCompatibility = Rule{
	ID: "frontmatter-compatibility", Family: "frontmatter", Severity: Error,
	Doc:     "compatibility is not a text of 1 to 500 characters.",
	Explain: "The field is one string for people and agents to read: required tools, versions, network access.",
	check: func(p *pass) {
		f, ok := p.Frontmatter.Get("compatibility")
		if !ok {
			return
		}
		switch n := utf8.RuneCountInString(f.Text()); {
		case f.Kind() == "map" || f.Kind() == "list":
			p.field(f, nil, "compatibility is a %s, want a string", f.Kind())
		case strings.TrimSpace(f.Text()) == "":
			p.key(f, nil, "compatibility is empty; leave it out when there are no requirements")
		case n > 500:
			p.field(f, nil, "compatibility has %d characters, at most 500 are allowed", n)
		}
	},
}

var frontmatterCut = Rule{
	ID: "frontmatter-cut", Family: "frontmatter", Severity: Warning, Fixes: true,
	Doc:     "A value is cut off by a # after a space.",
	Explain: "YAML reads a # after a space as the beginning of a comment, so the rest of the line is lost without a word. Quote the value, or move the comment to its own line.",
	check: func(p *pass) {
		for i := range p.Frontmatter.Fields {
			checkCut(p, &p.Frontmatter.Fields[i])
		}
	},
}

func checkCut(p *pass, f *skill.Field) {
	if f.Node.Kind != yaml.ScalarNode || f.Node.Style != 0 || f.Node.LineComment == "" || f.Line != f.ValueLine {
		return
	}
	if strings.Contains(f.Node.LineComment, ignoreWord) || len(p.Frontmatter.Quotes) > 0 {
		return
	}
	start := p.Offset(f.ValueLine, f.ValCol)
	_, end := p.Bounds(f.ValueLine)
	text := strings.TrimRight(p.Text[start:max(end, start)], " \t")
	// A comment on a short value is a comment; a sentence that breaks off is not.
	if !strings.Contains(f.Node.Value, " ") {
		return
	}
	p.field(f, replace(start, start+len(text), skill.SingleQuoted(text), "quote the value"),
		"the value of %s ends before %q, which YAML takes for a comment", f.Key, skill.Shorten(f.Node.LineComment, 40))
}

var frontmatterDuplicate = Rule{
	ID: "frontmatter-duplicate", Family: "frontmatter", Severity: Error,
	Doc:     "A key stands twice in the frontmatter.",
	Explain: "YAML forbids it; some readers take the first, some the last, some neither.",
	check: func(p *pass) {
		seen := map[string]int{}
		for i := range p.Frontmatter.Fields {
			f := &p.Frontmatter.Fields[i]
			if line, ok := seen[f.Key]; ok {
				p.key(f, nil, "key %q is already given on line %d", f.Key, line)
				continue
			}
			seen[f.Key] = f.Line
		}
	},
}

var frontmatterFenced = Rule{
	ID: "frontmatter-fenced", Family: "frontmatter", Severity: Error, Fixes: true,
	Doc:     "The whole file stands inside a code fence.",
	Explain: "The file begins with ``` instead of ---, so no reader finds its frontmatter. It was probably pasted from a chat.",
	check: func(p *pass) {
		if !p.Facts.Fenced {
			return
		}
		line := p.LineAt(p.BodyEnd)
		from, _ := p.Bounds(1)
		first := strings.IndexByte(p.Text[from:], '\n')
		fix := &Fix{Message: "delete the fence", Edits: []Edit{{Start: from, End: from + first + 1}, {Start: p.BodyEnd, End: len(p.Text)}}}
		if strings.TrimSpace(p.Text[from:from+max(first, 0)]) == "" {
			fix = nil // blank lines in front; which to delete is the reader's choice
		}
		p.line(1, fix, "the whole file stands in a code fence that ends on line %d", line)
	},
}

var frontmatterKey = Rule{
	ID: "frontmatter-key", Family: "frontmatter", Severity: Error,
	Doc:     "The frontmatter has a key that the profile does not know.",
	Explain: "The specification has six keys: name, description, license, compatibility, metadata and allowed-tools. Clients have more of their own; choose their profile, or put the value under metadata, which is free.",
	check: func(p *pass) {
		for i := range p.Frontmatter.Fields {
			f := &p.Frontmatter.Fields[i]
			if slices.Contains(p.profile.keys, f.Key) {
				continue
			}
			hint := didYouMean(f.Key, p.profile.keys)
			if hint == "" && slices.Contains(claudeKeys, f.Key) {
				hint = " (a key of Claude Code: see profile claude-code)"
			} else if hint == "" {
				hint = "; a key of one's own belongs under metadata"
			}
			p.key(f, nil, "unknown key %q%s", skill.Shorten(f.Key, 60), hint)
		}
	},
}

var frontmatterLanguage = Rule{
	ID: "frontmatter-language", Family: "frontmatter", Severity: Error, Profiles: []string{LangChain},
	Doc:     "The language of the skill is not given.",
	Explain: "LangChain skills come in one file per language and say in language which it is: js or python.",
	check: func(p *pass) {
		f, ok := p.Frontmatter.Get("language")
		switch {
		case !p.Frontmatter.Readable():
		case !ok:
			p.line(p.Frontmatter.Line, nil, "the frontmatter has no language")
		case f.Text() != "js" && f.Text() != "python":
			p.field(f, nil, "language is %q, want js or python", skill.Shorten(f.Text(), 40))
		}
	},
}

var frontmatterLicense = Rule{
	ID: "frontmatter-license", Family: "frontmatter", Severity: Warning,
	Doc:     "license is not a string.",
	Explain: "The field is the name of a licence or of a file bundled with the skill.",
	check: func(p *pass) {
		if f, ok := p.Frontmatter.Get("license"); ok && (f.Kind() == "map" || f.Kind() == "list" || f.Kind() == "null") {
			p.key(f, nil, "license is a %s, want a string", f.Kind())
		}
	},
}

var frontmatterMap = Rule{
	ID: "frontmatter-map", Family: "frontmatter", Severity: Error,
	Doc:     "The frontmatter is not a map of keys to values.",
	Explain: "Each line must be key: value, with name and description among them.",
	check: func(p *pass) {
		if fm := &p.Frontmatter; fm.Closed && fm.Err == nil && !fm.Map {
			p.line(fm.Line+1, nil, "the frontmatter is not a map of keys to values")
		}
	},
}

var frontmatterMetadata = Rule{
	ID: "frontmatter-metadata", Family: "frontmatter", Severity: Warning,
	Doc:     "metadata is not a map of strings to strings.",
	Explain: "The specification allows strings only. Nested maps and lists are lost or rejected by readers that keep to it; numbers and dates need quotes.",
	check:   checkMetadata,
}

func checkMetadata(p *pass) {
	f, ok := p.Frontmatter.Get("metadata")
	if !ok {
		return
	}
	m := skill.Resolve(f.Node)
	if m.Kind != yaml.MappingNode {
		p.key(f, nil, "metadata is a %s, want a map", f.Kind())
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		v := skill.Field{Key: key.Value, Node: value}
		if v.Kind() == "string" {
			continue
		}
		start := p.Offset(key.Line+p.Frontmatter.Line, key.Column)
		p.at(start, start+len(key.Value), nil, "metadata.%s is a %s, want a string", skill.Shorten(key.Value, 40), v.Kind())
	}
}

var frontmatterMissing = Rule{
	ID: "frontmatter-missing", Family: "frontmatter", Severity: Error,
	Doc:     "The file has no frontmatter.",
	Explain: "A skill begins with a block of YAML between two lines ---, with at least name and description. Without it no client can list the skill.",
	check: func(p *pass) {
		if !p.Frontmatter.Present {
			p.line(1, nil, "the file does not begin with frontmatter (---)")
		}
	},
}

var frontmatterQuote = Rule{
	ID: "frontmatter-quote", Family: "frontmatter", Severity: Error, Fixes: true,
	Doc:     "A value must be quoted to be YAML.",
	Explain: "An unquoted value must not contain a colon followed by a space, nor begin with a character YAML uses itself. Lenient clients guess what is meant; strict ones do not load the skill.",
	check: func(p *pass) {
		for _, q := range p.Frontmatter.Quotes {
			fix := replace(q.Start, q.End, q.Quoted, "quote the value")
			if q.Doubtful {
				fix = nil
			}
			p.at(q.Start, q.End, fix, "the value of %s must be quoted: %s", q.Key, q.Why)
		}
	},
}

var frontmatterScalar = Rule{
	ID: "frontmatter-scalar", Family: "frontmatter", Severity: Warning, Fixes: true,
	Doc:     "A text value is read as a number, a boolean or a date.",
	Explain: "YAML gives 1.10, on or 2026-01-01 a type of their own, and readers that expect text see something else or fail. Quote the value.",
	check: func(p *pass) {
		for _, key := range []string{"name", "description", "license", "compatibility"} {
			f, ok := p.Frontmatter.Get(key)
			if !ok || f.Node.Kind != yaml.ScalarNode || f.Kind() == "string" || f.Kind() == "null" {
				continue
			}
			start := p.Offset(f.ValueLine, f.ValCol)
			end := start + len(f.Node.Value)
			var fix *Fix
			if end <= len(p.Text) && p.Text[start:end] == f.Node.Value {
				fix = replace(start, end, skill.SingleQuoted(f.Node.Value), "quote the value")
			}
			p.field(f, fix, "%s is read as a %s; quote it", key, f.Kind())
		}
	},
}

var frontmatterUnclosed = Rule{
	ID: "frontmatter-unclosed", Family: "frontmatter", Severity: Error,
	Doc:     "The frontmatter is never closed.",
	Explain: "The block that begins with --- must end with a line ---; without it the whole file is neither YAML nor Markdown.",
	check: func(p *pass) {
		if fm := &p.Frontmatter; fm.Present && !fm.Closed {
			p.line(fm.Line, nil, "the frontmatter is not closed by a line ---")
		}
	},
}

var frontmatterYAML = Rule{
	ID: "frontmatter-yaml", Family: "frontmatter", Severity: Error,
	Doc:     "The frontmatter is not valid YAML.",
	Explain: "Clients skip a skill whose frontmatter they cannot read. Look for wrong indentation, unclosed quotes and brackets, tabs, and merge conflict markers.",
	check: func(p *pass) {
		if m := p.Frontmatter.Err; m != nil {
			start := p.Offset(m.Line, m.Col)
			_, end := p.Bounds(min(m.Line, p.Lines()))
			p.at(start, end, nil, "the frontmatter is not YAML: %s", skill.Shorten(m.Message, 200))
		}
	},
}
