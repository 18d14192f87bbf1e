package mcpclient

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/secret"
)

// Tool is one entry of tools/list. Schemas are as the server sent them, nil if
// it sent none.
type Tool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               Annotations
	Raw                       json.RawMessage
}

// Annotations are a server's hints about a tool; nil means that it says nothing.
type Annotations struct {
	Title                                        string
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// maxPages bounds a list that never ends.
const maxPages = 1000

// Tools asks the server for all pages of its tools, in its order. Oddities
// that do not keep the list from being read are in [Info.Findings].
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	began := now()
	ctx, cancel := c.tasks.bound(ctx, c.cfg.Timeouts.List)
	defer cancel()
	var list toolList
	attempts, f := c.attempt(ctx, nil, func(l *link) *fault {
		// A new link may page differently, so every attempt starts anew.
		list = toolList{secrets: c.secrets.echoes, strict: isModern(l.hello.ProtocolVersion) && l.transport != TransportStdio}
		return c.readPages(ctx, l, &list)
	})
	if f != nil {
		return nil, c.secrets.newError(OpList, "tools", attempts, f)
	}
	list.sum = list.hash()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = list
	c.listTime = now().Sub(began)
	return list.tools, nil
}

// readPages follows the cursors. One that has been seen before leads nowhere
// new: the list ends there, with a finding.
func (c *Client) readPages(ctx context.Context, l *link, list *toolList) *fault {
	seen := map[string]bool{}
	var cursor []byte
	for range maxPages {
		params := listParams(l.meta, cursor)
		rep, f := l.conn.rpc(ctx, &request{id: c.ids.Add(1), method: methodListTools, params: params})
		if f != nil {
			return f
		}
		cursor = list.addPage(rep.result)
		if cursor == nil {
			return nil
		}
		if seen[string(cursor)] {
			list.find("tools/list repeats the cursor %s", c.secrets.excerpt(string(cursor), 80))
			return nil
		}
		seen[string(cursor)] = true
	}
	return protocolFault("tools/list has more than %d pages", maxPages)
}

func listParams(meta, cursor []byte) []byte {
	var parts [][]byte
	if meta != nil {
		parts = append(parts, append([]byte(`"_meta":`), meta...))
	}
	if cursor != nil {
		parts = append(parts, append([]byte(`"cursor":`), cursor...))
	}
	return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
}

// A toolList grows page by page.
type toolList struct {
	tools    []Tool
	names    map[string]bool
	marks    map[string][]mark
	findings []string
	sum      string // the hash, once the list is complete
	secrets  *secret.Redactor
	strict   bool // drop tools whose header marks are invalid
}

func (l *toolList) find(format string, args ...any) {
	l.findings = addFinding(l.findings, format, args...)
}

// addPage reads one page and returns the cursor of the next, nil at the end.
// An empty string is a cursor like any other.
func (l *toolList) addPage(raw []byte) (cursor []byte) {
	var tools []byte
	fields(raw, func(key string, value []byte) {
		switch key {
		case "tools":
			tools, _ = l.secrets.Answer(value)
		case "nextCursor":
			if string(value) != "null" {
				cursor = value
			}
		}
	})
	if !elements(tools, l.addTool) {
		l.find("tools is %s", insteadOf("an array", tools))
	}
	return cursor
}

func (l *toolList) addTool(raw []byte) {
	t := parseTool(raw)
	if t.Name == "" {
		l.find("a tool has no name")
		return
	}
	if l.names[t.Name] {
		l.find("the tool %q is listed twice", t.Name)
		return
	}
	if l.names == nil {
		l.names, l.marks = map[string]bool{}, map[string][]mark{}
	}
	l.names[t.Name] = true
	marks, err := paramMarks(t.InputSchema)
	if err != nil && l.strict {
		l.find("the tool %q is left out: %v", t.Name, err)
		return
	}
	if len(marks) > 0 {
		l.marks[t.Name] = marks
	}
	if len(t.InputSchema) == 0 || t.InputSchema[0] != '{' {
		l.find("the inputSchema of %q is %s", t.Name, insteadOf("an object", t.InputSchema))
	}
	l.tools = append(l.tools, t)
}

func parseTool(raw []byte) Tool {
	t := Tool{Raw: raw}
	fields(raw, func(key string, value []byte) {
		switch key {
		case "name":
			t.Name = unquote(value)
		case "title":
			t.Title = unquote(value)
		case "description":
			t.Description = unquote(value)
		case "inputSchema":
			t.InputSchema = value
		case "outputSchema":
			t.OutputSchema = value
		case "annotations":
			t.Annotations = parseAnnotations(value)
		}
	})
	return t
}

func parseAnnotations(raw []byte) (a Annotations) {
	hint := func(value []byte) *bool {
		if s := string(value); s == "true" || s == "false" {
			b := s == "true"
			return &b
		}
		return nil
	}
	fields(raw, func(key string, value []byte) {
		switch key {
		case "title":
			a.Title = unquote(value)
		case "readOnlyHint":
			a.ReadOnly = hint(value)
		case "destructiveHint":
			a.Destructive = hint(value)
		case "idempotentHint":
			a.Idempotent = hint(value)
		case "openWorldHint":
			a.OpenWorld = hint(value)
		}
	})
	return a
}

// hash identifies the list: the same tools give the same hash, in whatever
// order they and their keys come.
func (l *toolList) hash() string {
	if l.tools == nil {
		return ""
	}
	sorted := slices.SortedFunc(slices.Values(l.tools), func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	sum := sha256.New()
	for _, t := range sorted {
		var value any
		dec := json.NewDecoder(bytes.NewReader(t.Raw))
		dec.UseNumber()
		if dec.Decode(&value) == nil {
			_ = json.NewEncoder(sum).Encode(value)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
