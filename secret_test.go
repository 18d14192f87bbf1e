package mettle_test

import (
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
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), token) {
			t.Errorf("the token is in %s", path)
		}
		return err
	})
	if err != nil || files < 8 {
		t.Errorf("%d files were looked at, %v", files, err)
	}
}
