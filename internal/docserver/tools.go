package docserver

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Schemas of what the tools give as structured content.
var (
	//go:embed answer.schema.json
	answerSchema []byte
	//go:embed projects.schema.json
	projectsSchema []byte
)

// tool is one tool of the server. It is called with arguments that were checked,
// of a project that exists.
type tool struct {
	name, title, doc string
	args             []argument
	call             func(context.Context, *answerer, values) (*answer, error)
}

// Bounds of numbers in arguments.
var (
	tokenBounds = bounds{least: 1, most: 32_000, usual: 4_000}
	limitBounds = bounds{least: 1, most: 50, usual: 10}
)

// tools lists the tools that answer from pages, by the names and with the
// arguments of the evaluation plan.
func tools(prefix string) []tool {
	project := argument{name: "project", required: true, doc: "name of a project; " + prefix + "list_projects lists them"}
	maxTokens := argument{name: "maxTokens", number: &tokenBounds, doc: "about how many tokens the answer may have"}
	return []tool{
		{
			name: "ask_docs", title: "Ask the documentation",
			doc: "Answer a question about a project from its documentation: the passages that fit best, word for word, with their sources.",
			args: []argument{
				{name: "question", required: true, doc: "what you want to know, in plain words"}, project, maxTokens,
			},
			call: func(ctx context.Context, a *answerer, v values) (*answer, error) {
				return a.ask(ctx, v.texts["question"], v.texts["project"], v.numbers["maxTokens"])
			},
		}, {
			name: "get_working_example", title: "Get a code example",
			doc: "Find code for a task in a project's documentation: the blocks that fit best, with their language and source.",
			args: []argument{
				{name: "task", required: true, doc: "what the code should do"}, project, maxTokens,
			},
			call: func(ctx context.Context, a *answerer, v values) (*answer, error) {
				return a.example(ctx, v.texts["task"], v.texts["project"], v.numbers["maxTokens"])
			},
		}, {
			name: "explain_error", title: "Explain an error",
			doc: "Explain an error message from the troubleshooting sections of a project's documentation.",
			args: []argument{
				{name: "error", required: true, doc: "the error message, as it was shown"},
				project,
				{name: "context", doc: "what was being done when it came up"},
				{name: "codeSnippet", doc: "the code that gave the error"},
				maxTokens,
			},
			call: func(ctx context.Context, a *answerer, v values) (*answer, error) {
				hint := v.texts["context"] + "\n" + v.texts["codeSnippet"]
				return a.explain(ctx, v.texts["error"], hint, v.texts["project"], v.numbers["maxTokens"])
			},
		}, {
			name: "search_docs", title: "Search the documentation",
			doc: "Search a project's documentation and list the passages that match, best first.",
			args: []argument{
				{name: "query", required: true, doc: "words to look for"},
				project,
				{name: "limit", number: &limitBounds, doc: "how many results to give at most"},
				{name: "contentType", enum: []string{typeProse, typeCode, typeReference}, doc: "give only passages of this type"},
			},
			call: func(ctx context.Context, a *answerer, v values) (*answer, error) {
				return a.search(ctx, v.texts["query"], v.texts["project"], v.numbers["limit"], v.texts["contentType"])
			},
		},
	}
}

// addTools registers the tools with the SDK's server. Its typed handlers are
// not used: what they say about a wrong argument names a schema's keyword, and
// not what would be right.
func (s *Server) addTools() {
	for _, t := range tools(s.opts.Prefix) {
		s.mcp.AddTool(&mcp.Tool{
			Name: s.opts.Prefix + t.name, Title: t.title, Description: t.doc, Annotations: readOnly(t.title),
			InputSchema: inputSchema(t.args), OutputSchema: json.RawMessage(answerSchema),
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.call(ctx, &t, req.Params.Arguments), nil
		})
	}
	const title = "List the projects"
	s.mcp.AddTool(&mcp.Tool{
		Name: s.opts.Prefix + "list_projects", Title: title, Description: "List the projects there is documentation for.",
		Annotations: readOnly(title), InputSchema: inputSchema(nil), OutputSchema: json.RawMessage(projectsSchema),
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.listProjects(), nil
	})
}

func readOnly(title string) *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
}

// call answers one call. Whatever is wrong with it is told as a result with the
// error flag, so that a model can mend its call.
func (s *Server) call(ctx context.Context, t *tool, raw json.RawMessage) *mcp.CallToolResult {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, err := readArguments(raw, t.args)
	if name := v.texts["project"]; name != "" {
		if p := s.index.project(name); p != nil {
			v.texts["project"] = p.name
		} else {
			err = errors.Join(err, fmt.Errorf("there is no project %q", clip(name)))
		}
	}
	if err != nil {
		return failed(fmt.Errorf("%s%s: %w\nprojects: %s", s.opts.Prefix, t.name, err, strings.Join(s.index.names(), ", ")))
	}
	ans, err := t.call(ctx, &answerer{index: s.index, prefix: s.opts.Prefix, now: s.opts.Now}, v)
	if err != nil {
		return failed(err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: ans.render()}}, StructuredContent: ans}
}

func failed(err error) *mcp.CallToolResult {
	res := new(mcp.CallToolResult)
	res.SetError(err)
	return res
}

// projectList is the structured content of list_projects.
type projectList struct {
	Projects []Project `json:"projects"`
}

func (s *Server) listProjects() *mcp.CallToolResult {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := projectList{s.index.Projects()}
	var b strings.Builder
	b.WriteString("# Projects\n\n")
	for _, p := range list.Projects {
		fmt.Fprintf(&b, "- %s (pages: %d, passages: %d)\n", p.Name, p.Pages, p.Passages)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: b.String()}}, StructuredContent: list}
}
