package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/probe"
)

// probeServer is a server made with the official SDK whose tool list is what
// a test wants it to be. It notes what it is asked.
type probeServer struct {
	URL string

	mu      sync.Mutex
	methods []string
}

func newProbeServer(t *testing.T, instructions string, tools ...*mcp.Tool) *probeServer {
	t.Helper()
	p := &probeServer{}
	s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1.2.3"}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			p.mu.Lock()
			p.methods = append(p.methods, method)
			p.mu.Unlock()
			if method == "tools/list" {
				return &mcp.ListToolsResult{Tools: append([]*mcp.Tool{}, tools...)}, nil
			}
			return next(ctx, method, req)
		}
	})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(srv.Close)
	p.URL = srv.URL
	return p
}

func goodTool() *mcp.Tool {
	return &mcp.Tool{
		Name: "search_docs", Description: "Searches the docs.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what to look for"}},"required":["query"]}`),
	}
}

// with is the good tool, changed.
func with(change func(*mcp.Tool)) *mcp.Tool {
	t := goodTool()
	change(t)
	return t
}

// mettle runs the program in a folder.
type mettle struct {
	t   *testing.T
	dir string
	env []string
}

func newMettle(t *testing.T, env ...string) *mettle {
	return &mettle{t, t.TempDir(), append(env, "PATH="+os.Getenv("PATH"))}
}

func (m *mettle) run(args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var out, errs bytes.Buffer
	w := &World{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Environ: m.env, Dir: m.dir,
		Now: time.Now, Random: func() uint32 { return 1 }, Interrupts: context.WithCancel,
	}
	code = Main(w)
	return code, out.String(), errs.String()
}

// probe runs the command, expects an exit code and reads the report.
func (m *mettle) probe(want int, args ...string) (r probe.Report, stdout string) {
	m.t.Helper()
	code, stdout, stderr := m.run(append([]string{"probe", "--json"}, args...)...)
	if code != want {
		m.t.Errorf("probe %v exits with %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &struct {
		*probe.Report
		Server json.RawMessage `json:"server"` // its durations have no way back
	}{Report: &r}); err != nil {
		m.t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	return r, stdout
}

// TestProbeCallsNoTool is the promise of the command.
func TestProbeCallsNoTool(t *testing.T) {
	s := newProbeServer(t, "", goodTool())
	m := newMettle(t)
	for _, args := range [][]string{{}, {"--json"}, {"--write", "suite.yaml"}, {"--strict", "--protocol", "2025-06-18"}} {
		if code, stdout, stderr := m.run(append([]string{"probe", s.URL}, args...)...); code != 0 {
			t.Errorf("probe %v exits with %d\n%s%s", args, code, stdout, stderr)
		}
	}
	for _, method := range s.methods {
		if !slices.Contains([]string{"server/discover", "initialize", "notifications/initialized", "tools/list"}, method) {
			t.Errorf("the server was asked for %s", method)
		}
	}
	if !slices.Contains(s.methods, "tools/list") {
		t.Error("the server was not asked for its tools")
	}
}

func TestProbeGoodServer(t *testing.T) {
	s := newProbeServer(t, "Ask away.", goodTool())
	m := newMettle(t)
	r, _ := m.probe(0, s.URL, "--strict")
	if r.Verdict != probe.Pass || r.Tools.Count != 1 || r.Tools.Tools[0].Name != "search_docs" {
		t.Errorf("%+v", r)
	}
	code, stdout, _ := m.run("probe", s.URL)
	for _, want := range []string{"fixture 1.2.3", "search_docs(query*)  read-only", "✓ connect", "0 warned, 0 failed; no tool was called"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if code != 0 || strings.Contains(stdout, "\x1b") {
		t.Errorf("code %d\n%q", code, stdout)
	}
	m.env = append(m.env, "CLICOLOR_FORCE=1")
	if _, stdout, _ = m.run("probe", s.URL); !strings.Contains(stdout, "\x1b[32m✓") {
		t.Errorf("no colour:\n%q", stdout)
	}
}

// TestProbeBadServers puts one problem each on a real server.
func TestProbeBadServers(t *testing.T) {
	schema := func(text string) func(*mcp.Tool) {
		return func(t *mcp.Tool) { t.InputSchema = json.RawMessage(text) }
	}
	for _, test := range []struct {
		name   string
		tools  []*mcp.Tool
		check  string
		status probe.Status
	}{
		{"no description", []*mcp.Tool{with(func(t *mcp.Tool) { t.Description = "" })}, "descriptions", probe.Warn},
		{"long description", []*mcp.Tool{with(func(t *mcp.Tool) { t.Description = strings.Repeat("word ", 300) })}, "descriptions", probe.Warn},
		{"undescribed parameter", []*mcp.Tool{with(schema(`{"type":"object","properties":{"a":{"type":"string"}}}`))}, "parameters", probe.Warn},
		{"no schema", []*mcp.Tool{with(schema(`null`))}, "input-schema", probe.Fail},
		{"empty schema", []*mcp.Tool{with(schema(`{}`))}, "input-schema", probe.Fail},
		{"schema of no object", []*mcp.Tool{with(schema(`{"type":"string"}`))}, "input-schema", probe.Fail},
		{"invalid schema", []*mcp.Tool{with(schema(`{"type":"object","required":true}`))}, "input-schema", probe.Fail},
		{"invalid output schema", []*mcp.Tool{with(func(t *mcp.Tool) { t.OutputSchema = json.RawMessage(`{"type":"object","properties":7}`) })}, "output-schema", probe.Fail},
		{"unknown dialect", []*mcp.Tool{with(schema(`{"$schema":"urn:mine","type":"object"}`))}, "schema-dialect", probe.Fail},
		{"old dialect", []*mcp.Tool{with(schema(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`))}, "schema-dialect", probe.Warn},
		{"bad name", []*mcp.Tool{with(func(t *mcp.Tool) { t.Name = "search docs" })}, "tool-names", probe.Fail},
		{"name twice", []*mcp.Tool{goodTool(), goodTool()}, "unique-names", probe.Fail},
		{"unannotated write", []*mcp.Tool{with(func(t *mcp.Tool) { t.Name, t.Annotations = "delete_note", nil })}, "annotations", probe.Warn},
		{"hidden text", []*mcp.Tool{with(func(t *mcp.Tool) { t.Description = "Searches.\u202e" })}, "hidden-text", probe.Warn},
		{"no tools", nil, "tool-count", probe.Warn},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newProbeServer(t, "", test.tools...)
			want := ExitMet
			if test.status == probe.Fail {
				want = ExitNotMet
			}
			m := newMettle(t)
			r, stdout := m.probe(want, s.URL)
			i := slices.IndexFunc(r.Checks, func(c probe.Check) bool { return c.ID == test.check })
			if i < 0 || r.Checks[i].Status != test.status || len(r.Checks[i].Findings) == 0 {
				t.Errorf("%s is not %s in\n%s", test.check, test.status, stdout)
			}
			m.probe(ExitNotMet, s.URL, "--strict")
		})
	}
}

// TestProbeShowsNothingHostile puts what terminals obey wherever a server can
// say something.
func TestProbeShowsNothingHostile(t *testing.T) {
	evil := "\x1b[31m\x1b]0;title\a\u009b31m\u202egnp.\x00"
	s := newProbeServer(t, evil, &mcp.Tool{
		Name: "a" + evil, Title: evil, Description: evil,
		InputSchema: map[string]any{"type": evil, "properties": map[string]any{evil: map[string]any{"pattern": "(" + evil}}, "required": []string{evil, evil}},
	})
	m := newMettle(t)
	for _, args := range [][]string{{}, {"--json"}, {"--write", "suite.yaml"}} {
		code, stdout, stderr := m.run(append([]string{"probe", s.URL}, args...)...)
		if code != ExitNotMet {
			t.Errorf("probe %v exits with %d\n%s", args, code, stderr)
		}
		harmless(t, stdout)
		harmless(t, stderr)
	}
	b, err := os.ReadFile(filepath.Join(m.dir, "suite.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	harmless(t, string(b))
	if code, _, stderr := m.run("validate", "suite.yaml"); code != 0 {
		t.Errorf("the suite is not valid: %s", stderr)
	}
}

func harmless(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e {
			t.Errorf("%U in\n%q", r, text)
			return
		}
	}
}

// TestProbeTellsNoSecrets puts a server that repeats what it was sent.
func TestProbeTellsNoSecrets(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.URL.RawQuery}, " ")
		answerRaw(w, r, fmt.Sprintf(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":%q,"serverInfo":{"name":"echo","version":%q}}`, said, said),
			fmt.Sprintf(`{"tools":[{"name":"t","description":%[1]q,"inputSchema":{"type":"object","required":["a"],"properties":{"a":{"default":%[1]q}}}},{"name":%[1]q},{"name":%[1]q}]}`, said))
	})
	srv := httptest.NewServer(handler)
	defer srv.Close()
	m := newMettle(t, "METTLE_TOKEN=hunter2-token", "KEY=hunter2-header")
	for _, args := range [][]string{{}, {"--json"}, {"--write", "suite.yaml"}} {
		args = append([]string{"probe", srv.URL + "/?key=hunter2-query", "--header", "X-Key: ${KEY}"}, args...)
		code, stdout, stderr := m.run(args...)
		if code != ExitNotMet || strings.Contains(stdout+stderr, "hunter2") || !strings.Contains(stdout, "[redacted]") {
			t.Errorf("%v: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	b, err := os.ReadFile(filepath.Join(m.dir, "suite.yaml"))
	if err != nil || bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("%v\n%s", err, b)
	}
	srv.Close()
	for _, args := range [][]string{{}, {"--json"}} {
		_, stdout, stderr := m.run(append([]string{"probe", "http://hunter2-user@127.0.0.1:1/hunter2-in-the-path-12345/?key=hunter2-query"}, args...)...)
		if strings.Contains(stdout+stderr, "hunter2") {
			t.Errorf("%s%s", stdout, stderr)
		}
	}
}

// answerRaw answers a request with JSON as it stands.
func answerRaw(w http.ResponseWriter, r *http.Request, hello, list string) {
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.NewDecoder(r.Body).Decode(&req) != nil || req.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answerTo(req.ID, req.Method, hello, list))
}

func answerTo(id json.RawMessage, method, hello, list string) string {
	answer := `"error":{"code":-32601,"message":"Method not found"}`
	switch method {
	case "initialize":
		answer = `"result":` + hello
	case "tools/list":
		answer = `"result":` + list
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, answer)
}

func TestProbeUnreachable(t *testing.T) {
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	defer locked.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") }))
	defer page.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // without which the end of the request is not seen
		<-r.Context().Done()
	}))
	defer silent.Close()
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"nobody there", []string{"http://127.0.0.1:1"}, "connection refused"},
		{"locked", []string{locked.URL}, "METTLE_TOKEN"},
		{"a web page", []string{page.URL}, "connect"},
		{"silent", []string{silent.URL, "--timeout", "300ms"}, "no answer in time"},
		{"no such program", []string{"--", "no-such-program-anywhere"}, "no-such-program-anywhere"},
		{"dies", []string{"--", "sh", "-c", "echo the database is gone >&2; exit 7"}, "the database is gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMettle(t)
			code, stdout, stderr := m.run(append([]string{"probe"}, test.args...)...)
			if code != ExitIncomplete || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("code %d\n%s%s", code, stdout, stderr)
			}
			r, _ := m.probe(ExitIncomplete, append([]string{"--write", "suite.yaml"}, test.args...)...)
			if r.Verdict != probe.Error {
				t.Errorf("verdict %s", r.Verdict)
			}
			if _, err := os.Stat(filepath.Join(m.dir, "suite.yaml")); err == nil {
				t.Error("a suite was written")
			}
		})
	}
}

func TestProbeIsInterrupted(t *testing.T) {
	s := newProbeServer(t, "", goodTool())
	var out bytes.Buffer
	w := &World{
		Args: []string{"probe", s.URL}, Stdout: &out, Stderr: &out, Dir: t.TempDir(), Now: time.Now,
		Interrupts: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		},
	}
	if code := Main(w); code != ExitInterrupted {
		t.Errorf("code %d\n%s", code, &out)
	}
}

// TestProbeStdioServer is no test: it is the server that the tests below
// start. An argument says what it is like.
func TestProbeStdioServer(t *testing.T) {
	mode := flag.Arg(0)
	if mode == "" {
		return
	}
	if mode == "noisy" {
		fmt.Println("Welcome to the server!")
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		if mode == "crash" && req.Method == "tools/list" {
			fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\n  list_tools\nKeyError: 'tools'")
			os.Exit(1)
		}
		fmt.Println(answerTo(req.ID, req.Method,
			`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"stdio","version":"1"}}`,
			`{"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object"}}]}`))
	}
	os.Exit(0)
}

func TestProbeStdio(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := []string{"--", self, "-test.run=^TestProbeStdioServer$", "quiet"}
	m := newMettle(t)
	m.probe(0, server...)
	m.probe(0, fmt.Sprintf("'%s' -test.run=^TestProbeStdioServer$ quiet", self))
	m.probe(0, "--command", fmt.Sprintf("'%s' -test.run=^TestProbeStdioServer$ quiet", self))

	server[3] = "noisy"
	r, _ := m.probe(ExitNotMet, server...)
	if len(r.Noise) == 0 || r.Noise[0] != "Welcome to the server!" {
		t.Errorf("noise: %q", r.Noise)
	}
	if _, stdout, _ := m.run(append([]string{"probe"}, server...)...); !strings.Contains(stdout, "✗ stdout") || !strings.Contains(stdout, "Welcome to the server!") {
		t.Errorf("the noise is not on the card:\n%s", stdout)
	}

	server[3] = "crash"
	m.probe(ExitIncomplete, server...)
	code, stdout, stderr := m.run(append([]string{"probe"}, server...)...)
	if code != ExitIncomplete || !strings.Contains(stdout, "KeyError") || !strings.Contains(stdout, "Traceback") || stderr == "" {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}

func TestProbeWrite(t *testing.T) {
	s := newProbeServer(t, "", goodTool(), with(func(t *mcp.Tool) { t.Name, t.Annotations = "delete_docs", nil }))
	m := newMettle(t, "METTLE_TOKEN=secret-token", "KEY=secret-key")
	path := filepath.Join(m.dir, "suites", "new.yaml")
	args := []string{"probe", s.URL, "--header", "X-Key: ${KEY}", "--header", "X-Plain: secret-plain", "--write", "suites/new.yaml"}
	if code, _, stderr := m.run(args...); code != 0 || !strings.Contains(stderr, "suite: suites/new.yaml") {
		t.Fatalf("code %d: %s", code, stderr)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"${METTLE_TOKEN}", "${KEY}", "url: \"" + s.URL, "header X-Plain is left out", "  # - id: delete-docs"} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("%q is not in\n%s", want, first)
		}
	}
	if bytes.Contains(first, []byte("secret-")) {
		t.Errorf("a secret was written:\n%s", first)
	}
	if code, stdout, stderr := m.run("validate", "suites/new.yaml"); code != 0 {
		t.Errorf("the suite is not valid: %s%s", stdout, stderr)
	}
	asked := len(s.methods)
	if code, _, stderr := m.run(args...); code != ExitUsage || !strings.Contains(stderr, "--force") || len(s.methods) != asked {
		t.Errorf("code %d: %s", code, stderr)
	}
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := m.run(append(args, "--force")...); code != 0 {
		t.Errorf("code %d: %s", code, stderr)
	}
	again, err := os.ReadFile(path)
	if diff := cmp.Diff(string(first), string(again)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestProbeWriteLeavesSecretsOut looks at commands and addresses that may hold
// one.
func TestProbeWriteLeavesSecretsOut(t *testing.T) {
	w := &World{Dir: t.TempDir()}
	for _, test := range []struct {
		o    probeOptions
		kept bool
	}{
		{probeOptions{words: []string{"node", "server.js", "--port", "3000"}}, true},
		{probeOptions{words: []string{"npx", "-y", "@scope/some-mcp-server@2026.8.31"}}, true},
		{probeOptions{words: []string{"node", "server.js", "--api-key", "x"}}, false},
		{probeOptions{words: []string{"server", "sk1234567890abcdefghij"}}, false},
		{probeOptions{words: []string{"server", "postgres://me:secret@db/x"}}, false},
		{probeOptions{words: []string{"server", "${LITERAL}"}}, false},
		{probeOptions{command: "server --api-key ${API_KEY}"}, false}, // the flag's name is enough
		{probeOptions{command: "server ${VALUE}"}, true},
		{probeOptions{url: "http://localhost:3000/mcp"}, true},
		{probeOptions{url: "http://localhost:3000/mcp?key=x"}, false},
		{probeOptions{url: "http://me:pass@localhost:3000/mcp"}, false},
		{probeOptions{url: "https://example.com/s/sk1234567890abcdefghij/mcp"}, false},
	} {
		if settings, notes := test.o.settings(w); (len(settings) > 0) != test.kept || (len(notes) == 0) != test.kept {
			t.Errorf("%+v: %v %v", test.o, settings, notes)
		}
	}
}

// TestProbeWriteKeepsTheWay makes sure that a run connects as the probe did.
func TestProbeWriteKeepsTheWay(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mettle.yaml"), []byte("concurrency: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := probeOptions{words: []string{"node", "server.js"}, transport: "stdio", protocol: "2025-06-18"}
	got, _ := o.settings(&World{Dir: filepath.Join(dir, "servers", "docs")})
	want := []probe.Setting{
		{Name: "type", Value: "mcp"},
		{Name: "transport", Value: "stdio"},
		{Name: "protocol", Value: "2025-06-18"},
		{Name: "command", Value: []string{"node", "server.js"}},
		{Name: "dir", Value: "servers/docs"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProbeUsage(t *testing.T) {
	m := newMettle(t)
	for _, test := range []struct {
		args string
		want string
	}{
		{"", "needs a server"},
		{"http://a http://b", "behind --"},
		{"node server.js", "mettle probe -- node"},
		{"localhost:3000", "did you mean http://localhost:3000?"},
		{"ftp://example.com", "not an http or https address"},
		{"http://a --url http://b", "exclude each other"},
		{"http://a --command b", "exclude each other"},
		{"--url http://a --command b", "exclude each other"},
		{"http://a --transport pigeon", "unknown transport"},
		{"http://a --transport stdio", "stdio needs a command"},
		{"--transport sse -- server", "needs a url"},
		{"http://a --protocol 1999", "unknown protocol version"},
		{"http://a --timeout 0s", "--timeout"},
		{"http://a --header nonsense", "Name: value"},
		{"--header A:b -- server", "--header"},
		{"http://a --write .", "not a regular file"},
		{"http://a --no-such-flag", "unknown flag"},
	} {
		code, stdout, stderr := m.run(append([]string{"probe"}, strings.Fields(test.args)...)...)
		if code != ExitUsage || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("probe %s: code %d\n%s%s", test.args, code, stdout, stderr)
		}
	}
}

// TestProbeServerFromEnvironment lets MCP_URL name the server, and an argument
// go before it.
func TestProbeServerFromEnvironment(t *testing.T) {
	good, other := newProbeServer(t, "", goodTool()), newProbeServer(t, "")
	m := newMettle(t, "MCP_URL="+good.URL)
	if r, _ := m.probe(0); r.Tools.Count != 1 {
		t.Errorf("%d tools", r.Tools.Count)
	}
	if r, _ := m.probe(0, other.URL); r.Tools.Count != 0 {
		t.Errorf("%d tools", r.Tools.Count)
	}
}
