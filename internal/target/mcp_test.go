package target

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// recorder is a real MCP server that notes which tools are called with what.
type recorder struct {
	mu    sync.Mutex
	calls []string
	url   string
}

func (r *recorder) note(tool string, args json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, tool+" "+string(args))
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{}
	s := mcp.NewServer(&mcp.Implementation{Name: "recorder", Version: "1"}, nil)
	add := func(name, schema string, result func() *mcp.CallToolResult) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r.note(name, req.Params.Arguments)
			return result(), nil
		})
	}
	text := func(parts ...string) func() *mcp.CallToolResult {
		return func() *mcp.CallToolResult {
			res := &mcp.CallToolResult{}
			for _, p := range parts {
				res.Content = append(res.Content, &mcp.TextContent{Text: p})
			}
			return res
		}
	}
	withProject := `{"type":"object","properties":{"question":{"type":"string"},"project":{"type":"string"}}}`
	add("crypto_ask_docs", withProject, text("First.", "Second.\n<response_metadata>{\"confidence\": 9}</response_metadata>"))
	add("crypto_search_docs", `{"type":"object","properties":{"query":{"type":"string"}},"additionalProperties":false}`, func() *mcp.CallToolResult {
		return &mcp.CallToolResult{StructuredContent: map[string]any{"hits": []string{"a"}}}
	})
	add("crypto_fail", `{"type":"object"}`, func() *mcp.CallToolResult {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such project"}}}
	})
	add("crypto_delete_everything", `{"type":"object"}`, text("gone"))
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(srv.Close)
	r.url = srv.URL
	return r
}

func prepared(t *testing.T, m *MCP, cases ...*eval.Case) *MCP {
	t.Helper()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	if err := m.Prepare(t.Context(), nil, cases); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestOnlyToolsThatCasesNameAreCalled(t *testing.T) {
	r := newRecorder(t)
	ask := &eval.Case{ID: "a", Tool: "ask_docs", Project: "mina", Input: json.RawMessage(`{"question":"x"}`)}
	own := &eval.Case{ID: "b", Tool: "ask_docs", Project: "mina", Input: json.RawMessage(`{"question":"y","project":"solana"}`)}
	search := &eval.Case{ID: "c", Tool: "search_docs", Project: "mina", Input: json.RawMessage(`{"query":"z"}`)}
	m := prepared(t, &MCP{URL: r.url}, ask, own, search)
	for _, c := range []*eval.Case{ask, own, search} {
		if _, err := m.Respond(t.Context(), &eval.Attempt{Case: c}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`crypto_ask_docs {"question":"x","project":"mina"}`,
		`crypto_ask_docs {"question":"y","project":"solana"}`, // never overwritten
		`crypto_search_docs {"query":"z"}`,                    // takes no project
	}
	if diff := cmp.Diff(want, r.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if d := m.Describe(); d["server"] != "recorder 1" || !strings.Contains(d["tools"], "crypto_") {
		t.Errorf("described as %v", d)
	}
}

func TestEveryPartOfAnAnswerIsRead(t *testing.T) {
	r := newRecorder(t)
	ask, search, fail := &eval.Case{Tool: "ask_docs"}, &eval.Case{Tool: "search_docs"}, &eval.Case{Tool: "fail"}
	m := prepared(t, &MCP{URL: r.url, Tools: Tools{Prefix: "crypto_"}}, ask, search, fail)
	ignore := cmpopts.IgnoreFields(eval.Response{}, "Latency", "Steps", "Exchange")

	got, err := m.Respond(t.Context(), &eval.Attempt{Case: ask})
	if err != nil {
		t.Fatal(err)
	}
	want := &eval.Response{Text: "First.\nSecond.", Raw: "First.\nSecond.\n<response_metadata>{\"confidence\": 9}</response_metadata>", Meta: map[string]any{"confidence": 9.0}}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("text parts (-want +got):\n%s", diff)
	}
	if got.Latency <= 0 || !strings.Contains(string(got.Exchange.Response), "response_metadata") || !strings.Contains(string(got.Exchange.Request), "crypto_ask_docs") {
		t.Errorf("latency %s, exchange %+v", got.Latency, got.Exchange)
	}

	got, err = m.Respond(t.Context(), &eval.Attempt{Case: search})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Text, `"hits"`) || string(got.Structured) != `{"hits":["a"]}` {
		t.Errorf("structured content: text %q, structured %s", got.Text, got.Structured)
	}

	got, err = m.Respond(t.Context(), &eval.Attempt{Case: fail})
	if err != nil || !got.IsError || got.Text != "no such project" {
		t.Errorf("an error answer: %+v, %v", got, err)
	}
}

func TestMissingToolsAreNamedTogether(t *testing.T) {
	r := newRecorder(t)
	cases := []*eval.Case{{Tool: "ask_dcos"}, {Tool: "translate"}}
	for name, m := range map[string]*MCP{
		"with a prefix": {URL: r.url, Tools: Tools{Prefix: "crypto_"}},
		"mapped":        {URL: r.url, Tools: Tools{Map: map[string]string{"ask_dcos": "crypto_ask_dcos"}}},
	} {
		t.Run(name, func(t *testing.T) {
			err := m.Prepare(t.Context(), nil, cases)
			defer m.Close()
			var missing *eval.Missing
			if !errors.As(err, &missing) || len(missing.What) != 2 {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(missing.What[0], `did you mean "crypto_ask_docs"?`) || !strings.Contains(missing.What[1], "translate") {
				t.Errorf("told as %v", missing.What)
			}
		})
	}
	if len(r.calls) > 0 {
		t.Errorf("tools were called: %v", r.calls)
	}
}

func TestCommonPrefix(t *testing.T) {
	for _, tt := range []struct {
		name            string
		wanted, offered []string
		want            string
	}{
		{"all share one", []string{"ask", "find"}, []string{"x_ask", "x_find", "y_ask"}, "x_"},
		{"names serve as they are", []string{"ask"}, []string{"ask", "x_ask"}, ""},
		{"two would do", []string{"ask"}, []string{"x_ask", "y_ask"}, ""},
		{"none does", []string{"ask", "find"}, []string{"x_ask", "y_find"}, ""},
		{"no separator", []string{"ask"}, []string{"bask"}, ""},
		{"none wanted", nil, []string{"x_ask"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := commonPrefix(slices.Clone(tt.wanted), tt.offered); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		name, schema, input, want string
	}{
		{"added", `{"properties":{"project":{}}}`, `{"q":1}`, `{"q":1,"project":"mina"}`},
		{"added to nothing", `{"properties":{"project":{}}}`, ``, `{"project":"mina"}`},
		{"kept", `{"properties":{"project":{}}}`, `{"project":"x"}`, `{"project":"x"}`},
		{"a text that says project", `{"properties":{"project":{}}}`, `{"q":"the \"project\" word"}`, `{"q":"the \"project\" word","project":"mina"}`},
		{"a nested one does not count", `{"properties":{"project":{}}}`, `{"o":{"project":1}}`, `{"o":{"project":1},"project":"mina"}`},
		{"not taken", `{"properties":{"q":{}}}`, `{"q":1}`, `{"q":1}`},
		{"a schema that says nothing", `{"type":"object"}`, `{}`, `{"project":"mina"}`},
		{"a schema that allows nothing", `{"type":"object","additionalProperties":false}`, `{}`, `{}`},
		{"no schema", ``, `{}`, `{"project":"mina"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &eval.Case{Project: "mina", Input: json.RawMessage(tt.input)}
			got := tool{takesProject: takesProject(json.RawMessage(tt.schema))}.arguments(c)
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSettingsComeFromTheEnvironment(t *testing.T) {
	m := &MCP{URL: "http://${HOST}/mcp", Token: "${TOKEN}", Headers: map[string]string{"X-Key": "a-${KEY}-${KEY}", "Y": "${unclosed"}}
	env := map[string]string{"HOST": "h:1", "TOKEN": "t"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	err := m.Use(Supplies{Env: lookup})
	if err == nil || !strings.Contains(err.Error(), "KEY") || strings.Contains(err.Error(), "TOKEN") {
		t.Errorf("error %v", err)
	}
	var missing *eval.Missing
	if !errors.As(err, &missing) || len(missing.What) != 2 {
		t.Errorf("error %v, want what is missing", err)
	}
	if m.URL != "http://h:1/mcp" || m.Token != "t" || m.Headers["Y"] != "${unclosed" {
		t.Errorf("expanded to %+v", m)
	}
}

func TestContradictingSettings(t *testing.T) {
	for _, tt := range []struct {
		yaml, want string
	}{
		{"type: mcp\n", "1:1: the mcp target needs a url or a command"},
		{"type: mcp\nurl: http://x\ncommand: [y]\n", "3:10: the mcp target has both a url and a command"},
		{"type: mcp\nurl: ftp://x\n", "2:6: the server's url is not an http or https address"},
		{"type: mcp\ncommand: [y]\ntransport: sse\n", "3:12: transport sse needs a url, not a command"},
		{"type: mcp\nurl: http://x\ntransport: stdio\n", "3:12: transport stdio needs a command, not a url"},
		{"type: mcp\nurl: http://x\nenvelope: {pattern: '('}\n", "3:11: envelope.pattern does not compile"},
		{"type: mcp\nurl: http://x\nenvelope: {pattern: 'x'}\n", "3:11: envelope.pattern \"x\" has no group for the JSON"},
		{"type: mcp\nurl: http://x\nprotocol: \"1.0\"\n", "3:11: unknown protocol version \"1.0\", want one of "},
		{"type: mpc\n", "1:7: unknown target type \"mpc\" (did you mean \"mcp\"?)"},
		{"url: http://x\n", "1:1: the target has no type"},
		{"type: mcp\nurl: http://x\nretries: 99\n", "3:10: retries is 99, want 20 or less"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			d, root := kind.Parse("t.yaml", []byte(tt.yaml))
			if got := Decode(d, root); got != nil {
				t.Errorf("decoded as %+v", got)
			}
			if len(d.Problems) != 1 || !strings.HasPrefix(d.Problems[0].String(), "t.yaml:"+tt.want) {
				t.Errorf("problems %v", d.Problems)
			}
		})
	}
}

func TestTheExampleOfEachKindDecodes(t *testing.T) {
	for _, k := range Kinds {
		d, root := kind.Parse(k.Name, []byte(k.Example))
		if Decode(d, root) == nil {
			t.Errorf("%s: %v", k.Name, d.Problems)
		}
	}
}

// newSchemaServer is a server whose tool states what it takes and gives, and
// answers with structured content of the caller's choice.
func newSchemaServer(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "schemas", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{
		Name:         "docs_search",
		InputSchema:  json.RawMessage(`{"type":"object","required":["query"],"properties":{"query":{"type":"string"},"limit":{"type":"integer","maximum":10},"give":{}}}`),
		OutputSchema: json.RawMessage(`{"type":"object","required":["hits"],"properties":{"hits":{"type":"array"}}}`),
	}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args struct{ Give any }
		if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "found"}}, StructuredContent: args.Give}, nil
	})
	s.AddTool(&mcp.Tool{Name: "docs_odd", InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"pattern":"(?=x)"}}}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "odd"}}}, nil
		})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestArgumentsAreCheckedBeforeTheFirstCase(t *testing.T) {
	asked := func(id, input string, line int, checks ...*eval.Check) *eval.Case {
		return &eval.Case{ID: id, Tool: "search", Input: json.RawMessage(input), Checks: checks, Pos: eval.Pos{File: "docs.yaml", Line: line, Col: 5}}
	}
	wrong := []*eval.Case{
		asked("good", `{"query":"x","limit":3}`, 3),
		asked("missing", `{"question":"x"}`, 7),
		asked("type", `{"query":7}`, 11, &eval.Check{Kind: "not_error"}),
		asked("range", `{"query":"x","limit":99}`, 15, &eval.Check{Kind: "is_error", Implicit: true}),
		asked("on purpose", `{}`, 19, &eval.Check{Kind: "contains"}, &eval.Check{Kind: "is_error"}),
		asked("on purpose, inside", `{}`, 23, &eval.Check{Kind: "any", Grader: held{{Kind: "contains"}, {Kind: "not_error", Not: true}}}),
	}
	m := &MCP{URL: newSchemaServer(t)}
	err := m.Prepare(t.Context(), nil, wrong)
	t.Cleanup(func() { _ = m.Close() })
	var missing *eval.Missing
	if !errors.As(err, &missing) {
		t.Fatalf("error %v, want what is missing", err)
	}
	hint := "; if that is the point of the test, add an is_error check"
	want := []string{
		`docs.yaml:7:5: the input of missing is not what the tool docs_search takes: required: missing properties: ["query"]` + hint,
		`docs.yaml:11:5: the input of type is not what the tool docs_search takes: type: 7 has type "integer", want "string" (schema /properties/query)` + hint,
		`docs.yaml:15:5: the input of range is not what the tool docs_search takes: maximum: 99 is greater than 10 (schema /properties/limit)` + hint,
	}
	if diff := cmp.Diff(want, missing.What); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

// held is a check that holds others.
type held []*eval.Check

func (h held) Held() []*eval.Check { return h }

func (held) Grade(context.Context, *eval.Attempt) (eval.Score, error) {
	return eval.Score{}, errors.New("not asked")
}

func TestStructuredContentIsComparedWithItsSchema(t *testing.T) {
	give := func(v string) *eval.Case {
		return &eval.Case{Tool: "search", Input: json.RawMessage(`{"query":"x","give":` + v + `}`)}
	}
	odd := &eval.Case{Tool: "odd", Input: json.RawMessage(`{"q":"y"}`)}
	m := prepared(t, &MCP{URL: newSchemaServer(t)}, give("null"), odd)
	for v, want := range map[string][]string{
		`{"hits":[]}`:  nil,
		`{"hits":"a"}`: {`structuredContent violates the tool's outputSchema: type: a has type "string", want "array" (schema /properties/hits)`},
		"null":         {"the result has no structuredContent, and the tool has an outputSchema"},
	} {
		r, err := m.Respond(t.Context(), &eval.Attempt{Case: give(v)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Notes); diff != "" {
			t.Errorf("notes for %s (-want +got):\n%s", v, diff)
		}
	}
	if got := m.Describe()["schemas"]; !strings.Contains(got, "inputSchema of docs_odd") {
		t.Errorf("a schema that cannot be used is described as %q", got)
	}
}

func TestShortAndFullToolNames(t *testing.T) {
	r := newRecorder(t)
	for name, prefix := range map[string]string{"found": "", "set": "crypto_"} {
		t.Run(name, func(t *testing.T) {
			short := &eval.Case{Tool: "ask_docs", Input: json.RawMessage(`{}`)}
			full := &eval.Case{Tool: "crypto_search_docs", Input: json.RawMessage(`{}`)}
			m := prepared(t, &MCP{URL: r.url, Tools: Tools{Prefix: prefix}}, short, full)
			for _, c := range []*eval.Case{short, full} {
				if _, err := m.Respond(t.Context(), &eval.Attempt{Case: c}); err != nil {
					t.Errorf("%s: %v", c.Tool, err)
				}
			}
		})
	}
	want := []string{"crypto_ask_docs {}", "crypto_search_docs {}", "crypto_ask_docs {}", "crypto_search_docs {}"}
	if diff := cmp.Diff(want, r.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestRetriesAreTold has a server that breaks on every other call.
func TestRetriesAreTold(t *testing.T) {
	r := newRecorder(t)
	var calls atomic.Int64
	base, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(base)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if strings.Contains(string(body), "tools/call") && calls.Add(1)%2 == 1 {
			http.Error(w, "overloaded", http.StatusServiceUnavailable)
			return
		}
		req.Body = io.NopCloser(strings.NewReader(string(body)))
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	c := &eval.Case{Tool: "ask_docs", Input: json.RawMessage(`{}`)}
	m := prepared(t, &MCP{URL: srv.URL}, c)
	got, err := m.Respond(t.Context(), &eval.Attempt{Case: c})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"server answered 503 Service Unavailable"}; got.Attempts != 2 || !slices.Equal(got.Retries, want) {
		t.Errorf("%d attempts, retries %q, want 2 and %q", got.Attempts, got.Retries, want)
	}
	never := 0
	m = prepared(t, &MCP{URL: srv.URL, Retries: &never}, c)
	calls.Store(0)
	if _, err := m.Respond(t.Context(), &eval.Attempt{Case: c}); err == nil || eval.FaultOf(err).Attempts != 0 {
		t.Errorf("error %v of %d attempts", err, eval.FaultOf(err).Attempts)
	}
}
