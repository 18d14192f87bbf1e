//go:build e2e && unix

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// served starts mettle serve over the built-in pages and gives its address.
func served(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(installed(t, "bin", "mettle"), "serve", "--addr", "127.0.0.1:0")
	return start(t, cmd, nil, func(line string) string {
		return regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`).FindString(line)
	})
}

// TestServerConformance holds mettle serve against what each revision requires
// of servers, as far as it applies to one without the suite's own tools. The
// baseline names the rest, and the suite compares with it both ways.
func TestServerConformance(t *testing.T) {
	apply := map[string][]string{
		"2025-11-25": {"server-initialize", "ping", "logging-set-level", "tools-list", "dns-rebinding-protection"},
		"2026-07-28": {"tools-list", "dns-rebinding-protection", "server-sse-multiple-streams", "http-header-validation"},
	}
	url := served(t)
	for revision, scenarios := range apply {
		t.Run(revision, func(t *testing.T) {
			passed, output := conformance(t, "server", "--url", url, "--requirements", revision,
				"--expected-failures", abs(t, "..", "testdata", "conformance-baseline.yml"))
			for _, name := range scenarios {
				if !passed[name] {
					t.Errorf("%s did not pass", name)
				}
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}

type toolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// questions has one call of each tool of mettle serve, and two that fail.
var questions = []toolCall{
	{"crypto_ask_docs", map[string]any{"question": "What is a zkApp?", "project": "mina"}},
	{"crypto_get_working_example", map[string]any{"task": "create a program derived address", "project": "solana"}},
	{"crypto_explain_error", map[string]any{"error": "account sequence mismatch", "project": "cosmos"}},
	{"crypto_search_docs", map[string]any{"query": "merkle tree", "project": "mina", "limit": 5}},
	{"crypto_list_projects", map[string]any{}},
	{"crypto_ask_docs", map[string]any{"question": "What is a zkApp?", "project": "no-such-project"}},
	{"crypto_ask_docs", map[string]any{"project": "mina"}},
}

// TestForeignClient asks mettle serve the same questions with the official
// TypeScript SDK and with mettle's own client, over both transports.
func TestForeignClient(t *testing.T) {
	t.Parallel()
	url, program := served(t), installed(t, "bin", "mettle")
	want := ask(t, mcpclient.Config{URL: url})
	for i, answer := range want {
		if len(answer.Content) == 0 || answer.IsError != (i >= 5) {
			t.Errorf("question %d: %+v", i, answer)
		}
	}
	for name, got := range map[string][]answer{
		"own client, stdio":     ask(t, mcpclient.Config{Command: []string{program, "serve", "--stdio"}, Env: environ(t, "")}),
		"foreign client, HTTP":  askForeign(t, "http", url),
		"foreign client, stdio": askForeign(t, "stdio", program, "serve", "--stdio"),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-own client over HTTP +got):\n%s", name, diff)
		}
	}
}

// answer is a result of a tool call as JSON-RPC has it.
type answer struct {
	Content           []map[string]any `json:"content"`
	StructuredContent map[string]any   `json:"structuredContent"`
	IsError           bool             `json:"isError"`
}

// readAnswer leaves out how long the server took.
func readAnswer(t *testing.T, raw []byte) (a answer) {
	t.Helper()
	raw = regexp.MustCompile(`processingTimeMs(\\*)": ?[0-9.]+`).ReplaceAll(raw, []byte(`processingTimeMs$1": 0`))
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(t *testing.T, cfg mcpclient.Config) (answers []answer) {
	t.Helper()
	c, err := mcpclient.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, q := range questions {
		args, err := json.Marshal(q.Arguments)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Call(t.Context(), q.Name, args)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, readAnswer(t, res.Response))
	}
	return answers
}

func askForeign(t *testing.T, how ...string) (answers []answer) {
	t.Helper()
	calls, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	sdk := installed(t, "node_modules", "@modelcontextprotocol", "sdk")
	cmd := exec.CommandContext(t.Context(), node(t), append([]string{abs(t, "ask.mjs"), sdk, string(calls)}, how...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = environ(t, "")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ask.mjs %s: %v\n%s", strings.Join(how, " "), err, &stderr)
	}
	var results []json.RawMessage
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	for _, raw := range results {
		answers = append(answers, readAnswer(t, raw))
	}
	return answers
}
