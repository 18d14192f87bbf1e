package docserver

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWrongArguments lists what callers are told: what is wrong, and what would
// be right.
func TestWrongArguments(t *testing.T) {
	s := testServer(t, fstest.MapFS{
		"acme/a.md":   {Data: []byte("# Anvils\n\nAn anvil.\n")},
		"zenith/a.md": {Data: []byte("# Lamps\n\nA lamp.\n")},
	})
	const projects = "projects: acme, zenith"
	for _, tc := range []struct {
		name, tool, args string
		want             []string // lines
	}{
		{"nothing", "ask_docs", ``, []string{
			"my_ask_docs: question is missing: what you want to know, in plain words",
			"project is missing: name of a project; my_list_projects lists them", projects,
		}},
		{"null", "ask_docs", `null`, []string{
			"my_ask_docs: question is missing: what you want to know, in plain words",
			"project is missing: name of a project; my_list_projects lists them", projects,
		}},
		{"no object", "ask_docs", `["x"]`, []string{
			"my_ask_docs: the arguments are not a JSON object; give question, project and, if you like, maxTokens", projects,
		}},
		{"misspelt", "search_docs", `{"question": "x", "project": "acme"}`, []string{
			"my_search_docs: query is missing: words to look for",
			`there is no argument "question"; give query, project and, if you like, limit, contentType`, projects,
		}},
		{"null values", "get_working_example", `{"task": null, "project": null}`, []string{
			"my_get_working_example: task is missing: what the code should do",
			"project is missing: name of a project; my_list_projects lists them", projects,
		}},
		{"empty", "explain_error", `{"error": " \n", "project": "acme"}`, []string{
			"my_explain_error: error is empty: the error message, as it was shown", projects,
		}},
		{"types", "ask_docs", `{"question": 7, "project": ["acme"], "maxTokens": "100"}`, []string{
			"my_ask_docs: question is 7, want a string: what you want to know, in plain words",
			`project is ["acme"], want a string: name of a project; my_list_projects lists them`,
			`maxTokens is "100", want a whole number from 1 to 32000`, projects,
		}},
		{"project", "ask_docs", `{"question": "x", "project": "ethereum"}`, []string{
			`my_ask_docs: there is no project "ethereum"`, projects,
		}},
		{"limit", "search_docs", `{"query": "x", "project": "acme", "limit": 51}`, []string{
			"my_search_docs: limit is 51, want a whole number from 1 to 50", projects,
		}},
		{"fraction", "search_docs", `{"query": "x", "project": "acme", "limit": 1.5}`, []string{
			"my_search_docs: limit is 1.5, want a whole number from 1 to 50", projects,
		}},
		{"content type", "search_docs", `{"query": "x", "project": "acme", "contentType": "video"}`, []string{
			`my_search_docs: contentType is "video", want one of prose, code, api-reference`, projects,
		}},
		{"too long", "ask_docs", `{"question": "` + strings.Repeat("x", 20_001) + `", "project": "acme"}`, []string{
			"my_ask_docs: question has 20001 bytes, want 20000 at most", projects,
		}},
		{"long project", "ask_docs", `{"question": "x", "project": "` + strings.Repeat("é", 200) + `"}`, []string{
			`my_ask_docs: there is no project "` + strings.Repeat("é", 100) + `…"`, projects,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, tool := range tools("my_") {
				if tool.name != tc.tool {
					continue
				}
				res := s.call(context.Background(), &tool, []byte(tc.args))
				if !res.IsError || res.StructuredContent != nil {
					t.Fatalf("no error: %+v", res)
				}
				if diff := cmp.Diff(strings.Join(tc.want, "\n"), res.GetError().Error()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				return
			}
			t.Fatalf("there is no tool %s", tc.tool)
		})
	}
}

// TestAcceptedArguments has what is not wrong: numbers with a point, nulls for
// what may be left out, arguments of other servers.
func TestAcceptedArguments(t *testing.T) {
	s := testServer(t, fstest.MapFS{"acme/a.md": {Data: []byte("# Anvils\n\nAn anvil.\n")}})
	for _, call := range []string{
		`{"tool": "ask_docs", "question": "anvil", "project": "acme", "maxTokens": 100.0}`,
		`{"tool": "ask_docs", "question": "anvil", "project": "ACME", "maxTokens": null, "conversation": {"id": 1}}`,
		`{"tool": "search_docs", "query": "anvil", "project": " acme ", "contentType": ""}`,
		`{"tool": "explain_error", "error": "anvil", "project": "acme", "context": null, "codeSnippet": ""}`,
	} {
		if ans := answerTo(t, s, []byte(call)); ans.Confidence != 100 {
			t.Errorf("%s: %+v", call, ans)
		}
	}
}

// FuzzCall sends arguments of any form to a tool: each is answered or refused,
// in a text that keeps its form.
func FuzzCall(f *testing.F) {
	for _, s := range []string{
		``, `null`, `[]`, `{"question": "anvil", "project": "acme"}`, `{"question": "\" OR * NEAR(", "project": "acme"}`,
		`{"question": "### Sources <response_metadata> ` + "`" + `", "project": "acme", "maxTokens": 3}`, `{"question": "\u0000\ufffd", "project": "ACME"}`,
	} {
		f.Add(s)
	}
	ix, _, err := Load(context.Background(), fstest.MapFS{"acme/a.md": {Data: []byte("# Anvils\n\nAn anvil NEAR an or.\n")}})
	if err != nil {
		f.Fatal(err)
	}
	s := New(ix, Options{Now: func() time.Time { return time.Unix(1, 0) }})
	f.Fuzz(func(t *testing.T, args string) {
		for _, tool := range tools("") {
			res := s.call(context.Background(), &tool, []byte(args))
			ans, ok := res.StructuredContent.(*answer)
			if res.IsError == ok {
				t.Fatalf("%s: neither answered nor refused: %+v", tool.name, res)
			}
			if !ok {
				if strings.Contains(res.GetError().Error(), "search the pages") {
					t.Errorf("%s: %v", tool.name, res.GetError())
				}
				continue
			}
			text := ans.render()
			for _, part := range []string{"\n<response_metadata>\n", "\n</response_metadata>\n", "\n### Sources\n"} {
				if strings.Count(text, strings.TrimSpace(part)) != 1 || !strings.Contains(text, part) {
					t.Errorf("%s: %q is not in the text once: %q", tool.name, part, text)
				}
			}
		}
	})
}
