package mettle_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCredentialsReachNoFile puts cases to a server that answers with the very
// token it was sent, and looks for it in everything that is written.
func TestCredentialsReachNoFile(t *testing.T) {
	const token = "tok-3f9d2c77e1"
	server := &planServer{echo: true}
	url, stop := server.start()
	defer stop()
	dir := t.TempDir()
	writeSuite(t, dir, 3)
	cmd := exec.Command("mettle", "run", "many.yaml", "--url", url+"/mcp?key="+token+"2", "--header", "Authorization: Bearer ${DOCS_TOKEN}",
		"--report", "markdown=out.md", "--report", "junit=out.xml", "--report", "github=out.txt", "--report", "jsonl=out.jsonl", "--verbose")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DOCS_TOKEN="+token)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	if strings.Contains(string(out), token) {
		t.Errorf("the token is printed:\n%s", out)
	}
	filesWithout(t, dir, 8, token)
}

// filesWithout looks for texts in all files of a folder.
func filesWithout(t *testing.T, dir string, least int, secrets ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		for _, s := range secrets {
			if strings.Contains(string(b), s) {
				t.Errorf("%s is in %s", s, path)
			}
		}
		return err
	})
	if err != nil || files < least {
		t.Errorf("%d files were looked at, %v", files, err)
	}
}

// tellServer is an MCP server on standard streams whose tools tell everything
// it can see of its environment and its arguments, in several ways.
func tellServer() {
	all := strings.Join(append(os.Environ(), os.Args[1:]...), "\n")
	fmt.Fprintln(os.Stderr, all)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch {
		case m.Method == "initialize":
			answer["result"] = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "serverInfo": map[string]any{"name": "tell " + all, "version": "1"}}
		case m.Method == "tools/list":
			tool := func(name string) any {
				return map[string]any{"name": name, "description": all, "inputSchema": map[string]any{"type": "object"}}
			}
			answer["result"] = map[string]any{"tools": []any{tool("text"), tool("structured"), tool("refuse"), tool("die")}}
		case m.Params.Name == "text":
			answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": all}}}
		case m.Params.Name == "structured":
			answer["result"] = map[string]any{"content": []any{}, "structuredContent": map[string]any{all: all}, "isError": true}
		case m.Params.Name == "die":
			fmt.Fprintln(os.Stderr, strings.ReplaceAll(all, "\n", " "))
			os.Exit(3)
		default:
			answer["error"] = map[string]any{"code": -32602, "message": all, "data": all}
		}
		line, _ := json.Marshal(answer)
		fmt.Printf("%s\n", line)
	}
}

// TestServersSeeAndTellLittle starts a server that tells all it can see: of the
// environment it sees what it was given, and what settings took from the
// environment is in nothing that is written or shown.
func TestServersSeeAndTellLittle(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mettle.yaml", `targets:
  tell:
    type: mcp
    command: [tell-server, --tenant, "acme:${TENANT}"]
    env: {DB: "${DATABASE_URL}", PLAIN: visible-value, PASSPHRASE: "${PHRASE}"}
    retries: 0
`)
	var suite strings.Builder
	suite.WriteString("name: Tell\ntarget: tell\ntests:\n")
	for _, tool := range []string{"text", "structured", "refuse", "die"} {
		fmt.Fprintf(&suite, "  - {id: %s, name: %s, tool: %s, input: {}, expected: {validations: [{type: contains, value: nothing like it}, {type: not_error}]}}\n", tool, tool, tool)
	}
	write("tell.yaml", suite.String())
	secrets := []string{"acme-7731-prod", "wonderland9", "open sesame 12", "sk-ant-0123456789abcdef", "ghp_0123456789abcdef"}
	cmd := exec.Command("mettle", "run", "tell.yaml", "--record", "tape", "--report", "markdown=out.md", "--report", "junit=out.xml", "--report", "jsonl=out.jsonl", "-o", "out.json", "--verbose")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TENANT="+secrets[0], "DATABASE_URL=postgres://alice:"+secrets[1]+"@db/prod", "PHRASE="+secrets[2],
		"ANTHROPIC_API_KEY="+secrets[3], "GITHUB_TOKEN="+secrets[4], "OTHER=never-handed-on")
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	for _, s := range append(secrets, "never-handed-on") {
		if strings.Contains(string(out), s) {
			t.Errorf("%s is printed:\n%s", s, out)
		}
	}
	filesWithout(t, dir, 8, append(secrets, "never-handed-on")...)
	told, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PLAIN=visible-value", "acme:[TENANT]", "DB=postgres://[DATABASE_URL]@db/prod", "PATH="} {
		if !strings.Contains(string(told), want) {
			t.Errorf("the answers lack %s", want)
		}
	}
	probe := exec.Command("mettle", "probe", "tell-server --token ${GITHUB_TOKEN}", "--json")
	probe.Dir, probe.Env = dir, cmd.Env
	if out, _ := probe.CombinedOutput(); strings.Contains(string(out), secrets[4]) || !strings.Contains(string(out), "tell") {
		t.Errorf("probe prints\n%s", out)
	}
}
