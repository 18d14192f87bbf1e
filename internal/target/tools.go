package target

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// tool is a server's tool as cases use it.
type tool struct {
	name         string
	takesProject bool
}

// bind finds the server's tool for each name that cases use. Without a
// prefix in the settings it finds the one that serves all of them, if there is
// one: ask_docs is crypto_ask_docs on a server whose tools all start so.
func (m *MCP) bind(wanted []string, offered []mcpclient.Tool) error {
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
		} else if _, exact := byName[name]; exact && m.Tools.Prefix == "" {
			server = name
		}
		t, ok := byName[server]
		if !ok {
			missing.What = append(missing.What, missingTool(server, names))
			continue
		}
		m.tools[name] = tool{t.Name, takesProject(t.InputSchema)}
	}
	if len(missing.What) > 0 {
		return missing
	}
	return nil
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
// wanted name an offered one. It gives "" when the names serve as they are or
// no such prefix, or more than one, exists.
func commonPrefix(wanted, offered []string) string {
	var found []string
	for i, w := range wanted {
		if w == "" || slices.Contains(offered, w) {
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
