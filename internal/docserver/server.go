package docserver

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options says how a [Server] presents itself.
type Options struct {
	Prefix  string // before each tool's name, such as crypto_
	Token   string // bearer token that requests must carry; "" for none
	Version string
	Now     func() time.Time
	Origins []string // further values of the Origin header that are let in
}

// Server answers MCP requests from an index, which can be replaced while it
// runs.
type Server struct {
	opts  Options
	index atomic.Pointer[Index]
	mcp   *mcp.Server
}

// Bounds of what a request may hold.
const (
	maxBody     = 1 << 20
	maxText     = 20_000
	maxLimit    = 50
	defaultHits = 10
)

// New makes a server that answers from ix.
func New(ix *Index, opts Options) *Server {
	s := &Server{opts: opts}
	s.index.Store(ix)
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "mettle-docs", Title: "mettle documentation server", Version: opts.Version}, &mcp.ServerOptions{
		Instructions: "Full-text retrieval over documentation pages. Answers quote the pages and cite them; nothing is made up.",
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.addTools()
	return s
}

// Replace answers from another index from now on. The old one is closed when
// the answers that still use it are done.
func (s *Server) Replace(ix *Index) {
	old := s.index.Swap(ix)
	time.AfterFunc(time.Minute, func() { _ = old.Close() })
}

type askInput struct {
	Question  string `json:"question" jsonschema:"the question, in plain words"`
	Project   string `json:"project" jsonschema:"project the question is about; list_projects names them"`
	MaxTokens int    `json:"maxTokens,omitempty" jsonschema:"about how long the answer may be; 4000 when left out"`
}

type exampleInput struct {
	Task      string `json:"task" jsonschema:"what the code should do"`
	Project   string `json:"project" jsonschema:"project the code is for; list_projects names them"`
	MaxTokens int    `json:"maxTokens,omitempty" jsonschema:"about how long the answer may be; 4000 when left out"`
}

type errorInput struct {
	Error       string `json:"error" jsonschema:"the error message"`
	Project     string `json:"project" jsonschema:"project the error comes from; list_projects names them"`
	Context     string `json:"context,omitempty" jsonschema:"what was being done"`
	CodeSnippet string `json:"codeSnippet,omitempty" jsonschema:"the code that gave the error"`
	MaxTokens   int    `json:"maxTokens,omitempty" jsonschema:"about how long the answer may be; 4000 when left out"`
}

type searchInput struct {
	Query       string `json:"query" jsonschema:"words to look for"`
	Project     string `json:"project" jsonschema:"project to search in; list_projects names them"`
	Limit       int    `json:"limit,omitempty" jsonschema:"most results to give, 1 to 50; 10 when left out"`
	ContentType string `json:"contentType,omitempty" jsonschema:"only passages of this type: prose, code or api-reference"`
}

// Project is what list_projects says about one project.
type Project struct {
	Name     string `json:"name"`
	Passages int    `json:"passages" jsonschema:"how many passages its pages were cut into"`
}

type projectsOutput struct {
	Projects []Project `json:"projects"`
}

func (s *Server) addTools() {
	addTool(s, "ask_docs", "Answer a question about a project from its documentation, with citations.",
		func(ctx context.Context, a *answerer, in askInput) (*Answer, error) {
			if err := s.check(in.Project, "question", in.Question); err != nil {
				return nil, err
			}
			return a.Ask(ctx, in.Question, in.Project, in.MaxTokens)
		})
	addTool(s, "get_working_example", "Find code examples for a task in a project's documentation.",
		func(ctx context.Context, a *answerer, in exampleInput) (*Answer, error) {
			if err := s.check(in.Project, "task", in.Task); err != nil {
				return nil, err
			}
			return a.Example(ctx, in.Task, in.Project, in.MaxTokens)
		})
	addTool(s, "explain_error", "Explain an error message from a project's troubleshooting documentation.",
		func(ctx context.Context, a *answerer, in errorInput) (*Answer, error) {
			if err := errors.Join(s.check(in.Project, "error", in.Error), tooLong("context", in.Context), tooLong("codeSnippet", in.CodeSnippet)); err != nil {
				return nil, err
			}
			return a.Explain(ctx, in.Error, in.Context, in.CodeSnippet, in.Project, in.MaxTokens)
		})
	addTool(s, "search_docs", "Search a project's documentation and list the matching passages, best first.",
		func(ctx context.Context, a *answerer, in searchInput) (*Answer, error) {
			if err := errors.Join(s.check(in.Project, "query", in.Query), checkSearch(&in)); err != nil {
				return nil, err
			}
			return a.Search(ctx, in.Query, in.Project, in.Limit, in.ContentType)
		})
	mcp.AddTool(s.mcp, &mcp.Tool{
		Name: s.opts.Prefix + "list_projects", Description: "List the projects there is documentation for.", Annotations: readOnly(),
	}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, projectsOutput, error) {
		ix := s.index.Load()
		out := projectsOutput{Projects: []Project{}}
		var text strings.Builder
		text.WriteString("# Projects\n\n")
		for _, p := range ix.Projects() {
			out.Projects = append(out.Projects, Project{p, ix.Chunks(p)})
			fmt.Fprintf(&text, "- %s (%d passages)\n", p, ix.Chunks(p))
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text.String()}}}, out, nil
	})
}

func readOnly() *mcp.ToolAnnotations {
	closed := false
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
}

// addTool registers a tool whose result is an [Answer]. What a handler gives
// as an error is told to the caller as a result with the error flag, so that a
// model can mend its call.
func addTool[In any](s *Server, name, doc string, handle func(context.Context, *answerer, In) (*Answer, error)) {
	mcp.AddTool(s.mcp, &mcp.Tool{Name: s.opts.Prefix + name, Description: doc, Annotations: readOnly()},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, *Answer, error) {
			ans, err := handle(ctx, &answerer{index: s.index.Load(), now: s.opts.Now}, in)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: ans.Render()}}}, ans, nil
		})
}

// check finds what is wrong with the arguments that every tool has.
func (s *Server) check(project, name, text string) error {
	ix := s.index.Load()
	var errs []error
	if ix.Chunks(project) == 0 {
		errs = append(errs, fmt.Errorf("unknown project %q; there is documentation for: %s", clip(project), strings.Join(ix.Projects(), ", ")))
	}
	if strings.TrimSpace(text) == "" {
		errs = append(errs, fmt.Errorf("%s is empty: say what to look for", name))
	}
	return errors.Join(append(errs, tooLong(name, text))...)
}

func tooLong(name, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("%s is %d bytes, at most %d are read", name, len(text), maxText)
	}
	return nil
}

func checkSearch(in *searchInput) error {
	if in.Limit == 0 {
		in.Limit = defaultHits
	}
	if in.Limit < 1 || in.Limit > maxLimit {
		return fmt.Errorf("limit is %d, want 1 to %d", in.Limit, maxLimit)
	}
	switch in.ContentType {
	case "", "prose", "code", "api-reference":
		return nil
	}
	return fmt.Errorf("unknown contentType %q, want prose, code or api-reference", clip(in.ContentType))
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// RunStdio serves one client on a pair of streams until it ends.
func (s *Server) RunStdio(ctx context.Context, t mcp.Transport) error { return s.mcp.Run(ctx, t) }

// Handler serves /mcp and /health over HTTP. Pages of other sites in a browser
// are kept out by their Origin header.
func (s *Server) Handler() http.Handler {
	stream := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.Handle("/mcp", s.authorized(acceptAll(stream)))
	return s.sameOrigin(mux)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"status": "ok", "server": "mettle-docs", "version": s.opts.Version, "projects": s.index.Load().Projects(),
	})
}

// acceptAll lets clients in that do not say which content types they take;
// the answer is JSON, which all of them do.
func acceptAll(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accept := r.Header.Get("Accept"); accept == "" || accept == "*/*" || accept == "application/json" {
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) authorized(next http.Handler) http.Handler {
	if s.opts.Token == "" {
		return next
	}
	want := []byte("Bearer " + s.opts.Token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="mettle"`)
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !s.knownOrigin(origin) {
			http.Error(w, "this origin is not let in", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) knownOrigin(origin string) bool {
	for _, o := range s.opts.Origins {
		if o == origin {
			return true
		}
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1")
}
