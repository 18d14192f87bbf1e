package mettle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/cli"
	"github.com/mettle-eval/mettle/internal/docserver"
)

// fromPlan are the cases that the documentation plan fixes word for word. They
// are as lenient as it has them; where one lets a null server pass, a case of
// our own with the same id and "-strict" asks the same and does not.
var fromPlan = strings.Fields(`mina-basic-001 mina-basic-002 mina-basic-003 mina-basic-004 mina-basic-005 mina-basic-006 mina-basic-007 mina-basic-008
	mina-adv-001 mina-adv-002 mina-adv-003 sol-basic-001 sol-basic-002 sol-basic-003 sol-basic-004
	cosmos-basic-001 cosmos-basic-002 cosmos-basic-003 cosmos-basic-004`)

// TestNullServers runs the built-in suites against servers that say nothing
// true. What passes there measures nothing.
func TestNullServers(t *testing.T) {
	docs := documentation(t)
	for name, answer := range map[string]nullAnswer{
		"echo":          echo,
		"generic":       generic,
		"other project": otherProject(docs),
		"negated":       negated(docs),
	} {
		t.Run(name, func(t *testing.T) {
			outcomes := runSuites(t, "--url", nullServer(t, docs, answer), "mina", "solana", "cosmos")
			for id, o := range outcomes {
				_, strict := outcomes[id+"-strict"]
				switch {
				case o.Status != "pass" && o.Status != "fail":
					t.Errorf("%s: %s, want a verdict", id, o.Status)
				case o.Status == "pass" && !slices.Contains(fromPlan, id):
					t.Errorf("%s passes: %v", id, o.Scores)
				case o.Status == "pass" && !strict:
					t.Errorf("%s passes and has no stricter sibling", id)
				}
			}
			if len(outcomes) < 90 {
				t.Errorf("%d cases, want 90 or more", len(outcomes))
			}
		})
	}
}

// outcome is the result of a case.
type outcome struct {
	Case, Status string
	Scores       []score
}

type score struct{ Key, Status, Reason string }

// runSuites runs the program and gives the outcome of each case.
func runSuites(t *testing.T, args ...string) map[string]outcome {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "report.jsonl")
	var stderr bytes.Buffer
	w := cli.System(append([]string{"run", "--report", "jsonl=" + out, "--runs", filepath.Join(dir, "runs")}, args...))
	w.Stdout, w.Stderr, w.Dir = &bytes.Buffer{}, &stderr, dir
	code := cli.Main(w)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("exit %d: %v\n%s", code, err, &stderr)
	}
	outcomes := map[string]outcome{}
	for line := range bytes.Lines(data) {
		var r outcome
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		outcomes[r.Case] = r
	}
	return outcomes
}

// nullAnswer is the answer to a call of a tool.
type nullAnswer func(ctx context.Context, tool string, args map[string]any) (string, error)

// documentation is a session with the built-in server.
func documentation(t *testing.T) *mcp.ClientSession {
	t.Helper()
	ix, _, err := docserver.Load(t.Context(), builtin.Docs)
	if err != nil {
		t.Fatal(err)
	}
	s := docserver.New(ix, docserver.Options{Prefix: "crypto_", Now: time.Now})
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() { h.Close(); _ = s.Close() })
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.URL + "/mcp", DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// nullServer offers the tools of the built-in server over HTTP and answers
// them in its own way.
func nullServer(t *testing.T, docs *mcp.ClientSession, answer nullAnswer) (url string) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "null", Version: "1"}, nil)
	list, err := docs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		s.AddTool(&mcp.Tool{Name: tool.Name, InputSchema: tool.InputSchema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args map[string]any
			if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
				return nil, err
			}
			text, err := answer(ctx, req.Params.Name, args)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, err
		})
	}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(h.Close)
	return h.URL
}

// sure is the envelope of an answer that claims to be well founded.
func sure(text string) string {
	return text + ` [Source 1] [Source 2]

---

<response_metadata>
` + "```json" + `
{"confidence": 92, "retrievalQuality": "high", "sourcesUsed": 2}
` + "```" + `
</response_metadata>

### Sources
[1] Documentation
    https://docs.example.com/guide
[2] Reference
    https://docs.example.com/reference
`
}

// echo repeats what it was asked, in prose, as a heading and as code in every
// language that cases ask for.
func echo(_ context.Context, _ string, args map[string]any) (string, error) {
	var said []string
	for _, key := range []string{"question", "task", "query", "error", "context", "codeSnippet"} {
		if text, ok := args[key].(string); ok {
			said = append(said, text)
		}
	}
	text := strings.Join(said, " ")
	about := fmt.Sprintf("# %s\n\nYou asked about %v: %s This is explained in the documentation: %s For %[3]s, see below.\n", text, args["project"], text, text)
	for _, lang := range []string{"typescript", "rust", "go"} {
		about += fmt.Sprintf("\n```%s\n// %s\n```\n", lang, strings.ReplaceAll(text, "\n", " "))
	}
	return sure(about), nil
}

// generic gives the advice that is never wrong.
func generic(context.Context, string, map[string]any) (string, error) {
	text := `First, make sure that you use the latest version and that all dependencies are installed. This error usually means that
something in your configuration is not right: check your inputs, your keys, your network and your account before you send the transaction again. If the
problem persists, clear the cache, compile and deploy again, and read the log in order to see which instruction or message failed.
You should prefer the recommended approach, validate all state, verify every signature and owner, and test your smart contract or
module before you use tokens of value. For more information see the documentation or ask the community.
`
	for _, program := range []string{
		"typescript\nimport * as sdk from 'sdk';\n\nconst client = new sdk.Client();\nawait client.run({ retry: true });\n",
		"rust\nfn main() {\n    println!(\"ready\");\n}\n",
		"go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"ready\") }\n",
	} {
		text += "\n```" + program + "```\n"
	}
	return sure(text), nil
}

// fetch is what the built-in server answers.
func fetch(ctx context.Context, docs *mcp.ClientSession, tool string, args map[string]any) (string, error) {
	res, err := docs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	return res.Content[0].(*mcp.TextContent).Text, nil
}

// otherProject answers from the pages of another project: what they say to the
// same question, or else their introduction.
func otherProject(docs *mcp.ClientSession) nullAnswer {
	next := map[any]string{"mina": "solana", "solana": "cosmos", "cosmos": "mina"}
	return func(ctx context.Context, tool string, args map[string]any) (string, error) {
		project := next[args["project"]]
		if project == "" {
			project = "cosmos"
		}
		args["project"] = project
		text, err := fetch(ctx, docs, tool, args)
		if err != nil || !strings.Contains(text, "No sources available") {
			return text, err
		}
		return fetch(ctx, docs, "crypto_ask_docs", map[string]any{"project": project, "question": "What is " + project + " and how do I write a program for it?"})
	}
}

// negated answers from the right page, with every sentence turned around and
// every name in its code made up.
func negated(docs *mcp.ClientSession) nullAnswer {
	return func(ctx context.Context, tool string, args map[string]any) (string, error) {
		if args["project"] == "minna" { // it knows better
			args["project"] = "mina"
		}
		text, err := fetch(ctx, docs, tool, args)
		if err != nil {
			return "", err
		}
		if strings.Contains(text, "No sources available") { // it answers what has no answer
			return sure("This is covered in full: there is a passage that answers it."), nil
		}
		body, envelope, _ := strings.Cut(text, "\n---\n\n<response_metadata>")
		var out []string
		code := false
		for _, line := range strings.Split(body, "\n") {
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			switch {
			case fence:
				code = !code
			case code:
				line = madeUp(line)
			default:
				line = denied(line)
			}
			out = append(out, line)
		}
		return strings.Join(out, "\n") + "\n---\n\n<response_metadata>" + envelope, nil
	}
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
	keywords   = strings.Fields(`import from export default class extends const let var function async await new return if else for of in while
		try catch throw static public private readonly type interface implements this super true false null undefined void typeof as
		use pub fn mut struct impl enum match self Self crate mod where ref move dyn unsafe loop break continue
		package func range defer go map chan select case switch nil string int error bool byte`)
)

// madeUp gives every name in a line of code another one, but for those of
// packages, and turns conditions around.
func madeUp(line string) string {
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "import ") || strings.HasPrefix(trimmed, "} from") || strings.HasPrefix(trimmed, "use ") || strings.HasPrefix(trimmed, `"`) {
		return line
	}
	line = strings.NewReplacer("===", "!==", "!==", "===", "==", "!=", "!=", "==", "true", "false", "false", "true").Replace(line)
	return identifier.ReplaceAllStringFunc(line, func(name string) string {
		if slices.Contains(keywords, name) {
			return name
		}
		return "no" + name
	})
}

var (
	negative = regexp.MustCompile(`(?i)\b(do|does|is|are|must|can|should|may|will|need|has|have)( not|n't)\b|\bcannot\b|\bnever\b|\bno\b`)
	verb     = regexp.MustCompile(`\b(is|are|was|were|has|have|can|must|may|should|will|does|do|needs?|holds|takes|runs|means|checks|uses|pays|gives|sets|makes|stores|computes)\b`)
	stop     = regexp.MustCompile(`[.;:!?]+[*_]*(\s+|$)`)
)

// denied turns every sentence of a line of prose around.
func denied(line string) string {
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "**Type:**") || strings.HasSuffix(trimmed, "]") && strings.HasPrefix(trimmed, "**") {
		return line // titles and places
	}
	var b strings.Builder
	at := 0
	for _, end := range append(stop.FindAllStringIndex(line, -1), []int{len(line), len(line)}) {
		b.WriteString(deny(line[at:end[0]]))
		b.WriteString(line[end[0]:end[1]])
		at = end[1]
	}
	return b.String()
}

func deny(sentence string) string {
	if strings.Trim(sentence, " \t|-*_:") == "" {
		return sentence
	}
	if at := negative.FindStringSubmatchIndex(sentence); at != nil {
		kept := ""
		if at[2] >= 0 {
			kept = sentence[at[2]:at[3]]
		}
		return sentence[:at[0]] + kept + sentence[at[1]:]
	}
	if at := verb.FindStringIndex(sentence); at != nil {
		return sentence[:at[1]] + " not" + sentence[at[1]:]
	}
	return sentence + ", but not so"
}
