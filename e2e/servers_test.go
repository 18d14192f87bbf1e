//go:build e2e && unix

package e2e

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	everything = "@modelcontextprotocol/server-everything/dist/index.js"
	n8n        = "n8n-mcp/dist/mcp/index.js"
)

// serve starts a server of npm's that listens on a port, and gives its
// address.
func serve(t *testing.T, env []string, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command(node(t), append([]string{"--import", abs(t, "offline.mjs"), installed(t, "node_modules", script)}, args...)...)
	return start(t, cmd, env, func(line string) string {
		port, ok := strings.CutPrefix(line, "listening on ")
		if !ok {
			return ""
		}
		return "http://127.0.0.1:" + port
	})
}

// start starts a server, waits for the line on stderr that tells its address,
// and ends it with the test, and all that it started.
func start(t *testing.T, cmd *exec.Cmd, env []string, find func(line string) string) string {
	t.Helper()
	mark := rand.Text()
	cmd.Env = environ(t, mark, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if url := find(lines.Text()); url != "" {
				address <- url
			}
		}
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		_ = cmd.Wait()
		nothingLeft(t, mark)
	})
	select {
	case url := <-address:
		return url
	case <-ended:
		t.Fatalf("%s ended before it listened", cmd)
	case <-time.After(time.Minute):
		t.Fatalf("%s does not listen", cmd)
	}
	return ""
}

// TestEverything runs one suite over all three transports: what a case gets
// does not depend on how it came.
func TestEverything(t *testing.T) {
	t.Parallel()
	want := verdict{exit: 1, passed: 11, failed: 1}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		o := runSuite(t, "everything", nil)
		o.check(t, want)
		o.spoke(t, "stdio", "2025-11-25")
		checkImage(t, o)
	})
	t.Run("command line", func(t *testing.T) {
		t.Parallel()
		o := runSuite(t, "everything", nil, "--command", node(t)+" "+installed(t, "node_modules", everything))
		o.check(t, want)
		o.spoke(t, "stdio", "2025-11-25")
	})
	t.Run("streamable HTTP", func(t *testing.T) {
		t.Parallel()
		o := runSuite(t, "everything", nil, "--url", serve(t, nil, everything, "streamableHttp")+"/mcp")
		o.check(t, want)
		o.spoke(t, "streamable", "2025-11-25")
		checkImage(t, o)
	})
	t.Run("SSE", func(t *testing.T) {
		t.Parallel()
		o := runSuite(t, "everything", nil, "--url", serve(t, nil, everything, "sse")+"/sse")
		o.check(t, want)
		o.spoke(t, "sse", "2025-11-25")
		checkImage(t, o)
	})
}

// checkImage makes sure that what no text can hold is kept with the result.
func checkImage(t *testing.T, o outcome) {
	t.Helper()
	var result struct {
		Content []struct {
			Type, MimeType, Data string
		}
	}
	if err := json.Unmarshal(o.stored(t, "everything-image").Response.Exchange.Response, &result); err != nil {
		t.Fatal(err)
	}
	for _, part := range result.Content {
		if part.Type != "image" {
			continue
		}
		image, err := base64.StdEncoding.DecodeString(part.Data)
		if err != nil || part.MimeType != "image/png" || !bytes.HasPrefix(image, []byte("\x89PNG")) {
			t.Errorf("%s of %d bytes: %v", part.MimeType, len(image), err)
		}
		return
	}
	t.Error("the stored answer has no image")
}

// TestDocumentationServers runs a suite against each server that people use to
// read documentation with.
func TestDocumentationServers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want     verdict
		protocol string
	}{
		"antd":        {verdict{exit: 0, passed: 8, failed: 2}, "2025-11-25"},
		"antd-broken": {verdict{exit: 3, passed: 1, errors: 1}, "2025-11-25"},
		"primevue":    {verdict{exit: 0, passed: 8, failed: 2}, "2025-11-25"},
		"mastra":      {verdict{exit: 1, passed: 6, failed: 1}, "2025-11-25"},
		"n8n":         {verdict{exit: 0, passed: 5, failed: 1}, "2025-03-26"},
		"vault":       {verdict{exit: 1, passed: 6, failed: 1}, "2026-07-28"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vault := copyPages(t)
			before := listing(t, vault)
			o := runSuite(t, name, []string{"E2E_VAULT=" + vault})
			o.check(t, test.want)
			o.spoke(t, "stdio", test.protocol)
			if after := listing(t, vault); after != before {
				t.Errorf("the folder of pages was changed:\n%s\nto\n%s", before, after)
			}
		})
	}
}

// TestRetrieval reads the summary of how well servers find what is labelled.
func TestRetrieval(t *testing.T) {
	t.Parallel()
	o := runSuite(t, "primevue", nil, "--tag", "known-gap")
	if len(o.report.Retrieval) != 1 || o.report.Retrieval[0].Metric != "mrr" || o.report.Retrieval[0].N != 2 || *o.report.Retrieval[0].Mean != 0 {
		t.Errorf("retrieval of what the server does not find: %+v\n%s", o.report.Retrieval, o.stderr)
	}
	o = runSuite(t, "primevue", nil, "--difficulty", "basic")
	if len(o.report.Retrieval) != 1 || o.report.Retrieval[0].N != 3 || *o.report.Retrieval[0].Mean != 1 {
		t.Errorf("retrieval of what the server finds: %+v\n%s", o.report.Retrieval, o.stderr)
	}
}

// TestProbe has a first look at each server, which calls none of its tools.
func TestProbe(t *testing.T) {
	t.Parallel()
	for script, tools := range map[string]int{
		everything:                              13,
		"@ant-design/cli/dist/index.js":         8,
		"@primevue/mcp/dist/index.js":           8,
		"@mastra/mcp-docs-server/dist/stdio.js": 13,
		"n8n-mcp/dist/mcp/stdio-wrapper.js":     7,
		"@bitbonsai/mcpvault/dist/server.js":    18,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			command := []string{node(t), "--import", abs(t, "offline.mjs"), installed(t, "node_modules", script)}
			switch {
			case strings.Contains(script, "ant-design"):
				command = append(command, "mcp")
			case strings.Contains(script, "mcpvault"):
				command = append(command, t.TempDir())
			}
			o := invocation{args: append([]string{"probe", "--json", "--"}, command...)}.run(t)
			var card struct {
				Verdict string
				Tools   struct{ Count int }
			}
			if err := json.Unmarshal([]byte(o.stdout), &card); err != nil || o.exit != 0 || card.Verdict == "fail" || card.Tools.Count != tools {
				t.Errorf("exit %d, verdict %s, %d tools, want %d: %v\n%s", o.exit, card.Verdict, card.Tools.Count, tools, err, o.stderr)
			}
		})
	}
}

// copyPages gives a server that could write a copy of the built-in pages.
func copyPages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(abs(t, "..", "builtin", "docs"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		b.WriteString(path + " " + info.ModTime().String() + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBearerToken asks a server that wants a token, with and without it.
func TestBearerToken(t *testing.T) {
	t.Parallel()
	const token = "correct-horse-battery-staple-0123456789"
	url := serve(t, []string{"MCP_MODE=http", "HOST=127.0.0.1", "PORT=1", "AUTH_TOKEN=" + token, "N8N_MCP_TELEMETRY_DISABLED=true"}, n8n)

	t.Run("right", func(t *testing.T) {
		o := runSuite(t, "n8n", []string{"TOKEN=" + token}, "--url", url, "--header", "Authorization: Bearer ${TOKEN}")
		o.check(t, verdict{exit: 0, passed: 5, failed: 1})
		o.spoke(t, "streamable", "2025-03-26")
		o.neverSays(t, token)
	})
	for name, header := range map[string]string{"none": "", "wrong": "Authorization: Bearer ${TOKEN}"} {
		t.Run(name, func(t *testing.T) {
			const wrong = "tr0ub4dor-and-3-9876543210-9876543210"
			args := []string{"--url", url}
			if header != "" {
				args = append(args, "--header", header)
			}
			o := runSuite(t, "n8n", []string{"TOKEN=" + wrong}, args...)
			if o.exit != 3 || !strings.Contains(o.stderr, "401") {
				t.Errorf("exit %d:\n%s", o.exit, o.stderr)
			}
			o.neverSays(t, wrong)
		})
	}
}

// neverSays looks for a secret in everything mettle wrote.
func (o outcome) neverSays(t *testing.T, secret string) {
	t.Helper()
	if strings.Contains(o.stdout+o.stderr, secret) {
		t.Error("the output tells the token")
	}
	err := filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("%s tells the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestInterrupted stops a run while a server works, as Ctrl-C does.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	suite := filepath.Join(t.TempDir(), "slow.yaml")
	text := `name: slow
target: everything
tests:
  - id: slow
    tool: trigger-long-running-operation
    input: {duration: 100, steps: 100}
    expected: {expectedKeywords: [completed]}
`
	if err := os.WriteFile(suite, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := invocation{
		args: runArgs(t, suite),
		during: func(dir string, p *os.Process) {
			for range 1000 { // until the run is under way
				if runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "results.jsonl")); len(runs) > 0 {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			_ = p.Signal(syscall.SIGINT)
		},
	}.run(t)
	if o.exit != 130 || !strings.Contains(o.stderr, "mettle resume") {
		t.Errorf("exit %d:\n%s", o.exit, o.stderr)
	}
}

// TestMissingTool names a tool that the server does not have: the run stops
// before it asks anything.
func TestMissingTool(t *testing.T) {
	t.Parallel()
	suite := filepath.Join(t.TempDir(), "near.yaml")
	text := `name: near
target: everything
tests:
  - id: near
    tool: get-summ
    input: {a: 1, b: 2}
    expected: {expectedKeywords: ["3"]}
`
	if err := os.WriteFile(suite, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := invocation{args: runArgs(t, suite)}.run(t)
	if o.exit != 3 || !strings.Contains(o.stderr, "get-sum") {
		t.Errorf("exit %d:\n%s", o.exit, o.stderr)
	}
}
