//go:build e2e && unix

package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// conformance runs the protocol's conformance suite and gives the verdict of
// each scenario: whether it passed, with what the suite wrote.
func conformance(t *testing.T, args ...string) (passed map[string]bool, output string) {
	t.Helper()
	mark, dir := rand.Text(), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	script := installed(t, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	cmd := exec.CommandContext(ctx, node(t), append([]string{"--import", abs(t, "offline.mjs"), script}, args...)...)
	cmd.Args = append(cmd.Args, "-o", filepath.Join(dir, "results"))
	cmd.Dir, cmd.Env = dir, environ(t, mark)
	cmd.WaitDelay = 5 * time.Second
	raw, err := cmd.CombinedOutput()
	output = string(raw)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("conformance %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	nothingLeft(t, mark)
	passed = map[string]bool{}
	_, summary, _ := strings.Cut(output, "SUMMARY ===")
	for _, m := range regexp.MustCompile(`(?m)^([✓✗]) (\S+): \d+ passed`).FindAllStringSubmatch(summary, -1) {
		passed[m[2]] = m[1] == "✓"
	}
	if exit != nil {
		t.Errorf("conformance %s: %v\n%s", strings.Join(args, " "), exit, output)
	}
	return passed, output
}

// TestClientConformance holds mettle's client against what each revision of
// the protocol requires of one.
func TestClientConformance(t *testing.T) {
	driver := installed(t, "bin", "mcpconf")
	for revision, count := range map[string]int{"2025-11-25": 18, "2026-07-28": 32} {
		t.Run(revision, func(t *testing.T) {
			passed, output := conformance(t, "client", "--command", driver, "--requirements", revision)
			required := requiredOfClients(t, revision)
			if len(required) != count {
				t.Errorf("%d scenarios are required, want %d", len(required), count)
			}
			for _, name := range required {
				if !passed[name] {
					t.Errorf("%s did not pass", name)
				}
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
	t.Run("all", func(t *testing.T) {
		// The suite itself compares with the baseline, both ways.
		passed, _ := conformance(t, "client", "--command", driver, "--suite", "all",
			"--expected-failures", abs(t, "..", "testdata", "conformance-baseline.yml"))
		if len(passed) < 48 {
			t.Errorf("%d scenarios were run", len(passed))
		}
	})
}

// requiredOfClients reads the suite's list of what a revision requires.
func requiredOfClients(t *testing.T, revision string) []string {
	t.Helper()
	raw, err := os.ReadFile(installed(t, "node_modules", "@modelcontextprotocol", "conformance", "requirements", revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var lists struct {
		Client []string `yaml:"client"`
	}
	if err := yaml.Unmarshal(raw, &lists); err != nil {
		t.Fatal(err)
	}
	return lists.Client
}
