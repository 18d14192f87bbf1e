package target

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/jsonschema"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// tool is a server's tool as cases use it.
type tool struct {
	name          string
	takesProject  bool
	input, output *jsonschema.Schema // nil where the server states none that can be used
}

// bind finds the server's tool for each name that cases use, and checks the
// arguments of the cases. A name may be the server's own or one without its
// prefix. Without a prefix in the settings it finds the one that serves all
// short names, if there is one: ask_docs is crypto_ask_docs on a server whose
// tools all start so.
func (m *MCP) bind(cases []*eval.Case, offered []mcpclient.Tool) error {
	var wanted []string
	for _, c := range cases {
		if !slices.Contains(wanted, c.Tool) {
			wanted = append(wanted, c.Tool)
		}
	}
	byName := make(map[string]mcpclient.Tool, len(offered))
	var names []string
	for _, t := range offered {
		byName[t.Name] = t
		names = append(names, t.Name)
	}
	prefix := m.Tools.Prefix
	if prefix == "" && len(m.Tools.Map) == 0 {
		if prefix = commonPrefix(wanted, names); prefix != "" {
			m.note = fmt.Sprintf("prefix %s, found on the server", prefix)
		}
	}
	m.tools = make(map[string]tool, len(wanted))
	missing := &eval.Missing{}
	for _, name := range wanted {
		server := prefix + name
		if mapped, ok := m.Tools.Map[name]; ok {
			server = mapped
		} else if _, long := byName[server]; !long || m.Tools.Prefix == "" {
			if _, exact := byName[name]; exact {
				server = name
			}
		}
		t, ok := byName[server]
		if !ok {
			missing.What = append(missing.What, missingTool(server, names))
			continue
		}
		m.tools[name] = tool{t.Name, takesProject(t.InputSchema), m.compile(t.Name, "inputSchema", t.InputSchema), m.compile(t.Name, "outputSchema", t.OutputSchema)}
	}
	for _, c := range cases {
		if t, ok := m.tools[c.Tool]; ok && !expectsError(c.Checks) {
			if err := t.check(c); err != nil {
				missing.What = append(missing.What, err.Error())
			}
		}
	}
	if len(missing.What) > 0 {
		return missing
	}
	return nil
}

// compile makes a schema of the server ready. One that cannot be used is noted:
// nothing is checked by it.
func (m *MCP) compile(tool, which string, raw json.RawMessage) *jsonschema.Schema {
	if len(raw) == 0 {
		return nil
	}
	s, err := jsonschema.Compile(raw)
	if err != nil {
		m.unusable = append(m.unusable, fmt.Sprintf("%s of %s: %s", which, tool, err))
		return nil
	}
	return s
}

// check holds a case's arguments against what the tool takes.
func (t tool) check(c *eval.Case) error {
	if t.input == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(t.arguments(c), &v); err != nil {
		return fmt.Errorf("%s: the input of %s: %w", c.Pos, c.ID, err)
	}
	if err := t.input.Validate(v); err != nil {
		return fmt.Errorf("%s: the input of %s is not what the tool %s takes: %w; if that is the point of the test, add an is_error check", c.Pos, c.ID, t.name, err)
	}
	return nil
}

// expectsError tells whether a case has a check, be it inside another, that asks
// for an error: its arguments may be wrong on purpose.
func expectsError(checks []*eval.Check) bool {
	return slices.ContainsFunc(checks, func(c *eval.Check) bool {
		if c.Implicit {
			return false
		}
		held, _ := c.Grader.(interface{ Held() []*eval.Check })
		return c.Kind == "is_error" && !c.Not || c.Kind == "not_error" && c.Not || held != nil && expectsError(held.Held())
	})
}

// judge notes how a result differs from what the tool promises.
func (t tool) judge(r *eval.Response) {
	if t.output == nil || r.IsError {
		return
	}
	if len(r.Structured) == 0 {
		r.Notes = append(r.Notes, "the result has no structuredContent, and the tool has an outputSchema")
		return
	}
	var v any
	err := json.Unmarshal(r.Structured, &v)
	if err == nil {
		err = t.output.Validate(v)
	}
	if err != nil {
		r.Notes = append(r.Notes, "structuredContent violates the tool's outputSchema: "+err.Error())
	}
}

func missingTool(name string, offered []string) string {
	text := fmt.Sprintf("the server has no tool %q", name)
	if near := kind.Near(name, offered); near != "" {
		return text + fmt.Sprintf(" (did you mean %q?)", near)
	}
	var ending []string
	for _, o := range offered {
		if strings.HasSuffix(o, name) || strings.HasSuffix(name, o) {
			ending = append(ending, o)
		}
	}
	if len(ending) > 0 {
		return text + fmt.Sprintf(" (did you mean %q? set tools.prefix or tools.map)", ending[0])
	}
	if len(offered) == 0 {
		return text + ": it lists no tools at all"
	}
	const shown = 12
	list := slices.Sorted(slices.Values(offered))
	for i := range list {
		list[i] = strconv.Quote(list[i])
	}
	if len(list) > shown {
		list = append(list[:shown:shown], "…")
	}
	return text + "; it has " + strings.Join(list, ", ")
}

// commonPrefix gives the one prefix, ending in a separator, that makes every
// wanted name an offered one that is not one already. It gives "" when the names
// serve as they are or no such prefix, or more than one, exists.
func commonPrefix(wanted, offered []string) string {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return slices.Contains(offered, w) })
	var found []string
	for i, w := range wanted {
		if w == "" {
			return ""
		}
		var here []string
		for _, o := range offered {
			p, ok := strings.CutSuffix(o, w)
			if ok && p != "" && strings.ContainsRune("_-./", rune(p[len(p)-1])) {
				here = append(here, p)
			}
		}
		if i == 0 {
			found = here
			continue
		}
		found = slices.DeleteFunc(found, func(p string) bool { return !slices.Contains(here, p) })
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// takesProject tells whether a tool's schema has a project argument, or says
// nothing about its arguments.
func takesProject(schema json.RawMessage) bool {
	var s struct {
		Properties           map[string]json.RawMessage `json:"properties"`
		AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return true
	}
	if _, ok := s.Properties["project"]; ok {
		return true
	}
	return len(s.Properties) == 0 && string(s.AdditionalProperties) != "false"
}

// arguments are the case's input, with the case's project where the tool
// takes one and the input does not say.
func (t tool) arguments(c *eval.Case) json.RawMessage {
	input := c.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if c.Project == "" || !t.takesProject || bytes.Contains(input, []byte(`"project"`)) && hasProject(input) {
		return input
	}
	project, _ := json.Marshal(c.Project)
	out := bytes.TrimSuffix(bytes.TrimSpace(input), []byte("}"))
	out = append(make([]byte, 0, len(input)+len(project)+16), out...)
	if len(bytes.TrimSpace(out)) > 1 {
		out = append(out, ',')
	}
	return append(append(append(out, `"project":`...), project...), '}')
}

func hasProject(input json.RawMessage) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(input, &m) != nil {
		return true
	}
	_, ok := m["project"]
	return ok
}
