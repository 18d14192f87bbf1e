package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

func rpcCode(err error) int64 {
	var rpc *mcpclient.RPCError
	if errors.As(err, &rpc) {
		return rpc.Code
	}
	return 0
}

// toolLimits are how many tools well-known clients take, of all servers
// together.
var toolLimits = []struct {
	tools int
	who   string
}{{40, "Cursor, in older versions"}, {80, "Cursor"}, {128, "VS Code and the OpenAI API"}}

func checkCount(s *subject) outcome {
	switch {
	case s.listErr != nil || s.broken != nil || s.offersNoTools():
		return skipped("there are no tools to count")
	case s.count == 0:
		o := passed("none")
		o.find(Warn, "", "the server declares tools but has none")
		return o
	}
	o := passed("%s", count(s.count, "tool"))
	for _, l := range slices.Backward(toolLimits) {
		if s.count > l.tools {
			o.find(Warn, "", "more than %d tools, the limit of %s for all servers together", l.tools, l.who)
			break
		}
	}
	if s.count > MaxTools {
		o.find(Warn, "", "only the first %d tools were looked at", MaxTools)
	}
	return o
}

// maxTokens is the size of a tool list from which on it crowds out the work:
// clients start to leave tools out or to load them late.
const maxTokens = 10_000

func checkSize(s *subject) outcome {
	l := s.list()
	o := passed("%d bytes, about %d tokens (an estimate: 4 characters a token)", l.Bytes, l.Tokens)
	if l.Tokens <= maxTokens {
		return o
	}
	o.find(Warn, "", "more than %d tokens are taken before the first question", maxTokens)
	largest := slices.MaxFunc(l.Tools, func(a, b Tool) int { return a.Tokens - b.Tokens })
	o.find(Warn, largest.Name, "about %d tokens, the most of all tools", largest.Tokens)
	return o
}

func checkNames(s *subject) outcome {
	o := passed("every name is 1 to 128 letters, digits, _ - or .")
	for _, t := range s.tools {
		if level, text := nameProblem(t.Name); level != Pass {
			o.summary = "names that clients refuse"
			o.find(level, t.Name, "%s", text)
		}
	}
	return o
}

// maxDescription is what some model APIs take of a description; clients are
// known to cut off at twice that.
const maxDescription = 1024

func checkDescriptions(s *subject) outcome {
	o := passed("every tool has one of a bearable length")
	missing := 0
	for _, t := range s.tools {
		switch n := utf8.RuneCountInString(t.Description); {
		case strings.TrimSpace(t.Description) == "":
			missing++
			o.find(Warn, t.Name, "no description, so that a model has to guess from the name")
		case n > maxDescription:
			o.find(Warn, t.Name, "longer than %d characters, which some model APIs refuse and some clients cut off", maxDescription)
		}
	}
	var parts []string
	if missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s without one", missing, count(len(s.tools), "tool")))
	}
	if long := len(o.findings) - missing; long > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s with one that is too long", long, count(len(s.tools), "tool")))
	}
	return o.concluded(strings.Join(parts, ", "))
}

func checkParameters(s *subject) outcome {
	o := passed("every parameter is described")
	total, missing := 0, 0
	for _, t := range s.tools {
		var names []string
		for _, m := range t.input.get("properties").object() {
			total++
			if strings.TrimSpace(m.value.get("description").str()) == "" &&
				strings.TrimSpace(followed(t.input, m.value).get("description").str()) == "" {
				names = append(names, clip(m.name))
			}
		}
		if len(names) > 0 {
			missing += len(names)
			o.find(Warn, t.Name, "no description: %s", listed(names))
		}
	}
	switch {
	case total == 0:
		return skipped("no tool takes any")
	case missing > 0:
		o.summary = fmt.Sprintf("%d of %s without a description", missing, count(total, "parameter"))
	}
	return o
}

// listed is the first few of many names.
func listed(names []string) string {
	const shown = 8
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

func checkInput(s *subject) outcome {
	o := passed("every tool has a valid one")
	for _, t := range s.tools {
		if t.input == nil && t.inputErr == nil {
			o.find(Fail, t.Name, "no inputSchema: clients refuse the whole list")
			continue
		}
		if !o.readable(t.Name, t.input, t.inputErr) {
			continue
		}
		o.rootObject(t.Name, t.input, Fail)
		o.walked(t.Name, t.input)
		if composed(t.input) {
			o.find(Warn, t.Name, "anyOf, oneOf or allOf at the top, which some model APIs refuse")
		} else if names := undescribed(t.input); len(names) > 0 {
			o.find(Warn, t.Name, "required but not among the properties: %s", listed(names))
		}
	}
	return o.concluded("schemas that clients refuse or cannot use")
}

// undescribed lists the required properties that a schema says nothing about.
func undescribed(schema *value) (names []string) {
	known := map[string]bool{}
	for _, m := range schema.get("properties").object() {
		known[m.name] = true
	}
	for _, name := range schema.get("required").strings() {
		if !known[name] && schema.get("$ref") == nil {
			names = append(names, clip(name))
		}
	}
	return names
}

func checkOutput(s *subject) outcome {
	o := passed("every one is valid")
	have := 0
	for _, t := range s.tools {
		if t.output == nil && t.outputErr == nil {
			continue
		}
		have++
		if !o.readable(t.Name, t.output, t.outputErr) {
			continue
		}
		level := Fail
		if s.info.Era == mcpclient.EraModern { // which allows any value
			level = Warn
		}
		o.rootObject(t.Name, t.output, level)
		o.walked(t.Name, t.output)
	}
	if have == 0 {
		return skipped("no tool has one")
	}
	return o.concluded("schemas that clients refuse or cannot use")
}

// concluded puts another summary over an outcome with findings.
func (o outcome) concluded(summary string) outcome {
	if len(o.findings) > 0 {
		o.summary = summary
	}
	return o
}

// readable tells whether a schema could be read and is an object.
func (o *outcome) readable(tool string, schema *value, err error) bool {
	switch {
	case err != nil:
		o.find(Warn, tool, "the schema was not looked at: %v", err)
	case schema.kind != isObject:
		o.find(Fail, tool, "the schema is %s instead of an object: clients refuse the whole list", schema.kind)
	default:
		return true
	}
	return false
}

// rootObject makes sure that a schema is one of an object, which clients check
// before anything else.
func (o *outcome) rootObject(tool string, schema *value, level Status) {
	switch t := schema.get("type"); {
	case t == nil && len(schema.members) == 0:
		o.find(level, tool, `the schema is empty, without even "type": "object": clients refuse the whole list`)
	case t == nil:
		o.find(level, tool, `the schema has no "type": "object": clients refuse the whole list`)
	case t.kind == isString && t.text == "object":
	case t.kind == isString:
		o.find(level, tool, `the schema has type %q instead of "object": clients refuse the whole list`, clip(t.text))
	default:
		o.find(level, tool, `the schema has %s for its type instead of "object": clients refuse the whole list`, t.kind)
	}
}

// walked adds what is wrong inside a schema.
func (o *outcome) walked(tool string, schema *value) {
	if dialectOf(schema).year == 0 {
		return // nobody knows its rules; another check says so
	}
	w := walkSchema(schema)
	for _, p := range w.problems {
		o.find(Fail, tool, "not a valid schema: %s", p)
	}
	if len(w.outside) > 0 {
		o.find(Warn, tool, "refers to another schema (%s), which clients do not fetch", clip(w.outside[0]))
	}
}

// composed tells schemas whose properties stand in parts.
func composed(schema *value) bool {
	return schema.get("anyOf") != nil || schema.get("oneOf") != nil || schema.get("allOf") != nil
}

func checkDialect(s *subject) outcome {
	o := passed("2020-12, the protocol's own")
	for _, t := range s.tools {
		for _, schema := range []*value{t.input, t.output} {
			d := dialectOf(schema)
			if v := schema.get("$schema"); v != nil && v.kind != isString {
				o.find(Fail, t.Name, "$schema is %s instead of a string", v.kind)
			} else if d.year == 0 {
				o.find(Fail, t.Name, "$schema is %q, which is no dialect of JSON Schema", clip(d.name))
			} else if d.year != 2020 {
				o.find(Warn, t.Name, "$schema says %s, but some clients know 2020-12 only", d.name)
			}
		}
	}
	o.findings = slices.Compact(o.findings) // input and output of a tool say the same
	return o.concluded("not every client knows the dialect")
}

func checkAnnotations(s *subject) outcome {
	o := passed("tools that sound like changing something say so")
	for _, t := range s.tools {
		reads, destroys := t.Annotations.ReadOnly, t.Annotations.Destructive
		switch writes := soundsLikeWrite(t.Name); {
		case reads != nil && *reads && destroys != nil && *destroys:
			o.find(Warn, t.Name, "says that it only reads, and that it destroys")
		case writes && reads != nil && *reads:
			o.find(Warn, t.Name, "sounds like changing something, but says that it only reads")
		case writes && reads == nil && destroys == nil:
			o.find(Warn, t.Name, "sounds like changing something, but has neither readOnlyHint nor destructiveHint to tell clients when to ask")
		}
	}
	return o.concluded("what tools do to the world is not said")
}

func checkHidden(s *subject) outcome {
	o := passed("no characters that people do not see")
	if hasHidden(s.info.Instructions) {
		o.find(Warn, "", "the instructions have characters that people do not see and models do")
	}
	for _, t := range s.tools {
		visible := func(text string) bool { return !hasHidden(text) }
		if !visible(t.Name) || !visible(t.Title) || !visible(t.Description) || !t.input.each(visible) || !t.output.each(visible) {
			o.find(Warn, t.Name, "the tool has characters that people do not see and models do")
		}
	}
	return o.concluded("characters that people do not see")
}
