package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// served is a mettle serve that runs.
type served struct {
	t     *testing.T
	lines chan string // of standard error
	stop  context.CancelFunc
	exit  chan int
}

// startServe runs mettle serve in a folder until the test ends.
func startServe(t *testing.T, dir string, env []string, in io.Reader, out io.Writer, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stderr, w := io.Pipe()
	s := &served{t: t, lines: make(chan string, 100), stop: cancel, exit: make(chan int, 1)}
	go func() {
		defer close(s.lines)
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
	}()
	world := &World{
		Args: append([]string{"serve"}, args...), Stdin: in, Stdout: out, Stderr: w, Environ: env, Dir: dir, Now: time.Now,
		Interrupts: func(context.Context) (context.Context, context.CancelFunc) { return ctx, cancel },
	}
	go func() {
		s.exit <- Main(world)
		_ = w.Close()
	}()
	t.Cleanup(cancel)
	return s
}

// waitFor waits for a line that matches a pattern and gives its first group.
func (s *served) waitFor(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	var seen []string
	for line := range s.lines {
		if m := re.FindStringSubmatch(line); m != nil {
			return m[len(m)-1]
		}
		seen = append(seen, line)
	}
	s.t.Fatalf("no line matches %s in:\n%s", pattern, strings.Join(seen, "\n"))
	return ""
}

func writePages(t *testing.T, dir string, pages map[string]string) {
	t.Helper()
	for name, text := range pages {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// askServer posts a question as a plain HTTP client.
func askServer(t *testing.T, url, tool, project, question, token string) (status int, reply string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "`+tool+`", "arguments": {"question": "`+question+`", "project": "`+project+`"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestServeBuiltin(t *testing.T) {
	s := startServe(t, t.TempDir(), nil, nil, io.Discard, "--addr", "127.0.0.1:0")
	url := s.waitFor(`^serving \d+ pages about cosmos, mina, solana at (http://127\.0\.0\.1:\d+/mcp) `)
	if status, reply := askServer(t, url, "crypto_ask_docs", "mina", "What is o1js?", ""); status != 200 || !strings.Contains(reply, "[Source 1]") {
		t.Errorf("%d %s", status, reply)
	}
	s.stop() // as Ctrl-C does
	if code := <-s.exit; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it still answers")
	}
}

func TestServeFolder(t *testing.T) {
	dir := t.TempDir()
	writePages(t, dir, map[string]string{
		"docs/guide.md": "# Anvils\n\nAn anvil is heavy.\n", "docs/bad.md": "---\ntitle: [\n---\nText.\n", "secret.md": "# Secret\n\nThe password.\n",
	})
	if err := os.Symlink("../secret.md", filepath.Join(dir, "docs", "link.md")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	s := startServe(t, dir, []string{"METTLE_TOKEN=s3cret"}, nil, io.Discard, "--docs", "docs", "--addr", "localhost:0", "--watch", "--prefix", "my_")
	s.waitFor(`^left out: bad\.md: front matter: `)
	s.waitFor(`^left out: link\.md: a symbolic link`)
	url := s.waitFor(`^serving 1 page about docs at (http://\S+/mcp) `)
	if status, _ := askServer(t, url, "my_ask_docs", "docs", "anvil", ""); status != http.StatusUnauthorized {
		t.Errorf("without token: %d", status)
	}
	if status, reply := askServer(t, url, "my_ask_docs", "docs", "anvil", "s3cret"); status != 200 || !strings.Contains(reply, "heavy") {
		t.Errorf("%d %s", status, reply)
	}
	if _, reply := askServer(t, url, "my_ask_docs", "docs", "password", "s3cret"); !strings.Contains(reply, "Not found") {
		t.Errorf("a page outside of the folder is served: %s", reply)
	}
	writePages(t, dir, map[string]string{"docs/lamp.md": "# Lamps\n\nA lamp glows.\n"})
	s.waitFor(`^the pages changed and were indexed again`)
	if _, reply := askServer(t, url, "my_ask_docs", "docs", "lamp", "s3cret"); !strings.Contains(reply, "glows") {
		t.Errorf("the new page is not served: %s", reply)
	}
	s.stop()
	if code := <-s.exit; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestServeStdio wants nothing but messages on standard output.
func TestServeStdio(t *testing.T) {
	dir := t.TempDir()
	writePages(t, dir, map[string]string{"docs/guide.md": "# Anvils\n\nAn anvil is heavy.\n", "docs/bad.md": "\x00"})
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	var stdout bytes.Buffer
	s := startServe(t, dir, nil, fromClient, io.MultiWriter(toClient, &stdout), "--docs", "docs", "--stdio")
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask_docs", Arguments: map[string]any{"question": "anvil", "project": "docs"}})
	if err != nil || res.IsError {
		t.Fatal(err, res)
	}
	s.waitFor(`^serving 1 page about docs on standard input and output`)
	_ = toServer.Close()
	if code := <-s.exit; code != 0 {
		t.Errorf("exit code %d", code)
	}
	_ = toClient.Close()
	_ = session.Close()
	for line := range strings.Lines(stdout.String()) {
		if !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) {
			t.Errorf("not a message: %s", line)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	writePages(t, dir, map[string]string{"docs/guide.md": "# Anvils\n\nAn anvil is heavy.\n", "empty/x.txt": "no page", "file.md": "# A\n\nb\n"})
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tc := range map[string]struct {
		args string
		code int
		says string
	}{
		"no folder":      {"--docs nowhere", ExitUsage, `^mettle: --docs: .*nowhere`},
		"a file":         {"--docs file.md", ExitUsage, `^mettle: --docs: .*file\.md`},
		"no pages":       {"--docs empty", ExitUsage, `there are no Markdown pages \(\.md, \.mdx or \.markdown\) in empty`},
		"watch nothing":  {"--watch", ExitUsage, `--watch needs --docs`},
		"bad prefix":     {"--prefix my/", ExitUsage, `prefix "my/": only letters, digits and`},
		"both wires":     {"--stdio --addr :1", ExitUsage, `--stdio and --addr`},
		"an argument":    {"docs", ExitUsage, `unknown command "docs" for "mettle serve"`},
		"port in use":    {"--addr " + taken.Addr().String(), ExitIncomplete, `address already in use; .*choose another port with --addr`},
		"no such host":   {"--addr nonsense", ExitIncomplete, `listen tcp: address nonsense: missing port`},
		"bad port":       {"--addr 127.0.0.1:99999", ExitIncomplete, `invalid port`},
		"unknown option": {"--dosc x", ExitUsage, `did you mean --docs\?`},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServe(t, dir, nil, strings.NewReader(""), io.Discard, strings.Fields(tc.args)...)
			s.waitFor(tc.says)
			if code := <-s.exit; code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
		})
	}
}
