package docserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/docserver"
)

// TestTools looks at the list of tools as a client gets it.
func TestTools(t *testing.T) {
	client := connect(t, serve(t, pages(), nil))
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range list.Tools {
		args, required := argumentsOf(t, tool)
		got = append(got, fmt.Sprintf("%s(%s) needs %s", tool.Name, strings.Join(args, ", "), strings.Join(required, ", ")))
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint || !a.IdempotentHint || *a.DestructiveHint || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if tool.Description == "" || tool.Title == "" || tool.OutputSchema == nil {
			t.Errorf("%s: no description, title or output schema", tool.Name)
		}
	}
	want := []string{
		"crypto_ask_docs(maxTokens, project, question) needs project, question",
		"crypto_explain_error(codeSnippet, context, error, maxTokens, project) needs error, project",
		"crypto_get_working_example(maxTokens, project, task) needs project, task",
		"crypto_list_projects() needs ",
		"crypto_search_docs(contentType, limit, project, query) needs project, query",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func argumentsOf(t *testing.T, tool *mcp.Tool) (args, required []string) {
	t.Helper()
	var schema struct {
		Properties map[string]struct{ Description string }
		Required   []string
	}
	if err := remarshal(tool.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	for name, p := range schema.Properties {
		args = append(args, name)
		if p.Description == "" {
			t.Errorf("%s: %s has no description", tool.Name, name)
		}
	}
	slices.Sort(args)
	slices.Sort(schema.Required)
	return args, schema.Required
}

// compile compiles a schema of a tool.
func compile(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	b, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// someCalls are calls of every tool, one with an answer and one without.
func someCalls() []mcp.CallToolParams {
	return []mcp.CallToolParams{
		{Name: "crypto_list_projects"},
		{Name: "crypto_list_projects", Arguments: map[string]any{}},
		{Name: "crypto_ask_docs", Arguments: map[string]any{"question": "How do I mount the anvil?", "project": "acme"}},
		{Name: "crypto_ask_docs", Arguments: map[string]any{"question": "Why is the sky blue?", "project": "acme"}},
		{Name: "crypto_get_working_example", Arguments: map[string]any{"task": "mount the anvil", "project": "acme", "maxTokens": 100}},
		{Name: "crypto_get_working_example", Arguments: map[string]any{"task": "boil an egg", "project": "acme"}},
		{Name: "crypto_explain_error", Arguments: map[string]any{"error": "anvil error: 0x1", "project": "acme", "context": "hammering"}},
		{Name: "crypto_explain_error", Arguments: map[string]any{"error": "Segmentation fault", "project": "acme"}},
		{Name: "crypto_search_docs", Arguments: map[string]any{"query": "bolts", "project": "acme", "limit": 2}},
		{Name: "crypto_search_docs", Arguments: map[string]any{"query": "penguins", "project": "acme", "contentType": "code"}},
	}
}

// TestStructuredContent holds what tools give against the schema they announce.
func TestStructuredContent(t *testing.T) {
	client := connect(t, serve(t, pages(), nil))
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range list.Tools {
		schemas[tool.Name] = compile(t, tool.OutputSchema)
		input := compile(t, tool.InputSchema)
		for _, c := range someCalls() {
			if args, ok := c.Arguments.(map[string]any); ok && c.Name == tool.Name {
				if err := input.Validate(jsonValue(t, args)); err != nil {
					t.Errorf("%s: arguments: %v", c.Name, err)
				}
			}
		}
	}
	for _, c := range someCalls() {
		res := result(t, client, c.Name, c.Arguments)
		if res.IsError {
			t.Fatalf("%s: %s", c.Name, text(res))
		}
		if err := schemas[c.Name].Validate(jsonValue(t, res.StructuredContent)); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if c.Name == "crypto_list_projects" {
			if want := "# Projects\n\n- acme (pages: 2, passages: 3)\n- zenith (pages: 1, passages: 1)\n"; text(res) != want {
				t.Errorf("%q, want %q", text(res), want)
			}
			continue
		}
		var out answer
		if err := remarshal(res.StructuredContent, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text(res), out.Text+"\n\n---\n\n<response_metadata>\n") {
			t.Errorf("%s: the text and the structured content differ: %q", c.Name, out.Text)
		}
		if strings.Contains(text(res), "lamp") || strings.Contains(strings.ToLower(text(res)), "zenith") {
			t.Errorf("%s: an answer about acme has something of zenith:\n%s", c.Name, text(res))
		}
	}
}

func jsonValue(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSameOnEveryWire makes the same calls over HTTP and stdio, in every
// version of the protocol, and wants the same bytes.
func TestSameOnEveryWire(t *testing.T) {
	s := newServer(t, pages(), nil)
	url := serve(t, pages(), nil)
	var want []string
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		for wire, session := range map[string]*mcp.ClientSession{
			"http":  connectAs(t, version, &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}),
			"stdio": connectAs(t, version, stdio(t, s)),
		} {
			var got []string
			for _, c := range someCalls() {
				got = append(got, text(result(t, session, c.Name, c.Arguments)))
			}
			if want == nil {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", version, wire, diff)
			}
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_docs"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
				t.Errorf("%s, %s: a tool that is not there: %v", version, wire, err)
			}
		}
	}
}

func connectAs(t *testing.T, version string, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("%s: %v", version, err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// stdio runs a server at the other end of two pipes.
func stdio(t *testing.T, s *docserver.Server) mcp.Transport {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- s.RunStdio(context.Background(), fromClient, toClient)
		_ = toClient.Close()
	}()
	t.Cleanup(func() {
		_ = toServer.Close() // as a client that goes away does
		if err := <-done; err != nil {
			t.Errorf("stdio: %v", err)
		}
	})
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
}

// TestStdioEnds wants the server to end without an error when it is told to.
func TestStdioEnds(t *testing.T) {
	s := newServer(t, pages(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe() // nobody ever writes
	done := make(chan error, 1)
	go func() { done <- s.RunStdio(ctx, in, io.Discard) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestManyCalls asks from many sides at once while the pages are replaced.
func TestManyCalls(t *testing.T) {
	s := newServer(t, builtin.Docs, nil)
	client := connectAs(t, "2025-11-25", stdio(t, s))
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for range 2 {
				project := []string{"mina", "solana", "cosmos"}[i%3]
				res, err := client.CallTool(t.Context(), &mcp.CallToolParams{
					Name: "crypto_ask_docs", Arguments: map[string]any{"question": "How do I test and deploy?", "project": project},
				})
				if err != nil || res.IsError {
					t.Errorf("%v, %+v", err, res)
				}
			}
		})
	}
	wg.Go(func() {
		for range 2 {
			if err := s.Replace(load(t, builtin.Docs)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

func TestPrefix(t *testing.T) {
	for prefix, ok := range map[string]bool{"": true, "my_": true, "a.b-c": true, "my docs": false, "é": false, strings.Repeat("a", 65): false} {
		o := docserver.Options{Prefix: prefix}
		if err := o.Check(); (err == nil) != ok {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}
